// `ctx.ui.onTerminalInput`: what is typed, before anything else has it. pi holds it until the listeners have answered.

import { failed, inExtension } from "../blame.js";
import { send } from "../wire.js";

const listeners = new Set();

/** Adds a listener; returns a function that removes it. */
export function addListener(extension, ctxName, handler) {
  const listener = { extension, ctxName, handler };
  listeners.add(listener);
  if (listeners.size === 1) send({ type: "surface", op: "terminal", plugin: extension.name, ctx: ctxName });
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) send({ type: "surface", op: "terminal", plugin: extension.name, off: true });
  };
}

/** Answers pi with what is left of the input; nothing if a listener consumed it. */
export function takeInput({ plugin, id, data }) {
  let left = data;
  for (const { extension, ctxName, handler } of listeners) {
    try {
      const answer = inExtension(extension, ctxName, () => handler(left));
      if (answer?.consume) left = "";
      else left = answer?.data ?? left;
    } catch (error) {
      failed(error, extension);
    }
    if (left === "") break;
  }
  send({ type: "surface", op: "terminal", plugin, id, data: left });
}
