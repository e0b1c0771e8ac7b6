// Completion by extensions: each wraps the one before it, and the first is that of pi-tui, for commands and files.

import { inExtension } from "../blame.js";
import { value } from "../mirror.js";
import { Contributions } from "./contributions.js";

const factories = new Contributions("completions");

/** The base: commands of pi and files; undefined where pi-tui is not installed. */
async function base() {
  try {
    const { CombinedAutocompleteProvider } = await import("@earendil-works/pi-tui");
    const commands = (value("commands") ?? []).map(({ name, description }) => ({ name, description }));
    return new CombinedAutocompleteProvider(commands, value("cwd"), null);
  } catch {
    return undefined;
  }
}

const NOTHING = {
  getSuggestions: () => Promise.resolve(null),
  applyCompletion: (lines, cursorLine, cursorCol) => ({ lines, cursorLine, cursorCol }),
};

/** The provider for an editor, with what extensions have added. */
export async function providerFor({ withBase = true } = {}) {
  const first = withBase ? await base() : NOTHING;
  return [...factories].reduce((current, { extension, ctxName, run }) => inExtension(extension, ctxName, () => run(current ?? NOTHING)), first);
}

/** `ctx.ui.addAutocompleteProvider`: pi's own editor asks with `complete` from now on. */
export function addCompletions(extension, ctxName, factory) {
  factories.add(extension, ctxName, factory);
}

/** Forgets what an extension has added. */
export function forgetCompletions(extension) {
  factories.removeOf(extension);
}

/** Answers pi: the suggestions of extensions for a text and a cursor, with the text that each would make. */
export async function complete({ lines, line, column, force }) {
  const provider = await providerFor({ withBase: false });
  const found = await provider.getSuggestions(lines, line, column, { signal: AbortSignal.timeout(1900), force: force ?? false });
  if (!found) return null;
  return found.items.map((item) => {
    const made = provider.applyCompletion(lines, line, column, item, found.prefix);
    return { value: item.value, label: item.label, description: item.description, prefix: found.prefix, lines: made.lines, line: made.cursorLine, column: made.cursorCol };
  });
}
