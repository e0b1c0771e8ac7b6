// The process that runs all extensions in TypeScript of a session: it speaks pi's protocol for programs as plugins, and
// gives each extension the `pi` and `ctx` that it was written for.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createApi } from "./api.js";
import { current, describe, failed, inExtension } from "./blame.js";
import { bus } from "./bus.js";
import { createContext } from "./ctx.js";
import { announce, arrived, dispatch } from "./events.js";
import { Extension } from "./extension.js";
import { begin, loadFactory } from "./loader.js";
import { apply, on } from "./mirror.js";
import { login, stream } from "./providers.js";
import { Request } from "./request.js";
import { surfaces } from "./surfaces/index.js";
import { clearUi } from "./ui.js";
import { route } from "./virtual-models.js";
import { listen, send } from "./wire.js";

const CONTRACT = "1.1";
const extensions = new Map();
/** Open requests by id. */
const requests = new Map();
/** Names of extensions that have seen the end of a session: with the next one they begin anew. */
const ended = new Set();
const leave = process.exit.bind(process);

/** How each kind of request is carried out: returns the answer. */
const REQUESTS = {
  hook(extension, { hook, event }, ctx) {
    const result = dispatch(extension, hook, event, ctx, (error) => failed(error, extension));
    return hook === "session_shutdown" ? result.then((answer) => endOf(extension, event, answer)) : result;
  },
  tool: runTool,
  async command(extension, message, ctx) {
    await found(extension.commands, message.command, "command").handler(message.args, ctx);
    return null;
  },
  async shortcut(extension, message, ctx) {
    await found(extension.shortcuts, message.key, "shortcut").handler(ctx);
    return null;
  },
  async complete(extension, message) {
    if (message.command === undefined) return surfaces.complete(message);
    const { getArgumentCompletions } = found(extension.commands, message.command, "command");
    return (await getArgumentCompletions?.(message.prefix)) ?? [];
  },
  render: (extension, message) => surfaces.render(extension, message),
  stream: (extension, message, ctx) =>
    stream(found(extension.providers, message.provider, "provider"), message, ctx.signal, (update) =>
      send({ type: "update", id: message.id, update }),
    ),
  route: (extension, { provider, model, request }, ctx) =>
    route(extension, found(extension.virtualModels, `${provider}/${model}`, "virtual model"), request, ctx),
  login: (extension, message, ctx) =>
    login(found(extension.providers, message.provider, "provider"), message, message.ctx, ctx.signal),
};

/** Notes that an extension has seen the end of the session; returns its answer to that. */
function endOf(extension, { reason }, answer) {
  if (extensions.get(extension.name) === extension) ended.add(extension.name);
  if (reason !== "quit" && reason !== "reload") clearUi(extension); // with those, this process ends as well
  return answer;
}

async function runTool(extension, message, ctx) {
  const tool = found(extension.tools, message.tool, "tool");
  const params = tool.prepareArguments ? tool.prepareArguments(message.params) : message.params;
  const onUpdate = (update) => send({ type: "update", id: message.id, update: resultOf(update) });
  return resultOf(await tool.execute(message.callId, params, ctx.signal, onUpdate, ctx));
}

/** Returns a tool's result with the fields that pi knows. */
function resultOf(result) {
  if (typeof result === "string") return { content: [{ type: "text", text: result }] };
  const { content = [], details, isError, usage, terminate, structuredContent } = result ?? {};
  const plain = { content };
  const data = details ?? structuredContent; // of which a tool's outputSchema speaks
  if (data !== undefined) plain.details = data;
  if (isError) plain.isError = true;
  if (usage) plain.usage = usage;
  if (terminate) plain.terminate = true;
  return plain;
}

function found(map, name, kind) {
  const thing = map.get(name);
  if (thing === undefined) throw new Error(`it no longer has the ${kind} ${JSON.stringify(name)}`);
  return thing;
}

/** Loads an extension for a new session of the same process, as the original does: nothing of the last one is left. */
async function renew(old) {
  ended.delete(old.name);
  const extension = new Extension(old.name, old.file);
  try {
    await load(extension);
  } catch (error) {
    failed(error, old);
    return;
  }
  old.isStale = true;
  bus.remove(old);
  clearUi(old);
  extensions.set(extension.name, extension);
  extension.changed();
}

/** Seconds in which an extension has to be loaded, or the others would wait for what never comes; pi says how many. */
let mostToLoad = 10;

async function load(extension) {
  extension.api = createApi(extension);
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not loaded within ${mostToLoad} s`)), mostToLoad * 1000);
  });
  const loading = inExtension(extension, undefined, async () => (await loadFactory(extension.file))(extension.api));
  try {
    await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
  extension.takeOver();
}

/** Whether a request is the first one of a session, for an extension that has seen the end of the last one. */
function beginsSession({ type, hook, plugin }) {
  if (hook !== undefined) return hook === "session_start" || !extensions.get(plugin).handlers.has("session_start");
  return ["tool", "command", "shortcut"].includes(type);
}

/**
 * Carries out a request, and answers it. pi waits for most of them, such as a hook before each call of a tool, and does
 * so when little of this code is compiled: what is not needed is not made, promises above all.
 */
async function answer(message) {
  if (ended.has(message.plugin) && beginsSession(message)) await renew(extensions.get(message.plugin));
  const extension = extensions.get(message.plugin);
  const request = new Request((answered) => reply(extension, message, answered));
  requests.set(message.id, request);
  try {
    const ctx = createContext(extension, message.ctx, request);
    if (message.type !== "tool") {
      extension.lastContext = message.ctx;
      extension.beginSession();
    }
    const answered = await inExtension(extension, message.ctx, () => REQUESTS[message.type](extension, message, ctx));
    request.answer({ answer: answered ?? null });
  } catch (error) {
    // The model gets what a tool has thrown as it is; people get its place, too.
    const text = message.type === "tool" && error instanceof Error ? error.message : describe(error, extension).message;
    request.answer({ error: text });
  }
}

function reply(extension, { id }, answered) {
  extension?.sendChanges();
  send({ type: "answer", id, ...answered });
  requests.delete(id);
  surfaces.redraw();
}

async function start({ plugins, packages, agentDir, state, environment, loadSeconds }) {
  mostToLoad = loadSeconds ?? mostToLoad;
  Object.assign(process.env, environment);
  apply(state ?? {});
  begin(packages, join(agentDir, "cache"));
  const ready = {};
  for (const { name, file } of plugins) {
    const extension = new Extension(name, file);
    // Who gives a time knows by this what it waits for, or what has ended this process.
    if (loadSeconds !== undefined) send({ type: "loading", plugin: name });
    try {
      await load(extension);
      extensions.set(name, extension);
      ready[name] = extension.describe();
    } catch (error) {
      bus.remove(extension);
      ready[name] = { error: describe(error, extension) };
    }
  }
  send({ type: "ready", contract: CONTRACT, plugins: ready });
}

/** Emits an event for a new name of the session, which pi sends with what comes next. */
function announceNames() {
  let known;
  on("session", ({ id, name }) => {
    const isNew = known !== undefined && known.id === id && known.name !== name;
    known = { id, name };
    if (!isNew) return;
    for (const extension of extensions.values()) {
      if (!extension.handlers.get("session_info_changed")?.length || extension.lastContext === undefined) continue;
      const event = { type: "session_info_changed", name: name ?? undefined };
      const ctx = createContext(extension, extension.lastContext, undefined);
      inExtension(extension, extension.lastContext, () => announce(extension, event, ctx, (error) => failed(error, extension))).catch(
        (error) => failed(error, extension),
      );
    }
  });
}

/** Asks functions that choose renderers again when there are other tools. */
function renderNewTools() {
  on("tools", () => {
    for (const extension of extensions.values()) if (extension.toolRenderers.length > 0) extension.changed();
  });
}

function take(message) {
  if (message.state) {
    apply(message.state);
    surfaces.redraw();
  }
  if (message.type === "hook") arrived(message);
  if (message.type in REQUESTS) answer(message);
  else if (message.type === "cancel") requests.get(message.id)?.cancel();
  else if (message.type === "start") start(message);
  else if (message.type === "event") bus.emit(message.channel, message.data);
  else if (message.type === "surface") surfaces.take(message);
  else if (message.type === "shutdown") leave(0);
}

function keepRunning() {
  process.exit = (code) => {
    throw new Error(`an extension cannot end pi's process for extensions (process.exit(${code ?? ""})); use ctx.shutdown()`);
  };
  process.on("uncaughtException", (error) => failed(error, culprit(error)));
  process.on("unhandledRejection", (error) => failed(error, culprit(error)));
}

/** Returns the extension whose file is in an exception's stack, else the one that runs. */
function culprit(error) {
  const stack = String(error?.stack ?? "");
  return [...extensions.values()].find(({ file }) => stack.includes(file) || stack.includes(pathToFileURL(file).href)) ?? current()?.extension;
}

// These are for this process, not for what extensions start.
delete process.env.NODE_COMPILE_CACHE;
delete process.env.NODE_USE_ENV_PROXY;
keepRunning();
announceNames();
renderNewTools();
listen(take, () => leave(0));
