// Completion by extensions: each wraps the one before it, and the first is that of pi-tui, for commands and files.

import { inExtension } from "../blame.js";
import { value } from "../mirror.js";
import { Contributions } from "./contributions.js";
import { pointsOf, unitsOf } from "./points.js";

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

/** Offers nothing, and inserts what others offer as pi-tui does. */
const NOTHING = {
  getSuggestions: () => Promise.resolve(null),
  applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
    const line = lines[cursorLine] ?? "";
    const before = line.slice(0, cursorCol - prefix.length);
    const isCommand = prefix.startsWith("/") && before.trim() === "" && !prefix.includes("/", 1);
    const isMention = prefix.startsWith("@") && !item.label?.endsWith("/");
    const inserted = `${before}${isCommand ? "/" : ""}${item.value}${isCommand || isMention ? " " : ""}`;
    const made = [...lines];
    made[cursorLine] = inserted + line.slice(cursorCol);
    return { lines: made, cursorLine, cursorCol: inserted.length };
  },
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

/** Answers pi: the suggestions of extensions for a text and a cursor, each with the part of the text that it replaces. */
export async function complete({ lines, line, column, force }) {
  const provider = await providerFor({ withBase: false });
  const text = lines.join("\n");
  const col = unitsOf(lines[line], column);
  const found = await provider.getSuggestions(lines, line, col, { signal: AbortSignal.timeout(1900), force: force ?? false });
  if (!found) return null;
  const cursor = offsetOf(lines, line, col);
  return found.items.map((item) => {
    const made = provider.applyCompletion(lines, line, col, item, found.prefix);
    const after = made.lines.join("\n");
    const { start, end, inserted } = change(text, cursor - found.prefix.length, after, offsetOf(made.lines, made.cursorLine, made.cursorCol));
    const replaces = [pointsOf(text, start), pointsOf(text, end)];
    return { value: inserted, label: item.label ?? item.value, description: item.description, replaces };
  });
}

/** What became of a text: `inserted` is in place of `start` to `end`, and reaches to the cursor if the rest is as before. */
function change(before, prefixStart, after, cursor) {
  let start = Math.max(Math.min(prefixStart, cursor), 0);
  while (before.slice(0, start) !== after.slice(0, start)) start--;
  let tail = after.length - cursor;
  const most = Math.min(before.length, after.length) - start;
  if (tail > most || !before.endsWith(after.slice(cursor))) {
    tail = 0;
    while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  }
  return { start, end: before.length - tail, inserted: after.slice(start, after.length - tail) };
}

function offsetOf(lines, line, column) {
  return lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + column;
}
