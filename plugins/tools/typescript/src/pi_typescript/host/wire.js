// The lines of JSON between pi and this process. Standard output belongs to the extensions, so that what they print
// cannot break the protocol: pi's pipes are the descriptors 3 (to pi) and 4 (from pi).

import { writeSync } from "node:fs";
import { Socket } from "node:net";

const TO_PI = 3;
const FROM_PI = 4;
const LF = 10;
const SPACE = 32;
const CHUNK_BYTES = 512 * 1024;
/** Bytes that a pipe takes as a whole or not at all. */
const WHOLE_BYTES = 4096;
/** Bytes of a line that pi reads; one that is longer would end this process, with all extensions. */
const MOST_BYTES = 16 * 1024 * 1024;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** @type {Map<string, {message: object, resolve: (value: any) => void, reject: (error: Error) => void}>} */
const open = new Map();
/** Calls that are open at once; pi ends a process that has more than 64. Others wait for their turn. */
const MOST_OPEN = 48;
const waiting = [];
let lastCall = 0;
let end;
/** What extensions that are loaded send while others are not: pi reads it after `ready`; undefined from then on. */
let held = [];

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
  const isFirst = message.type === "ready";
  if (held !== undefined && !isFirst && message.type !== "loading") held.push(line);
  else write(line.length > WHOLE_BYTES / 3 ? Buffer.from(line) : line);
  if (!isFirst) return;
  const after = held ?? [];
  held = undefined;
  for (const each of after) write(Buffer.from(each));
}

/** Writes at once: for a short line, a stream takes several times as long. A full pipe is waited for. */
function write(line) {
  for (let rest = line; rest.length > 0; ) {
    try {
      const written = writeSync(TO_PI, rest);
      rest = typeof rest === "string" ? "" : rest.subarray(written);
    } catch (error) {
      if (error.code !== "EAGAIN") return end(); // pi is gone
      Atomics.wait(NEVER, 0, 0, 1);
    }
  }
}

/**
 * Calls a member of `ctx` or `pi` in pi's process.
 *
 * @param {string} ctx the context of the request on whose behalf it is called
 * @param {string} method as in the page on programs, `ui.confirm`
 * @param {object} [params] its arguments by name
 */
export function call(ctx, method, params = {}) {
  return new Promise((resolve, reject) => {
    const made = { message: { type: "call", id: `c${++lastCall}`, ctx, method, params }, resolve, reject };
    if (open.size < MOST_OPEN) begin(made);
    else waiting.push(made);
  });
}

function begin(made) {
  open.set(made.message.id, made);
  try {
    send(made.message);
  } catch (error) {
    settle({ id: made.message.id, error: error.message });
  }
}

/** Reads messages until pi closes the pipe. Results of calls are resolved here, all others are passed on. */
export function listen(handle, onEnd) {
  end = onEnd;
  let parts = [];
  const takeLine = (line) => {
    const message = JSON.parse(line);
    if (message.type === "result") settle(message);
    else handle(message);
  };
  const take = (length, buffer) => {
    if (length === 1 && buffer[0] === SPACE && parts.length === 0) return; // wakes this process for what follows
    const stop = buffer[length - 1] === LF ? length : buffer.subarray(0, length).lastIndexOf(LF) + 1;
    if (stop > 0) {
      const rest = buffer.subarray(0, stop);
      const text = (parts.length === 0 ? rest : Buffer.concat([...parts, rest])).toString("utf8");
      parts = [];
      for (const line of text.split("\n")) if (line !== "") takeLine(line);
    }
    if (stop < length) parts.push(Buffer.from(buffer.subarray(stop, length))); // the next chunk is read into the same buffer
  };
  const onread = { buffer: Buffer.alloc(CHUNK_BYTES), callback: take };
  const input = new Socket({ fd: FROM_PI, readable: true, writable: false, onread });
  input.on("end", onEnd);
  input.on("error", onEnd);
}

function settle(message) {
  const call = open.get(message.id);
  open.delete(message.id);
  while (open.size < MOST_OPEN && waiting.length > 0) begin(waiting.shift());
  if ("error" in message) call?.reject(new Error(message.error));
  else call?.resolve(message.value);
}
