// One extension: what it has registered, and how that is described to pi.

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { bus } from "./bus.js";
import { hooksOf, neverEmitted } from "./events.js";
import { filesOf, mentions } from "./loader.js";
import { describeRenderers } from "./tool-renderers.js";
import { describeVirtual } from "./virtual-models.js";
import { send } from "./wire.js";

/** Members of the events of boundaries that are found in the entries. */
const OF_BOUNDARIES = ["messageEntryId", "toolResultEntryIds", "contextEntries", "contextMessages", "llmMessages", "canContinue"];

/** Parts of the state that are only sent to those that read them, with the names by which extensions do. */
const READS = {
  entries: ["sessionManager", "SessionManager", "registerVirtualModel", ...OF_BOUNDARIES],
  tools: ["getAllTools", "createAgentSession", "registerToolRenderer", ".tools"],
  settings: ["getSettings"],
  commands: ["getCommands"],
  models: ["modelRegistry", "ModelRegistry"],
  usage: ["getContextUsage"],
  themes: ["getAllThemes", "getTheme("],
  systemPrompt: ["getSystemPrompt", "context_with_system", "before_agent_start", "registerVirtualModel"],
};

const latest = new Map();

/** Returns the extension that has taken the place of one after its session was replaced. */
export function successor(extension) {
  return latest.get(extension.name) ?? extension;
}

export class Extension {
  constructor(name, file) {
    this.name = name;
    this.file = withoutLinks(file);
    this.folder = dirname(this.file);
    this.handlers = new Map();
    this.tools = new Map();
    this.commands = new Map();
    this.shortcuts = new Map();
    this.flags = new Map();
    this.messageRenderers = new Map();
    this.entryRenderers = new Map();
    this.toolRenderers = [];
    this.providers = new Map();
    this.virtualModels = new Map();
    this.markdown = undefined;
    /** What it did while it was loaded that needs a session: done with the first context. */
    this.atStart = [];
    this.isLoaded = false;
    this.isChanged = false;
    this.isStale = false;
  }

  /** Marks this extension as the one that runs under its name. */
  takeOver() {
    this.isLoaded = true;
    this.startsWithSession = this.atStart.length > 0;
    latest.set(this.name, this);
  }

  /** Does what was to be done in a session. */
  beginSession() {
    for (const start of this.atStart.splice(0)) start();
  }

  /** Returns what pi has to know: hooks, registrations, and parts of the state. */
  describe() {
    return {
      hooks: { ...hooksOf(this.handlers), ...(this.startsWithSession ? { session_start: {} } : {}) },
      registers: {
        tools: [...this.tools.values()].map(describeTool),
        commands: [...this.commands].map(([name, { description, getArgumentCompletions }]) => ({
          name,
          description: description ?? "",
          ...(getArgumentCompletions ? { completes: true } : {}),
        })),
        shortcuts: [...this.shortcuts].map(([key, { description }]) => ({ key, description: description ?? "" })),
        flags: [...this.flags].map(([name, flag]) => ({ name, ...flag })),
        providers: [...this.providers.values()].map((each) => each.description),
        renderers: [
          ...[...this.messageRenderers.keys()].map((type) => ({ type, kind: "message" })),
          ...[...this.entryRenderers.keys()].map((type) => ({ type, kind: "entry" })),
        ],
        toolRenderers: describeRenderers(this),
        virtualModels: [...this.virtualModels.values()].map(describeVirtual),
        channels: bus.channels(this).map((name) => ({ name })),
      },
      files: filesOf(this),
      lacking: this.lacking(),
      ignored: neverEmitted(this.handlers),
      state: Object.keys(READS).filter((part) => READS[part].some((word) => mentions(this, word))),
    };
  }

  /** Returns what it registers that pi does not have, as the end of a sentence that begins with its name. */
  lacking() {
    const refreshing = [...this.providers].filter(([, { config }]) => config.refreshModels).map(([id]) => id);
    return [
      ...(this.markdown ? ["registerMarkdownTransformer"] : []),
      ...refreshing.map((id) => `refreshModels of the provider ${id}`),
    ];
  }

  /** Sends pi soon what is registered now; several changes in a row are sent once. */
  changed() {
    if (!this.isLoaded || this.isChanged) return;
    this.isChanged = true;
    queueMicrotask(() => this.sendChanges());
  }

  /** Sends pi now what is registered, if it has changed. */
  sendChanges() {
    if (!this.isChanged) return;
    this.isChanged = false;
    send({ type: "registers", plugin: this.name, ...this.describe() });
  }
}

/** Returns the path by which Node knows a file, also one that is reached through symbolic links. */
function withoutLinks(file) {
  try {
    return realpathSync(file);
  } catch {
    return file; // not there: loading it says so
  }
}

function describeTool(tool) {
  const described = {
    name: tool.name,
    description: tool.description ?? "",
    parameters: plainSchema(tool.parameters),
  };
  for (const key of ["label", "promptSnippet", "executionMode", "constrainedSampling", "exposure", "namespace"]) {
    if (tool[key]) described[key] = tool[key];
  }
  if (tool.outputSchema) described.outputSchema = plainSchema(tool.outputSchema);
  if (tool.defaultActive === false) described.defaultActive = false;
  if (tool.promptGuidelines?.length) described.promptGuidelines = tool.promptGuidelines;
  const renders = [tool.renderCall && "call", tool.renderResult && "result"].filter(Boolean);
  if (renders.length) described.renders = renders;
  if (tool.renderShell === "self") described.framed = false;
  return described;
}

/** Returns a schema without what typebox adds for itself; one without parameters takes an empty object. */
function plainSchema(schema) {
  const plain = JSON.parse(JSON.stringify(schema ?? {}));
  return plain.type === "object" ? plain : { type: "object", properties: {}, ...plain };
}
