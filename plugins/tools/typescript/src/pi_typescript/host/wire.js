// The lines of JSON between pi and this process. Standard output belongs to the extensions, so that what they print
// cannot break the protocol: pi's pipes are the descriptors 3 (to pi) and 4 (from pi).

import { Socket } from "node:net";

/** @type {Map<string, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
const open = new Map();
let lastCall = 0;
let output;
/** Bytes of a line that pi reads; one that is longer would end this process, with all extensions. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Sends a message, an object that can be written as JSON.
 *
 * @throws {Error} it is too long; nothing is sent
 */
export function send(message) {
  const line = `${JSON.stringify(message)}\n`;
  const bytes = line.length > MOST_BYTES / 3 ? Buffer.byteLength(line) : 0;
  if (bytes > MOST_BYTES) {
    throw new Error(`a message of ${Math.round(bytes / 2 ** 20)} MB is too long for pi: ${MOST_BYTES / 2 ** 20} MB at most`);
  }
  output.write(line);
}

/**
 * Calls a member of `ctx` or `pi` in pi's process.
 *
 * @param {string} ctx the context of the request on whose behalf it is called
 * @param {string} method as in the page on programs, `ui.confirm`
 * @param {object} [params] its arguments by name
 */
export function call(ctx, method, params = {}) {
  const id = `c${++lastCall}`;
  return new Promise((resolve, reject) => {
    send({ type: "call", id, ctx, method, params });
    open.set(id, { resolve, reject });
  });
}

/** Reads messages until pi closes the pipe. Results of calls are resolved here, all others are passed on. */
export function listen(handle, onEnd) {
  output = new Socket({ fd: 3, readable: false, writable: true });
  output.on("error", onEnd); // pi is gone
  const input = new Socket({ fd: 4, readable: true, writable: false });
  let parts = [];
  input.on("data", (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end));
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      start = end + 1;
      const message = JSON.parse(line.toString("utf8"));
      if (message.type === "result") settle(message);
      else handle(message);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
  input.on("end", onEnd);
  input.on("error", onEnd);
}

function settle(message) {
  const call = open.get(message.id);
  open.delete(message.id);
  if ("error" in message) call?.reject(new Error(message.error));
  else call?.resolve(message.value);
}
