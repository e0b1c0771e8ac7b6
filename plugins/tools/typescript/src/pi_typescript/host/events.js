// The events of pi as the original's handlers get them, and their results as pi takes them. Names and fields are mostly
// the same; what differs is how the results of several handlers become one answer.

import { projection, sessionManager } from "./entries.js";
import { set, value } from "./mirror.js";
import { convertToLlm } from "./shim/text.js";

const DELTA = { delta: true };
/** Without the payload, which is long: for those that change only the headers. */
const HEADERS_ONLY = { payload: false };

/** The hooks of pi behind each event of the original, with its filter; an event that is not here is never emitted. */
const HOOKS = {
  context: ["context", DELTA],
  context_with_system: ["context", DELTA],
  before_provider_headers: ["before_provider_request", HEADERS_ONLY],
  before_provider_request: ["before_provider_request", DELTA],
  message_update: ["message_update", DELTA],
  tool_call: ["tool_call", { tool: false }], // the original's event does not have it, and it is long
};
const SAME = [
  "resources_discover session_start session_before_switch session_before_fork session_before_compact session_compact",
  "session_compact_failed session_shutdown session_before_tree session_tree after_provider_response",
  "before_agent_start agent_start agent_end agent_before_settle agent_settled ui_prompt_start ui_prompt_end turn_start",
  "turn_end message_start message_end provider_stream_event tool_execution_start tool_execution_update tool_execution_end",
  "model_select thinking_level_select tool_result user_bash input mcp_servers_change",
  "session_switch session_fork",
]
  .join(" ")
  .split(" ");
for (const name of SAME) HOOKS[name] = [name, {}];

/** The events of each hook. */
const EVENTS = new Map();
for (const [name, [hook]] of Object.entries(HOOKS)) EVENTS.set(hook, [...(EVENTS.get(hook) ?? []), name]);

/** Returns the hooks that the handlers of an extension need, each with its filter. */
export function hooksOf(handlers) {
  const hooks = {};
  for (const [event, functions] of handlers) {
    if (functions.length === 0 || !HOOKS[event]) continue;
    const [hook, filter] = HOOKS[event];
    if (hooks[hook] === undefined || filter !== HEADERS_ONLY) hooks[hook] = filter;
  }
  return hooks;
}

/** Events that this process finds in the state that pi sends. */
const OF_STATE = ["session_info_changed"];

/** Returns the events with handlers that are never emitted. */
export function neverEmitted(handlers) {
  return [...handlers.keys()].filter((event) => !HOOKS[event] && !OF_STATE.includes(event));
}

/** Calls the handlers of an event that no request is made for. */
export async function announce(extension, event, ctx, report) {
  const handlers = (extension.handlers.get(event.type) ?? []).map((run) => ({ run }));
  await each(handlers, event, ctx, report);
}

/**
 * Calls the handlers of an extension for a hook, and returns pi's answer.
 *
 * @param {object} extension the extension
 * @param {string} hook the hook
 * @param {object} event the event as pi writes it
 * @param {object} ctx the context
 * @param {(error: unknown) => void} report takes failures of handlers beside one that has answered
 * @returns {Promise<object | null>}
 */
export function dispatch(extension, hook, event, ctx, report) {
  const how = ANSWERS[hook] ?? notify;
  const handlers = [];
  for (const name of EVENTS.get(hook) ?? []) {
    for (const run of extension.handlers.get(name) ?? []) handlers.push({ name, run });
  }
  return how(handlers, { type: hook, ...event }, ctx, report);
}

/** Calls handlers of a guard: one that fails refuses, whatever the others have answered. */
const strictly = (handlers, event, ctx, report, take) => each(handlers, event, ctx, report, take, true);

/** Calls handlers one after the other; `take` gets each result, and returns true to stop. */
async function each(handlers, event, ctx, report, take = () => {}, isStrict = false) {
  let first;
  let hasAnswered = false;
  for (const { run } of handlers) {
    try {
      const result = await run(event, ctx);
      hasAnswered ||= result !== undefined && result !== null;
      if (result !== undefined && result !== null && take(result)) break;
    } catch (error) {
      if (isStrict || handlers.length === 1) throw error;
      if (first === undefined) first = error;
      else report(error);
    }
  }
  if (first !== undefined && !hasAnswered) throw first;
  if (first !== undefined) report(first);
}

async function notify(handlers, event, ctx, report) {
  await each(handlers, event, ctx, report);
  return null;
}

function picked(result, ...keys) {
  const found = {};
  for (const key of keys) if (result[key] !== undefined) found[key] = result[key];
  return found;
}

/** The signal of what an event is about, which a handler may pass on. */
const signalOf = (ctx) => ctx.signal ?? new AbortController().signal;

function cancelling(...keys) {
  return async (handlers, event, ctx, report) => {
    let answer = null;
    await each(handlers, { ...event, signal: signalOf(ctx) }, ctx, report, (result) => {
      answer = { ...answer, ...picked(result, "cancel", ...keys) };
      return result.cancel === true;
    });
    return answer;
  };
}

/** Navigation of the tree: the original has what is known of it in `preparation`, and a summary as an object. */
async function beforeTree(handlers, event, ctx, report) {
  const { type, ...preparation } = event;
  let answer = null;
  await each(handlers, { type, preparation, ...preparation, signal: signalOf(ctx) }, ctx, report, (result) => {
    const { summary, ...rest } = picked(result, "cancel", "summary", "customInstructions", "replaceInstructions", "label");
    const made = typeof summary === "object" && summary ? picked(summary, "summary", "details") : picked({ summary }, "summary");
    answer = { ...answer, ...rest, ...made };
    return result.cancel === true;
  });
  return answer;
}

async function toolCall(handlers, event, ctx, report) {
  const before = JSON.stringify(event.input);
  let refusal = null;
  await strictly(handlers, event, ctx, report, (result) => {
    if (result.block) refusal = picked(result, "block", "reason", "terminate");
    return Boolean(result.block);
  });
  if (refusal) return refusal;
  return JSON.stringify(event.input) === before ? null : { input: event.input };
}

async function toolResult(handlers, event, ctx, report) {
  let answer = null;
  await each(handlers, event, ctx, report, (result) => {
    const changed = picked(result, "content", "details", "isError", "usage");
    Object.assign(event, changed);
    answer = { ...answer, ...changed };
  });
  return answer;
}

async function beforeAgentStart(handlers, event, ctx, report) {
  const messages = [];
  let prompt;
  const given = { systemPromptOptions: promptOptions(event), ...started(event) };
  await each(handlers, given, ctx, report, (result) => {
    if (result.message) messages.push({ role: "custom", display: true, timestamp: Date.now(), ...result.message });
    if (result.systemPrompt !== undefined) {
      prompt = given.systemPrompt = result.systemPrompt;
      set("systemPrompt", prompt);
    }
  });
  const changed = changedPrompt(given, event.systemPrompt);
  if (prompt === undefined) prompt = changed;
  if (messages.length === 0 && prompt === undefined) return null;
  return { messages, ...(prompt === undefined ? {} : { systemPrompt: prompt }) };
}

/** What starts the run: a prompt of the user, or a message of an extension, which has no prompt. */
function started({ message, prompt, images, ...event }) {
  return message ? { ...event, messageType: "custom", message } : { ...event, messageType: "user", prompt, images };
}

function promptOptions(event) {
  return {
    cwd: value("cwd"),
    selectedTools: [...value("activeTools")],
    toolSnippets: {},
    promptGuidelines: [],
    appendSystemPrompt: undefined,
    customPrompt: undefined,
    contextFiles: [],
    skills: [],
    sections: {},
    prompt: event.systemPrompt,
  };
}

/** What a handler has added to the options of the prompt, as part of the prompt. */
function changedPrompt(given, prompt) {
  const { forceSystemPrompt, appendSystemPrompt, promptGuidelines, sections } = given.systemPromptOptions;
  if (typeof forceSystemPrompt === "string") return forceSystemPrompt;
  const added = [appendSystemPrompt, ...(promptGuidelines ?? []).map((each) => `- ${each}`)].filter(Boolean);
  const named = Object.entries(sections ?? {}).filter(([, text]) => text);
  const parts = [added.join("\n"), ...named.map(([name, text]) => `<${name}>\n${text}\n</${name}>`)].filter(Boolean);
  return parts.length > 0 ? [prompt, ...parts].join("\n\n") : undefined;
}

async function input(handlers, event, ctx, report) {
  let answer = null;
  await each(handlers, event, ctx, report, (result) => {
    if (result.action === "handled") {
      answer = { handled: true };
      return true;
    }
    if (result.action === "transform") {
      answer = { ...answer, ...picked(result, "text", "images") };
      Object.assign(event, picked(result, "text", "images"));
    }
  });
  return answer;
}

async function userBash(handlers, event, ctx, report) {
  let found;
  await strictly(handlers, event, ctx, report, (result) => {
    found = result;
    return Boolean(result.operations ?? result.result);
  });
  if (found?.result) return { result: found.result };
  if (!found?.operations) return null;
  const parts = [];
  const done = await found.operations.exec(event.command, event.cwd, {
    onData: (data) => parts.push(Buffer.from(data)),
    signal: ctx.signal,
  });
  const output = Buffer.concat(parts).toString("utf8");
  return { result: { output, exitCode: done?.exitCode ?? undefined, cancelled: false, truncated: false } };
}

async function messageEnd(handlers, event, ctx, report) {
  let answer = null;
  await each(handlers, event, ctx, report, (result) => {
    if (result.message) {
      event.message = result.message;
      answer = { message: result.message };
    }
  });
  return answer;
}

/** The end of a turn or of a run: each handler gets what those before it have proposed. */
async function boundary(handlers, event, ctx, report) {
  let more;
  const given = {
    ...event,
    ...turnOf(event),
    entries: [],
    continue: false,
    get context() {
      return preview(this.entries);
    },
  };
  await each(handlers, given, ctx, report, (result) => {
    if (result.entries !== undefined) given.entries = result.entries;
    if (result.continue !== undefined) more = given.continue = result.continue;
  });
  if (given.entries.length === 0 && more === undefined) return null;
  return { entries: given.entries.map(newEntry), ...(more === undefined ? {} : { continue: more }) };
}

const OUTCOMES = { aborted: "aborted", error: "error" };

/** What the model would see next, with entries that handlers have proposed. */
function preview(drafts) {
  const contextEntries = projection(drafts);
  const contextMessages = contextEntries.flatMap(({ messages }) => messages);
  const llmMessages = convertToLlm(contextMessages);
  const last = llmMessages.at(-1)?.role;
  const canContinue = (last !== undefined && last !== "assistant") || value("pending");
  return { contextEntries, contextMessages, llmMessages, pendingMessages: [], canContinue };
}

/** Of the end of a turn: how it ended, and the ids of the entries that have its messages. */
function turnOf({ message, toolResults }) {
  if (!message) return {};
  const stored = sessionManager.getBranch().filter((entry) => entry.type === "message").reverse();
  const idOf = (is) => stored.find((entry) => is(entry.message))?.id;
  return {
    outcome: OUTCOMES[message.stopReason] ?? "completed",
    messageEntryId: idOf((each) => each.role === "assistant"),
    toolResultEntryIds: (toolResults ?? [])
      .map(({ toolCallId }) => idOf((each) => each.role === "toolResult" && each.toolCallId === toolCallId))
      .filter(Boolean),
  };
}

function newEntry(entry) {
  if (entry.type === "custom") return { customType: entry.customType, data: entry.data };
  if (entry.type !== "custom_message") throw new Error(`entries of type ${JSON.stringify(entry.type)} cannot be added here`);
  const content = typeof entry.content === "string" ? entry.content : textOf(entry.content);
  return { customType: entry.customType, content, display: entry.display ?? true, data: entry.details };
}

function textOf(content) {
  return content.map((each) => each.text ?? "").join("\n");
}

/** What pi has sent of the conversation, of the last payload and of an answer: an event has what is new since then. */
const sent = new Map();

/** Notes what is new in a request, at once: those of other extensions that follow build on it. */
export function arrived({ hook, event }) {
  if (event?.delta) event.whole = grown(hook, event.delta);
}

/** Returns the object that a delta describes, and remembers it. */
function grown(key, delta) {
  const before = sent.get(key) ?? {};
  const after = { ...before };
  for (const name of delta.unset ?? []) delete after[name];
  for (const [name, added] of Object.entries(delta.set ?? {})) {
    const kept = delta.keep?.[name] ?? 0;
    after[name] = kept ? [...before[name].slice(0, kept), ...added] : added;
  }
  for (const [name, texts] of Object.entries(delta.append ?? {})) {
    const last = delta.keep[name] - 1;
    const longer = { ...after[name][last] };
    for (const [field, text] of Object.entries(texts)) longer[field] += text;
    after[name][last] = longer;
  }
  sent.set(key, after);
  return after;
}

/** Gives the handlers an answer so far that they may change: most of it is text, which is not copied. */
async function messageUpdate(handlers, { delta, whole, assistantMessageEvent, ...event }, ctx, report) {
  const { content, ...rest } = whole;
  const blocks = content.map((block) => (block.type === "toolCall" ? structuredClone(block) : { ...block }));
  const message = { ...structuredClone(rest), content: blocks };
  const change = "message" in assistantMessageEvent ? {} : { partial: message };
  const given = { ...event, message, assistantMessageEvent: { ...assistantMessageEvent, ...change } };
  return notify(handlers, given, ctx, report);
}

async function context(handlers, event, ctx, report) {
  const { messages = [] } = event.whole;
  let current = structuredClone(messages);
  let isChanged = false;
  for (const handler of handlers) {
    const isWhole = handler.name === "context_with_system";
    const system = { role: "system", content: value("systemPrompt"), timestamp: 0 };
    const given = { type: handler.name, messages: isWhole ? [system, ...current] : current };
    await each([handler], given, ctx, report, (result) => {
      if (!result.messages) return;
      current = isWhole ? result.messages.filter((message) => message.role !== "system") : result.messages;
      isChanged = true;
    });
  }
  if (!isChanged && JSON.stringify(current) === JSON.stringify(messages)) return null;
  return { delta: difference({ messages }, { messages: current }) };
}

async function providerRequest(handlers, { delta: _, whole: payload, headers = {}, ...event }, ctx, report) {
  const of = (name) => handlers.filter((handler) => handler.name === name);
  const answer = {};
  const given = { ...event, type: "before_provider_request", payload: structuredClone(payload) };
  await each(of("before_provider_request"), given, ctx, report, (result) => {
    given.payload = result;
  });
  if (JSON.stringify(given.payload) !== JSON.stringify(payload)) answer.delta = difference(payload, given.payload);
  const sent = { type: "before_provider_headers", headers: { ...headers } };
  await each(of("before_provider_headers"), sent, ctx, report);
  const changed = changedHeaders(headers, sent.headers);
  if (Object.keys(changed).length > 0) answer.headers = changed;
  return Object.keys(answer).length > 0 ? answer : null;
}

/** Returns the headers that are new or different, and null for those that are gone. */
function changedHeaders(before, after) {
  const gone = Object.keys(before).filter((name) => !(name in after));
  const now = Object.entries(after).filter(([name, text]) => text !== undefined && text !== before[name]);
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...Object.fromEntries(now) };
}

/** Returns the changes from one object to another, lists by what they begin with in common. */
export function difference(before, after) {
  const delta = { set: {}, keep: {}, unset: Object.keys(before).filter((key) => !(key in after)) };
  for (const [key, now] of Object.entries(after)) {
    const old = before[key];
    if (JSON.stringify(old) === JSON.stringify(now)) continue;
    let kept = 0;
    if (Array.isArray(old) && Array.isArray(now)) {
      while (kept < Math.min(old.length, now.length) && JSON.stringify(old[kept]) === JSON.stringify(now[kept])) kept++;
    }
    delta.set[key] = kept ? now.slice(kept) : now;
    if (kept) delta.keep[key] = kept;
  }
  return delta;
}

async function resources(handlers, event, ctx, report) {
  const answer = {};
  await each(handlers, event, ctx, report, (result) => {
    for (const key of ["skillPaths", "promptPaths", "themePaths"]) {
      if (result[key]) answer[key] = [...(answer[key] ?? []), ...result[key]];
    }
  });
  return Object.keys(answer).length > 0 ? answer : null;
}

const ANSWERS = {
  tool_call: toolCall,
  tool_result: toolResult,
  before_agent_start: beforeAgentStart,
  input,
  user_bash: userBash,
  message_end: messageEnd,
  message_update: messageUpdate,
  turn_end: boundary,
  agent_before_settle: boundary,
  context,
  before_provider_request: providerRequest,
  resources_discover: resources,
  session_before_switch: cancelling(),
  session_before_fork: cancelling("skipConversationRestore"),
  session_before_compact: cancelling("compaction"),
  session_before_tree: beforeTree,
};
