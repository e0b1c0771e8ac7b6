// `ctx.modelRegistry`: the models that pi knows.

import { value } from "./mirror.js";

/** Returns the registry for a context; `act` calls a member of it. */
export function modelRegistry(act) {
  const all = () => value("models").all;
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
    complete: (model, context, options = {}) => complete(act, model, context, options),
    completeSimple: (model, context, options = {}) => complete(act, model, context, options),
  };
}

function complete(act, model, context, { maxTokens, reasoning } = {}) {
  const request = { purpose: "extension", model };
  if (maxTokens) request.maxTokens = maxTokens;
  if (reasoning) request.reasoning = reasoning;
  return act("complete", { context, request });
}
