// `ctx.modelRegistry`: the models that pi knows.

import { value } from "./mirror.js";

/** Returns the registry for a context; `act` calls a member of it. */
export function modelRegistry(act) {
  const all = () => value("models").all;
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
        return { ok: true, ...(await act("models.get_auth", { provider: model.provider })) };
      } catch (error) {
        return { ok: false, error: error.message };
      }
    },
    async getApiKey(model) {
      return (await act("models.get_auth", { provider: model.provider })).apiKey;
    },
    async getApiKeyForProvider(provider) {
      return (await act("models.get_auth", { provider })).apiKey;
    },
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
