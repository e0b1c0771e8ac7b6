// `ctx.ui`: dialogs, notices and what is displayed around the conversation. What is drawn by components is in surfaces/.

import { reporting } from "./api.js";
import { set, value } from "./mirror.js";
import { surfaces } from "./surfaces/index.js";
import { call } from "./wire.js";

/** Of each extension, what it displays with calls, as functions that take it away. */
const displayed = new WeakMap();

/** Takes away what an extension displays, as the original does when a session ends. */
export function clearUi(extension) {
  const all = displayed.get(extension);
  displayed.delete(extension);
  for (const clear of all?.values() ?? []) clear();
  surfaces.dispose(extension);
}

/** Returns `ctx.ui` for a context. */
export function createUi(extension, name) {
  const act = (method, params) => call(name, method, params);
  const quietly = reporting(extension, act);
  /** Calls a method that displays something; `cleared` are its parameters to take that away. */
  const display = (method, params, cleared, also) => {
    if (!displayed.has(extension)) displayed.set(extension, new Map());
    displayed.get(extension).set(`${method} ${params.key ?? ""}`, () => {
      also?.();
      quietly(method, cleared);
    });
    quietly(method, params);
  };
  return {
    select: (title, options, how) => dialog(act, "ui.select", { title, options }, how),
    confirm: async (title, message, how) => Boolean(await dialog(act, "ui.confirm", { title, message }, how)),
    input: (title, placeholder, how) => dialog(act, "ui.input", { title, placeholder }, how),
    editor: (title, prefill) => dialog(act, "ui.editor", { title, prefill }),
    notify: (message, level = "info") => quietly("ui.notify", { message: String(message), level }),
    setStatus(key, text) {
      surfaces.noteStatus(key, text);
      display("ui.set_status", { key, text: text ?? null }, { key, text: null }, () => surfaces.noteStatus(key));
    },
    setTitle: (title) => quietly("ui.set_title", { title }),
    setWorkingMessage: (message) =>
      display("ui.set_working_message", { message: message ?? null }, { message: null }),
    setWorkingVisible: (visible) => display("ui.set_working_visible", { visible }, { visible: true }),
    setWorkingIndicator: (options) => {
      const frames = options?.frames ?? null;
      const interval = options?.intervalMs ? { interval: options.intervalMs / 1000 } : {};
      display("ui.set_working_indicator", { frames, ...interval }, { frames: null });
    },
    setHiddenThinkingLabel: (label) =>
      display("ui.set_hidden_thinking_label", { label: label ?? null }, { label: null }),
    setEditorText(text) {
      set("editorText", text);
      quietly("ui.set_editor_text", { text });
    },
    getEditorText: () => value("editorText"),
    pasteToEditor: (text) => quietly("ui.paste_to_editor", { text }),
    getToolsExpanded: () => value("toolsExpanded"),
    setToolsExpanded(expanded) {
      set("toolsExpanded", expanded);
      quietly("ui.set_tools_expanded", { expanded });
    },
    setWidget(key, content, options = {}) {
      const placement = options.placement ? { placement: options.placement } : {};
      if (typeof content === "function") surfaces.setWidget(extension, name, key, content, options);
      else {
        surfaces.setWidget(extension, name, key, undefined, options);
        const lines = content ? indented(content) : null;
        display("ui.set_widget", { key, lines, ...placement }, { key, lines: null });
      }
    },
    custom: (factory, options) => surfaces.custom(extension, name, factory, options),
    setFooter: (factory) => surfaces.setFooter(extension, name, factory),
    setHeader: (factory) => surfaces.setHeader(extension, name, factory),
    setEditorComponent: (factory) => surfaces.setEditorComponent(extension, name, factory),
    getEditorComponent: () => surfaces.getEditorComponent(extension),
    addAutocompleteProvider: (factory) => surfaces.addAutocompleteProvider(extension, name, factory),
    onTerminalInput: (handler) => surfaces.onTerminalInput(extension, name, handler),
    get theme() {
      return surfaces.theme();
    },
    getAllThemes: () => surfaces.getAllThemes(),
    getTheme: (theme) => surfaces.getTheme(theme),
    setTheme(theme) {
      if (value("mode") !== "fullscreen") return { success: false, error: "there are no themes without a screen" };
      quietly("ui.set_theme", { theme: typeof theme === "string" ? theme : theme.name });
      return { success: true };
    },
  };
}

/** The lines of a widget as the original draws them: a column from the edge. */
function indented(lines) {
  return value("mode") === "fullscreen" ? lines.map((line) => ` ${line}`) : lines;
}

/** Asks the user; `undefined` when the dialog is dismissed, times out or is aborted. */
async function dialog(act, method, params, { timeout, signal } = {}) {
  if (signal?.aborted) return undefined;
  const asked = { ...params };
  for (const key of Object.keys(asked)) if (asked[key] === undefined) delete asked[key];
  if (timeout) asked.timeout = timeout / 1000;
  const answer = act(method, asked);
  if (!signal) return (await answer) ?? undefined;
  const aborted = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
  return (await Promise.race([answer, aborted])) ?? undefined;
}
