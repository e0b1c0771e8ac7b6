// Which extension runs: known through every `await`, timer and promise that it starts, so that a failure outside of a
// request has a name, and a call that an extension makes later has a context.

import { AsyncLocalStorage } from "node:async_hooks";
import { fileURLToPath } from "node:url";
import { VERSION } from "./shim/version.js";
import { send } from "./wire.js";

const running = new AsyncLocalStorage();

/** Runs a function on behalf of an extension; `ctx` is the context of the request, if there is one. */
export function inExtension(extension, ctx, run) {
  return running.run({ extension, ctx }, run);
}

/** Returns `{extension, ctx}` of what runs; undefined outside of extensions. */
export function current() {
  return running.getStore();
}

/** Reports a failure that no request can answer with. */
export function failed(error, extension = current()?.extension) {
  const found = describe(error, extension);
  if (extension) send({ type: "blame", plugin: extension.name, ...found });
  else process.stderr.write(`${error?.stack ?? error}\n`);
}

/** Returns `message`, `file` and `line` of an exception; the place is the innermost one in the extension's folder. */
export function describe(error, extension) {
  const text = explained(error instanceof Error ? error.message : String(error));
  const { file, line } = error ?? {}; // of an import that cannot be resolved
  const place = extension && file && line ? { file, line } : placeIn(error?.stack, extension);
  return { message: place ? `${text} (${place.file}:${place.line})` : text, ...place };
}

/** What says that an extension is for a newer version of the original than this pi is like. */
const NEWER = [/^pi\.\w+ is not a function$/, /^The requested module '[^']*[/@]pi-(tui|ai|coding-agent)\b[^']*' does not provide an export named/];

function explained(text) {
  return NEWER.some((each) => each.test(text)) ? `${text}: this pi has what version ${VERSION} of the original has` : text;
}

function placeIn(stack, extension) {
  if (typeof stack !== "string" || !extension) return undefined;
  const header = /^((?:file:\/\/)?\/[^\n]*?)(?:\?[^:]*)?:(\d+)\n/.exec(stack); // of a file that cannot be parsed
  const frames = stack.matchAll(/(?:\(|at )((?:file:\/\/)?\/[^()\n]*?)(?:\?[^:]*)?:(\d+):\d+\)?/g);
  for (const [, where, line] of [...(header ? [header] : []), ...frames]) {
    const file = where.startsWith("file://") ? fileURLToPath(where) : where;
    if (file.startsWith(extension.folder) && !file.includes("/node_modules/")) return { file, line: Number(line) };
  }
  return undefined;
}
