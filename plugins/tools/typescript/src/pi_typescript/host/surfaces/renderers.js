// Rows of tools, messages and entries that extensions render.

import { inExtension } from "../blame.js";
import { value } from "../mirror.js";
import { currentTheme } from "../shim/theme.js";
import { renderersOf } from "../tool-renderers.js";
import { send } from "../wire.js";
import { hints } from "./keys.js";

const MOST_CALLS = 500;
/** Cells left and right of a message, which the original has a setting for. */
const OUTPUT_PAD = 1;

/** What renderers of a call share, by extension and call: their state, and the components of its two parts. */
const calls = new Map();

function ofCall(extension, callId) {
  const key = `${extension.name}/${callId}`;
  const known = calls.get(key) ?? { state: {}, components: {} };
  calls.delete(key);
  calls.set(key, known);
  if (calls.size > MOST_CALLS) calls.delete(calls.keys().next().value);
  return known;
}

/** Forgets what an extension has rendered. */
export function forgetRendered(extension) {
  for (const key of calls.keys()) if (key.startsWith(`${extension.name}/`)) calls.delete(key);
}

/** Answers a `render` request: `{lines}`, or null if pi is to draw it itself. */
export async function render(extension, message) {
  const { what, name, width, expanded = false } = message;
  const options = { expanded, outputPad: OUTPUT_PAD, ...hints };
  const component = await inExtension(extension, message.ctx, () => {
    if (what === "message") return extension.messageRenderers.get(name)?.(message.value, options, currentTheme());
    if (what === "entry") return extension.entryRenderers.get(name)?.(message.value, options, currentTheme());
    return toolComponent(extension, message);
  });
  if (component === undefined || component === null) return null;
  const lines = inExtension(extension, message.ctx, () => component.render(width));
  return { lines: lines.map(String) };
}

function toolComponent(extension, { what, name, expanded = false, value: shown }) {
  const tool = renderersOf(extension, name);
  const isCall = what === "tool_call";
  const draw = isCall ? tool?.renderCall : tool?.renderResult;
  if (draw === undefined) return undefined;
  const known = ofCall(extension, shown.callId);
  const slot = isCall ? "call" : "result";
  const context = {
    args: shown.args,
    toolCallId: shown.callId,
    invalidate: () => send({ type: "surface", op: "invalidate", plugin: extension.name, callId: shown.callId }),
    lastComponent: known.components[slot],
    state: known.state,
    cwd: value("cwd"),
    executionStarted: shown.executionStarted ?? true,
    argsComplete: shown.argsComplete ?? true,
    isPartial: shown.isPartial ?? false,
    expanded,
    showImages: false,
    isError: shown.isError ?? false,
    durationMs: undefined,
    outputPad: OUTPUT_PAD,
    ...hints,
  };
  const theme = currentTheme();
  const component = isCall
    ? draw.call(tool, shown.args, theme, context)
    : draw.call(tool, shown.result, { expanded, isPartial: context.isPartial }, theme, context);
  known.components[slot] = component;
  return component;
}
