// `ctx`, the object that handlers, tools and commands of an extension get.

import { report } from "./api.js";
import { sessionManager } from "./entries.js";
import { modelRegistry } from "./models.js";
import { value } from "./mirror.js";
import { createUi } from "./ui.js";
import { call } from "./wire.js";

/**
 * Returns a context.
 *
 * @param {object} extension the extension
 * @param {string} name the context's name in messages
 * @param {AbortSignal | undefined} signal aborted with the request that it is for
 */
export function createContext(extension, name, signal) {
  const act = (method, params) => call(name, method, params);
  const quietly = (method, params) => {
    act(method, params).catch((error) => report(extension, error));
  };
  return {
    get cwd() {
      return value("cwd");
    },
    get mode() {
      const mode = value("mode");
      if (mode === "fullscreen") return "tui";
      return ["rpc", "json", "print"].includes(mode) ? mode : value("hasUI") ? "rpc" : "print";
    },
    get hasUI() {
      return value("hasUI");
    },
    get model() {
      return value("model") ?? undefined;
    },
    get scopedModels() {
      return value("scopedModels").map((model) => ({ model }));
    },
    get thinkingLevel() {
      return value("thinkingLevel");
    },
    ui: createUi(extension, name),
    sessionManager,
    modelRegistry: modelRegistry(act),
    signal,
    isIdle: () => value("idle"),
    isProjectTrusted: () => value("trusted"),
    hasPendingMessages: () => value("pending"),
    getContextUsage: () => value("usage") ?? undefined,
    getSystemPrompt: () => value("systemPrompt"),
    getSystemPromptOptions: () => ({ cwd: value("cwd"), selectedTools: [...value("activeTools")] }),
    abort: () => quietly("abort"),
    shutdown: () => quietly("shutdown"),
    compact({ customInstructions, onComplete, onError } = {}) {
      act("compact", customInstructions ? { customInstructions } : {}).then(
        (result) => onComplete?.(result),
        (error) => (onError ? onError(error) : report(extension, error)),
      );
    },
    waitForIdle: () => act("wait_for_idle"),
    async newSession({ parentSession } = {}) {
      return changed(await act("new_session", parentSession ? { parentSession } : {}));
    },
    async fork(entryId, { position } = {}) {
      return changed(await act("fork", { entryId, ...(position ? { position } : {}) }));
    },
    async switchSession(sessionPath) {
      return changed(await act("switch_session", { sessionPath }));
    },
    async navigateTree(targetId, options = {}) {
      return changed(await act("navigate_tree", { targetId, ...options }));
    },
    reload: () => act("reload"),
    executeTool: (toolName, params) => act("execute_tool", { name: toolName, params }),
  };
}

function changed(result) {
  return { cancelled: result?.cancelled ?? false };
}
