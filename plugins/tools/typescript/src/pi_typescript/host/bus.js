// `pi.events`: the bus of all extensions of this process, and of plugins in Python.

import { failed, inExtension } from "./blame.js";

const handlers = new Map();

export const bus = {
  /** Calls a handler for a channel; returns a function that removes it. */
  on(extension, channel, handler) {
    if (!handlers.has(channel)) handlers.set(channel, new Set());
    const subscription = { extension, handler };
    handlers.get(channel).add(subscription);
    extension.changed();
    return () => handlers.get(channel).delete(subscription);
  },
  /** Calls the handlers of a channel; a failure of one is reported. */
  emit(channel, data) {
    for (const { extension, handler } of [...(handlers.get(channel) ?? [])]) {
      inExtension(extension, undefined, async () => handler(data)).catch((error) => failed(error, extension));
    }
  },
  /** Returns the channels that an extension listens to. */
  channels: (extension) =>
    [...handlers].filter(([, all]) => [...all].some((each) => each.extension === extension)).map(([channel]) => channel),
  /** Removes the handlers of an extension. */
  remove(extension) {
    for (const all of handlers.values()) for (const each of all) if (each.extension === extension) all.delete(each);
  },
};
