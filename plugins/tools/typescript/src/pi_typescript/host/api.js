// `pi`, the object that the function of an extension gets.

import { current } from "./blame.js";
import { bus } from "./bus.js";
import { addEntry } from "./entries.js";
import { set, value } from "./mirror.js";
import { describeProvider } from "./providers.js";
import { call, send } from "./wire.js";

/** MCP servers that extensions of this process have registered, by name. */
const mcpServers = new Map();

const ORDER = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/** Returns `pi` of an extension. */
export function createApi(extension) {
  const act = (method, params) => {
    if (!extension.isLoaded) {
      throw new Error("An extension can only register things while it is loaded; do this in a handler, such as one of session_start");
    }
    return call(contextOf(extension), method, params);
  };
  const quietly = reporting(extension, act);
  const register = (map, name, thing) => {
    map.set(name, thing);
    extension.changed();
  };

  return {
    on(event, handler) {
      const handlers = extension.handlers.get(event) ?? [];
      extension.handlers.set(event, [...handlers, handler]);
      extension.changed();
      return () => {
        const remaining = extension.handlers.get(event) ?? [];
        extension.handlers.set(event, remaining.filter((each) => each !== handler));
      };
    },
    registerTool: (tool) => register(extension.tools, tool.name, tool),
    registerCommand: (name, options) => register(extension.commands, name, options),
    registerShortcut: (key, options) => register(extension.shortcuts, key, options),
    registerFlag: (name, options) => register(extension.flags, name, flagOf(options)),
    registerMessageRenderer: (type, renderer) => register(extension.messageRenderers, type, renderer),
    registerEntryRenderer: (type, renderer) => register(extension.entryRenderers, type, renderer),
    registerToolRenderer: (resolver) => {
      extension.toolRenderers.push(resolver);
      extension.changed();
    },
    registerMarkdownTransformer: (transformer) => {
      extension.markdown = transformer;
      extension.changed();
    },
    registerProvider: (nameOrProvider, config) => {
      const provider = describeProvider(nameOrProvider, config);
      register(extension.providers, provider.description.id, provider);
    },
    registerVirtualModel: (model) => register(extension.virtualModels, `${model.provider}/${model.id}`, model),
    unregisterVirtualModel: (provider, id) => {
      if (extension.virtualModels.delete(`${provider}/${id}`)) extension.changed();
    },
    registerMcpServer: (name, config) => {
      mcpServers.set(name, { name, config, extensionPath: extension.file });
      const start = () => quietly("pi.register_mcp_server", { name, config });
      if (extension.isLoaded) start();
      else extension.atStart.push(start);
    },
    unregisterMcpServer: (name) => {
      mcpServers.delete(name);
      quietly("pi.unregister_mcp_server", { name });
    },
    getMcpServers: () => [...mcpServers.values()],
    unregisterProvider: (name) => {
      extension.providers.delete(name);
      extension.changed();
    },
    getFlag(name) {
      const plain = name.replace(/^--/, "");
      if (!extension.flags.has(plain)) return undefined;
      return value("flags")[plain] ?? extension.flags.get(plain).default;
    },

    sendMessage(message, options = {}) {
      const { customType, content, display = true, details } = message;
      const sent = { role: "custom", customType, content, display, details, timestamp: Date.now() };
      quietly("pi.send_message", { message: sent, ...deliveryOf(options), triggerTurn: options.triggerTurn ?? false });
    },
    sendUserMessage(content, options = {}) {
      quietly("pi.send_user_message", { content: asOneText(content), ...deliveryOf(options) });
    },
    appendEntry(customType, data) {
      const plain = data === undefined ? null : JSON.parse(JSON.stringify(data));
      addEntry({ type: "custom", customType, data: plain });
      quietly("pi.append_entry", { customType, data: plain });
    },
    setLabel(entryId, label) {
      addEntry({ type: "label", targetId: entryId, label });
      quietly("pi.set_label", { entryId, label: label ?? null });
    },
    setSessionName(name) {
      set("session", { ...value("session"), name });
      quietly("pi.set_session_name", { name });
    },
    getSessionName: () => value("session").name ?? undefined,

    async exec(command, args = [], options = {}) {
      const { signal, timeout, cwd, env, maxBuffer } = options;
      if (maxBuffer !== undefined && !(Number.isInteger(maxBuffer) && maxBuffer >= 0)) {
        throw new RangeError(`maxBuffer must be a number of bytes, 0 or more, not ${maxBuffer}`);
      }
      const params = { command, args: args.map(String) };
      if (timeout) params.timeout = timeout / 1000;
      if (cwd) params.cwd = cwd;
      if (env) params.env = env;
      if (signal?.aborted) return { ...ABORTED };
      const running = act("exec", params);
      const result = await (signal ? Promise.race([running, aborted(signal)]) : running);
      return { killed: false, truncated: false, ...result, ...cut(result, maxBuffer) };
    },

    getSettings: () => structuredClone(value("settings") ?? {}),
    getActiveTools: () => [...value("activeTools")],
    getAllTools: toolsInOrder,
    setActiveTools(names) {
      const known = value("tools");
      set("activeTools", known.length ? names.filter((name) => known.some((tool) => tool.name === name)) : [...names]);
      quietly("pi.set_active_tools", { names });
    },
    getCommands: () => value("commands"),
    async setModel(model) {
      const isSet = await act("pi.set_model", { model: `${model.provider}/${model.id}` });
      if (isSet) set("model", model);
      return isSet;
    },
    getThinkingLevel: () => value("thinkingLevel"),
    setThinkingLevel(level) {
      set("thinkingLevel", level);
      quietly("pi.set_thinking_level", { level });
    },
    events: {
      on: (channel, handler) => bus.on(extension, channel, handler),
      emit(channel, data) {
        bus.emit(channel, data);
        if (extension.isLoaded) send({ type: "event", plugin: extension.name, channel, data });
      },
    },
  };
}

/** Returns the context on whose behalf an extension calls: that of the request that it works on, else the latest one. */
export function contextOf(extension) {
  const running = current();
  const ctx = running?.extension === extension ? running.ctx : undefined;
  return ctx ?? extension.lastContext ?? "";
}

/** Returns a function that calls as `act` does, for what an extension does not wait for: failures are reported. */
export function reporting(extension, act) {
  return (method, params) => {
    act(method, params).catch((error) => report(extension, error));
  };
}

/** Reports the failure of something that an extension did not wait for. */
export function report(extension, error) {
  send({ type: "blame", plugin: extension.name, message: error?.message ?? String(error) });
}

/** What `exec` returns for a program that a signal has ended: SIGTERM, as a shell counts it. */
const ABORTED = { stdout: "", stderr: "", code: 143, killed: true, truncated: false };

/** Returns what `maxBuffer` changes: both outputs together have so many bytes at most, and one that is cut has not succeeded. */
function cut({ stdout = "", stderr = "", code }, most) {
  if (most === undefined || Buffer.byteLength(stdout) + Buffer.byteLength(stderr) <= most) return {};
  const out = firstBytes(stdout, most);
  return { stdout: out, stderr: firstBytes(stderr, most - Buffer.byteLength(out)), code: code || 1, truncated: true };
}

/** Returns the beginning of a text that has so many bytes at most, without part of a character. */
function firstBytes(text, most) {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, most);
  while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString("utf8");
}

function flagOf({ description = "", type = "boolean", default: initial }) {
  return { description, type, ...(initial === undefined ? {} : { default: initial }) };
}

function deliveryOf({ deliverAs }) {
  return deliverAs ? { deliverAs } : {};
}

function aborted(signal) {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ ...ABORTED }), { once: true });
  });
}

/** Returns tools in the order of the original, then those that it does not have. */
function inOrder(tools) {
  const place = ({ name }) => ORDER.indexOf(name);
  const own = tools.filter((each) => place(each) >= 0).sort((one, other) => place(one) - place(other));
  return [...own, ...tools.filter((each) => place(each) < 0)];
}

/** Returns what is known of each tool. */
export function toolsInOrder() {
  return inOrder(value("tools")).map(toolInfo);
}

function toolInfo({ name, description, parameters, plugin, promptGuidelines, exposure = "direct", namespace }) {
  const path = plugin ?? "builtin";
  const sourceInfo = { path, source: plugin ? "local" : "builtin", scope: "user", origin: "top-level" };
  return { name, description, parameters, promptGuidelines, exposure, ...(namespace ? { namespace } : {}), sourceInfo };
}

/** Returns content with its texts as one, which is how the original sends a message of the user. */
function asOneText(content) {
  if (!Array.isArray(content)) return content;
  const texts = content.filter((part) => part.type === "text").map((part) => part.text);
  return [{ type: "text", text: texts.join("\n") }, ...content.filter((part) => part.type !== "text")];
}
