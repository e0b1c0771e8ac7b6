// Completion by extensions: each wraps the one before it, and the first is that of pi-tui, for commands and files.

import { inExtension } from "../blame.js";
import { importPackage } from "../loader.js";
import { value } from "../mirror.js";
import { Contributions } from "./contributions.js";
import { pointsOf, unitsOf } from "./points.js";

const factories = new Contributions("completions");

/** The base: commands of pi and files; undefined where pi-tui is not installed. */
async function base() {
  try {
    const { CombinedAutocompleteProvider } = await importPackage("@earendil-works/pi-tui");
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
  const col = unitsOf(lines[line], column);
  const found = await provider.getSuggestions(lines, line, col, { signal: AbortSignal.timeout(1900), force: force ?? false });
  if (!found) return null;
  const before = charactersBefore(lines, line, col);
  return found.items.map((item) => {
    const made = provider.applyCompletion(lines, line, col, item, found.prefix);
    const after = charactersBefore(made.lines, made.cursorLine, made.cursorCol);
    const { start, end, inserted } = change(before, [...found.prefix].length, after);
    return { value: inserted.join(""), label: item.label ?? item.value, description: item.description, replaces: [start, end] };
  });
}

/** What became of a text: `inserted` is in place of `start` to `end`, and reaches to the cursor if the rest is as before. */
function change(before, prefixLength, after) {
  let start = Math.max(Math.min(before.cursor - prefixLength, after.cursor), 0);
  const differs = before.text.findIndex((character, at) => character !== after.text[at]);
  if (differs >= 0) start = Math.min(start, differs);
  const most = Math.min(before.text.length - start, after.text.length - Math.max(start, after.cursor));
  let tail = 0;
  while (tail < most && before.text.at(-1 - tail) === after.text.at(-1 - tail)) tail++;
  return { start, end: before.text.length - tail, inserted: after.text.slice(start, after.text.length - tail) };
}

/** A text as its characters, of which none is half an emoji, and the number of those before a place. */
function charactersBefore(lines, line, column) {
  const text = lines.join("\n");
  const index = lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + column;
  return { text: [...text], cursor: pointsOf(text, index) };
}
