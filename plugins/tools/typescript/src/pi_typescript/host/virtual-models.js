// `registerVirtualModel`: models that choose for each request which model answers it.

import { contextOf } from "./api.js";
import { addEntry, sessionManager } from "./entries.js";
import { value } from "./mirror.js";
import { call } from "./wire.js";

/** The type of the entries that keep a model's state on the branch, as in the original. */
const STATE = "pi.virtual-model-state";

/** Returns what pi has to know of a virtual model. */
export function describeVirtual({ provider, id, name, thinkingLevels, contextWindow, maxTokens, input }) {
  return JSON.parse(JSON.stringify({ provider, id, name, thinkingLevels, contextWindow, maxTokens, input }));
}

/** Answers a request for the model of a request: `{model: "provider/id", thinkingLevel}`. */
export async function route(extension, definition, request, ctx) {
  const isDirect = request.reason === "direct";
  const known = isDirect ? undefined : stateOf(definition);
  const system = { role: "system", content: value("systemPrompt"), timestamp: 0 };
  const given = {
    ...request,
    ...failedOf(request.failed),
    messages: [system, ...request.messages],
    signal: ctx.signal,
    ...(known === undefined ? {} : { state: known }),
  };
  const { model, thinkingLevel, state } = (await definition.route(given, ctx)) ?? {};
  if (!model?.provider || !model.id) throw new Error("its route returned no model");
  if (!isDirect && state !== undefined && state !== known) keep(extension, definition, state);
  return { model: `${model.provider}/${model.id}`, thinkingLevel: thinkingLevel ?? null };
}

/** The answer that failed as the original describes it: with the model that gave it. */
function failedOf(message) {
  if (!message) return {};
  const { provider, model: id, thinkingLevel } = message;
  const model = value("models").all.find((each) => each.provider === provider && each.id === id) ?? { provider, id };
  return { failed: { model, message, ...(thinkingLevel ? { thinkingLevel } : {}) } };
}

function stateOf({ provider, id }) {
  const is = ({ type, customType, data }) =>
    type === "custom" && customType === STATE && data?.provider === provider && data.modelId === id;
  return sessionManager.getBranch().findLast(is)?.data.state;
}

function keep(extension, { provider, id }, state) {
  const data = JSON.parse(JSON.stringify({ provider, modelId: id, state }));
  addEntry({ type: "custom", customType: STATE, data });
  return call(contextOf(extension), "pi.append_entry", { customType: STATE, data });
}
