// `ctx`, the object that handlers, tools and commands of an extension get.

import { report, reporting, toolsInOrder } from "./api.js";
import { successor } from "./extension.js";
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
 * @param {{signal: AbortSignal} | undefined} request the one that it is for
 */
export function createContext(extension, name, request) {
  let ui;
  let registry;
  const act = async (method, params) => {
    if (extension.isStale) throw new Error(STALE);
    return call(name, method, params);
  };
  const quietly = reporting(extension, act);
  /** Calls what is to run in the session that has replaced the one of this context. */
  const follow = async (result, withSession) => {
    const { cancelled } = changed(result);
    if (!cancelled && withSession) {
      const next = successor(extension);
      const given = createContext(next, name, undefined);
      const { sendMessage, sendUserMessage } = next.api;
      await withSession(Object.assign(given, { sendMessage, sendUserMessage }));
    }
    return { cancelled };
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
    get ui() {
      ui ??= createUi(extension, name);
      return ui;
    },
    sessionManager,
    get modelRegistry() {
      registry ??= modelRegistry(extension, act);
      return registry;
    },
    get signal() {
      return request?.signal;
    },
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
    async newSession({ parentSession, setup, withSession } = {}) {
      if (setup) throw new Error("newSession cannot take setup here; use withSession, or pi.appendEntry in session_start");
      return follow(await act("new_session", parentSession ? { parentSession } : {}), withSession);
    },
    async fork(entryId, { position, withSession } = {}) {
      return follow(await act("fork", { entryId, ...(position ? { position } : {}) }), withSession);
    },
    async switchSession(sessionPath, { withSession } = {}) {
      return follow(await act("switch_session", { sessionPath }), withSession);
    },
    async navigateTree(targetId, options = {}) {
      return changed(await act("navigate_tree", { targetId, ...options }));
    },
    reload: () => act("reload"),
    get tools() {
      return toolsInOrder();
    },
    executeTool: (toolName, params) => act("execute_tool", { name: toolName, params }),
  };
}

const STALE = "This ctx is from before the session was replaced; use the one that withSession and handlers get.";

function changed(result) {
  return { cancelled: result?.cancelled ?? false };
}
