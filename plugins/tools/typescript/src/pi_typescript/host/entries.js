// The session as extensions read it: entries, branch, tree and labels, from the entries that pi has sent.

import { apply, on, value } from "./mirror.js";

let byId = new Map();
let indexed;

on("entries", () => {
  indexed = undefined;
});

function index() {
  const entries = value("entries");
  if (indexed !== entries) {
    indexed = entries;
    byId = new Map(entries.map((entry) => [entry.id, entry]));
  }
  return byId;
}

/** Adds an entry that pi has not confirmed; what pi sends next replaces it. */
export function addEntry(entry) {
  const before = value("entries");
  const parentId = leafId();
  const added = { id: `new-${before.length}`, parentId, timestamp: new Date().toISOString(), ...entry };
  apply({ entries: { keep: before.length, add: [added] }, session: { ...value("session"), leafId: added.id } });
}

function leafId() {
  return value("session").leafId ?? null;
}

function branch(fromId = leafId()) {
  const found = [];
  const seen = new Set();
  for (let entry = index().get(fromId); entry && !seen.has(entry.id); entry = index().get(entry.parentId)) {
    seen.add(entry.id);
    found.push(entry);
  }
  return found.reverse();
}

function label(id) {
  return value("entries").findLast((entry) => entry.type === "label" && entry.targetId === id)?.label ?? undefined;
}

function children(id) {
  return value("entries").filter((entry) => entry.parentId === id);
}

function node(entry) {
  return { entry, children: children(entry.id).map(node), label: label(entry.id) };
}

/** `ctx.sessionManager`, which can only be read. */
export const sessionManager = {
  getCwd: () => value("session").cwd ?? value("cwd"),
  getSessionDir: () => value("session").file?.replace(/\/[^/]*$/, "") ?? "",
  getSessionId: () => value("session").id ?? "",
  getSessionFile: () => value("session").file ?? undefined,
  getSessionName: () => value("session").name ?? undefined,
  getHeader: () => value("session").header ?? null,
  getLeafId: leafId,
  getLeafEntry: () => index().get(leafId()),
  getEntry: (id) => index().get(id),
  getEntries: () => [...value("entries")],
  getLabel: label,
  getBranch: branch,
  getChildren: children,
  getTree: () => value("entries").filter((entry) => !index().has(entry.parentId)).map(node),
  isPersisted: () => value("session").file !== undefined && value("session").file !== null,
  buildSessionContext: () => contextOf(branch()),
  buildSessionProjection() {
    const entries = projection([]);
    const { thinkingLevel, model } = contextOf(branch());
    return { entries, messages: entries.flatMap(({ messages }) => messages), thinkingLevel, model };
  },
  buildContextEntries: () => contextEntries(branch()),
};

function contextEntries(path) {
  const last = path.findLastIndex((entry) => entry.type === "compaction");
  if (last < 0) return path;
  const first = path.findIndex((entry) => entry.id === path[last].firstKeptEntryId);
  return [path[last], ...(first < 0 ? [] : path.slice(first, last)), ...path.slice(last + 1)];
}

/** Returns what the model sees of the branch and of entries that would be added: each entry with its messages. */
export function projection(drafts) {
  const timestamp = new Date().toISOString();
  const path = [...contextEntries(branch()), ...drafts.map((draft) => ({ timestamp, ...draft }))];
  return path.map((sourceEntry) => ({ sourceEntry, messages: messagesOf(sourceEntry) }));
}

function messagesOf(entry) {
  const timestamp = Date.parse(entry.timestamp);
  if (entry.type === "message") return [entry.message];
  if (entry.type === "custom_message") {
    const { customType, content, display, details } = entry;
    return [{ role: "custom", customType, content, display, details, timestamp }];
  }
  if (entry.type === "branch_summary" && entry.summary) {
    return [{ role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp }];
  }
  if (entry.type === "compaction") {
    return [{ role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp }];
  }
  return [];
}

function contextOf(path) {
  const messages = contextEntries(path).flatMap(messagesOf);
  const level = path.findLast((entry) => entry.type === "thinking_level_change")?.thinkingLevel ?? "off";
  const change = path.findLast((entry) => entry.type === "model_change" || entry.message?.role === "assistant");
  const model = change ? { provider: change.provider ?? change.message.provider, modelId: change.modelId ?? change.message.model } : null;
  return { messages, thinkingLevel: level, model };
}
