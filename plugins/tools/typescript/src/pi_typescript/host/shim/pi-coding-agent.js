// What extensions import from the package `pi-coding-agent`, with this pi behind it; see `pi-coding-agent-screen.js`
// for the classes that need the package `pi-tui`.

import { homedir } from "node:os";
import { join } from "node:path";
import { value } from "../mirror.js";

export { convertToLlm, DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, formatSize, parseFrontmatter, serializeConversation, stripFrontmatter, truncateHead, truncateLine, truncateTail } from "./text.js";
export { getLanguageFromPath, getMarkdownTheme, getSelectListTheme, getSettingsListTheme, highlightCode, initTheme, Theme } from "./theme.js";
export {
  createBashTool, createBashToolDefinition, createCodingTools, createEditTool, createEditToolDefinition, createFindTool, createFindToolDefinition, createGrepTool, createGrepToolDefinition, createLocalBashOperations, createLsTool, createLsToolDefinition, createReadOnlyTools, createReadTool, createReadToolDefinition, createWriteTool, createWriteToolDefinition, withFileMutationQueue,
} from "./tools.js";
export { renderDiff } from "./diff-lines.js";
export { resizeImage } from "./image.js";
export { VERSION } from "./version.js";

export const CONFIG_DIR_NAME = ".pi";

/** The agent directory of pi. */
export function getAgentDir() {
  return value("agentDir") ?? process.env.PI_CODING_AGENT_DIR ?? join(homedir(), CONFIG_DIR_NAME, "agent");
}

/** A definition of a tool, as it is: it exists for types. */
export const defineTool = (tool) => tool;

/** Handlers of named events, called in order: `on(channel, handler)` returns a function that removes it. */
export function createEventBus() {
  const handlers = new Map();
  return {
    emit(channel, data) {
      for (const handler of [...(handlers.get(channel) ?? [])]) handler(data);
    },
    on(channel, handler) {
      if (!handlers.has(channel)) handlers.set(channel, new Set());
      handlers.get(channel).add(handler);
      return () => handlers.get(channel).delete(handler);
    },
    clear() {
      handlers.clear();
    },
  };
}

/** Whether a `tool_call` event is for a tool. */
export function isToolCallEventType(name, event) {
  return event.toolName === name;
}

const isResultOf = (name) => (event) => event.toolName === name;
export const isBashToolResult = isResultOf("bash");
export const isEditToolResult = isResultOf("edit");
export const isFindToolResult = isResultOf("find");
export const isGrepToolResult = isResultOf("grep");
export const isLsToolResult = isResultOf("ls");
export const isReadToolResult = isResultOf("read");
export const isWriteToolResult = isResultOf("write");

/** The lines that a call of `read` names, as `:3-7`; empty for all, and for what are no numbers. */
export function formatReadLineRange(offset, limit) {
  const [start, count] = [offset ?? 1, limit ?? 0].map(Number);
  if ((offset ?? limit ?? undefined) === undefined || !Number.isFinite(start) || !Number.isFinite(count)) return "";
  const end = start + count - 1;
  return limit == null || end === 0 ? `:${start}` : `:${start}-${end}`;
}
