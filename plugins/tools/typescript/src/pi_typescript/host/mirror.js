// The copy of pi's state that answers what extensions read without waiting. pi sends what has changed before anything
// that can run code of an extension; what an extension writes is changed here at once.

const parts = new Map([
  ["cwd", process.cwd()],
  ["mode", "print"],
  ["hasUI", false],
  ["trusted", false],
  ["model", null],
  ["thinkingLevel", "off"],
  ["scopedModels", []],
  ["session", {}],
  ["activeTools", []],
  ["tools", []],
  ["commands", []],
  ["entries", []],
  ["models", { all: [], available: [] }],
  ["flags", {}],
  ["idle", true],
  ["pending", false],
  ["systemPrompt", ""],
  ["editorText", ""],
  ["toolsExpanded", false],
]);
const listeners = new Map();

/** Returns a part of the state, as in the page on programs. */
export function value(part) {
  return parts.get(part);
}

/** Takes over what has changed. */
export function apply(state) {
  for (const [part, change] of Object.entries(state)) {
    if (part === "entries") {
      const before = parts.get("entries");
      parts.set("entries", change.keep ? [...before.slice(0, change.keep), ...change.add] : change.add);
    } else {
      parts.set(part, change);
    }
    for (const listener of listeners.get(part) ?? []) listener(parts.get(part));
  }
}

/** Changes a part here, before pi has confirmed it. */
export function set(part, changed) {
  apply({ [part]: changed });
}

/** Calls a listener with the new value of a part after each change. */
export function on(part, listener) {
  if (!listeners.has(part)) listeners.set(part, new Set());
  listeners.get(part).add(listener);
  return () => listeners.get(part).delete(listener);
}
