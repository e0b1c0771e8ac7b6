// `ctx.ui.onTerminalInput`: what is typed, before anything else has it. pi holds it until the listeners have answered.

import { failed, inExtension } from "../blame.js";
import { send } from "../wire.js";
import { Contributions } from "./contributions.js";

const listeners = new Contributions("terminal");

/** Adds a listener; returns a function that removes it. */
export function addListener(extension, ctxName, handler) {
  return listeners.add(extension, ctxName, handler);
}

/** Forgets the listeners of an extension. */
export function forgetListeners(extension) {
  listeners.removeOf(extension);
}

/** A pasted text, an escape sequence, or one character: listeners get each alone, as those of the original do. */
const PIECE = /\x1b\[200~[^]*?\x1b\[201~|\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b[\]P_][^]*?(?:\x07|\x1b\\)|\x1b[^\x1b]|[^]/gu;

/** Answers pi with what the listeners leave of the input. */
export function takeInput({ plugin, id, data }) {
  const left = (data.match(PIECE) ?? []).map(afterListeners).join("");
  send({ type: "surface", op: "terminal", plugin, id, data: left });
}

/** Returns what is left of a piece; nothing if a listener consumed it. */
function afterListeners(data) {
  let left = data;
  for (const { extension, ctxName, run } of listeners) {
    try {
      const answer = inExtension(extension, ctxName, () => run(left));
      if (answer?.consume) left = "";
      else left = answer?.data ?? left;
    } catch (error) {
      failed(error, extension);
    }
    if (left === "") break;
  }
  return left;
}
