// `ctx.modelRegistry`: the models that pi knows.

import { value } from "./mirror.js";

/** Returns the registry of an extension for a context; `act` calls a member of it. */
export function modelRegistry({ api, providers }, act) {
  const all = () => value("models").all;
  const ofType = (type, provider) => {
    const models = type === "chat" ? all() : (value("models").others ?? []).filter((model) => model.type === type);
    return models.filter((model) => provider === undefined || model.provider === provider);
  };
  const typed = (type, provider, id) => ofType(type, provider).find((model) => model.id === id);
  const keyOf = (providerId) => act("models.get_api_key", { providerId });
  const isAvailable = (model) => value("models").available.includes(`${model.provider}/${model.id}`);
  return {
    getAll: () => [...all()],
    getAvailable: () => all().filter(isAvailable),
    find: (provider, id) => all().find((model) => model.provider === provider && model.id === id),
    hasConfiguredAuth: isAvailable,
    getError: () => undefined,
    refresh() {},
    async getApiKeyAndHeaders(model) {
      try {
        const apiKey = (await keyOf(model.provider)) ?? undefined;
        return { ok: true, apiKey, headers: model.headers };
      } catch (error) {
        return { ok: false, error: error.message };
      }
    },
    getApiKey: (model) => keyOf(model.provider),
    getApiKeyForProvider: (provider) => keyOf(provider),
    findOfType: typed,
    getModelOfType: typed,
    getModelsOfType: ofType,
    getAvailableOfType: async (type, provider) => ofType(type, provider).filter((model) => type !== "chat" || isAvailable(model)),
    getProviderDisplayName: (provider) => providers.get(provider)?.config.name ?? provider,
    getRegisteredProviderIds: () => [...providers.keys()],
    getRegisteredProviderConfig: (provider) => providers.get(provider)?.config,
    getRegisteredNativeProvider: () => undefined,
    registerProvider: api.registerProvider,
    unregisterProvider: api.unregisterProvider,
    registerVirtualModel: api.registerVirtualModel,
    unregisterVirtualModel: api.unregisterVirtualModel,
    stream: (model, context, options = {}) => streamed(complete(act, model, context, options)),
    streamSimple: (model, context, options = {}) => streamed(complete(act, model, context, options)),
    complete: (model, context, options = {}) => complete(act, model, context, options),
    completeSimple: (model, context, options = {}) => complete(act, model, context, options),
  };
}

/** Returns an answer as a stream: it comes whole, as its last event. */
function streamed(answer) {
  answer.catch(() => {}); // who reads the stream or its result gets the failure
  return {
    result: () => answer,
    async *[Symbol.asyncIterator]() {
      const message = await answer;
      const failed = message.stopReason === "error" || message.stopReason === "aborted";
      yield failed ? { type: "error", reason: message.stopReason, error: message } : { type: "done", reason: message.stopReason, message };
    },
  };
}

function complete(act, model, context, { maxTokens, reasoning } = {}) {
  const request = { purpose: "extension", model };
  if (maxTokens) request.maxTokens = maxTokens;
  if (reasoning) request.reasoning = reasoning;
  return act("complete", { context, request });
}
