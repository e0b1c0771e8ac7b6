// What extensions draw. Components render to lines here; pi shows the lines, and sends the keys as the bytes of a terminal.

import { set, value } from "../mirror.js";
import { currentTheme, themeFrom } from "../shim/theme.js";
import { addCompletions, complete, forgetCompletions } from "./completion.js";
import { Drawn, redraw } from "./drawn.js";
import { openEditor } from "./editor.js";
import { FooterData, noteStatus } from "./footer-data.js";
import { keybindings } from "./keys.js";
import { overlayHandle, placeOf } from "./overlays.js";
import { render, forgetRendered } from "./renderers.js";
import { addListener, forgetListeners, takeInput } from "./terminal-input.js";
import { Screen } from "./tui.js";

/** Open ones by name, and those of fixed places by `extension/place`. */
const open = new Map();
const placed = new Map();
const editors = new Map();
let lastNumber = 0;

/** Whether components are drawn; elsewhere their factories are not called, as in the original. */
const hasScreen = () => value("mode") === "fullscreen";

/** Opens a surface. `make(screen)` returns the component, or a promise of it. */
function openSurface(extension, ctxName, kind, make, more = {}) {
  const name = `${extension.name}:${++lastNumber}`;
  const screen = new Screen((component, options) => showOverlay(extension, ctxName, component, options));
  const drawn = new Drawn({ name, extension, ctxName, screen, onClose: () => open.delete(name), ...more.events });
  screen.drawn = drawn;
  open.set(name, drawn);
  drawn.send("open", { plugin: extension.name, ctx: ctxName, kind, ...more.open });
  drawn.make(() => make(screen));
  return drawn;
}

/** Replaces what is in a place that an extension has once, such as the footer. */
function replace(extension, place, surface) {
  const key = `${extension.name}/${place}`;
  placed.get(key)?.close();
  if (surface === undefined) placed.delete(key);
  else placed.set(key, surface());
}

function custom(extension, ctxName, factory, options = {}) {
  if (!hasScreen()) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const isOverlay = options.overlay === true || options.overlayOptions !== undefined;
    const chosen = () => (typeof options.overlayOptions === "function" ? options.overlayOptions() : (options.overlayOptions ?? {}));
    const drawn = openSurface(
      extension,
      ctxName,
      "custom",
      async (screen) => {
        const done = (result) => {
          resolve(result);
          drawn.close();
        };
        return factory(screen, currentTheme(), await keybindings(), done);
      },
      {
        open: isOverlay ? { overlay: placeOf(chosen(), value("screen")) } : {},
        events: {
          onClosed: () => resolve(undefined),
          onFailed: reject,
          onMade: () => isOverlay && options.onHandle?.(overlayHandle(drawn)),
          visible: isOverlay ? (width, height) => chosen().visible?.(width, height) ?? true : undefined,
          capturing: isOverlay ? () => !chosen().nonCapturing : undefined,
        },
      },
    );
  });
}

/** `tui.showOverlay`: a component that exists already. */
function showOverlay(extension, ctxName, component, options = {}) {
  const drawn = openSurface(extension, ctxName, "custom", () => component, {
    open: { overlay: placeOf(options, value("screen")) },
    events: { visible: options.visible, capturing: () => !options.nonCapturing },
  });
  return overlayHandle(drawn);
}

function setWidget(extension, ctxName, key, content, options = {}) {
  const isFactory = typeof content === "function" && hasScreen();
  const more = { open: { key, ...(options.placement ? { placement: options.placement } : {}) } };
  const make = (screen) => content(screen, currentTheme());
  replace(extension, `widget/${key}`, isFactory ? () => openSurface(extension, ctxName, "widget", make, more) : undefined);
}

function setHeader(extension, ctxName, factory) {
  const make = (screen) => factory(screen, currentTheme());
  replace(extension, "header", factory && hasScreen() ? () => openSurface(extension, ctxName, "header", make) : undefined);
}

function setFooter(extension, ctxName, factory) {
  const surface = () => {
    const data = new FooterData(value("cwd"));
    const make = (screen) => factory(screen, currentTheme(), data);
    return openSurface(extension, ctxName, "footer", make, { events: { onDisposed: () => data.dispose() } });
  };
  replace(extension, "footer", factory && hasScreen() ? surface : undefined);
}

function setEditorComponent(extension, ctxName, factory) {
  editors.set(extension.name, factory);
  const surface = () => openSurface(extension, ctxName, "editor", (screen) => openEditor(screen, factory));
  replace(extension, "editor", factory && hasScreen() ? surface : undefined);
}

/** Takes a surface message of pi. */
function take(message) {
  if (message.op === "terminal") return takeInput(message);
  for (const part of ["keybindings", "screen"]) if (message[part] !== undefined) set(part, message[part]);
  open.get(message.surface)?.take(message);
}

/** Closes all that an extension has open. */
function dispose(extension) {
  for (const drawn of [...open.values()]) if (drawn.extension === extension) drawn.close();
  for (const key of [...placed.keys()]) if (key.startsWith(`${extension.name}/`)) placed.delete(key);
  editors.delete(extension.name);
  forgetRendered(extension);
  forgetCompletions(extension);
  forgetListeners(extension);
}

export const surfaces = {
  custom,
  setWidget,
  setHeader,
  setFooter,
  setEditorComponent,
  getEditorComponent: (extension) => editors.get(extension.name),
  addAutocompleteProvider: addCompletions,
  complete,
  onTerminalInput: addListener,
  noteStatus,
  theme: currentTheme,
  getAllThemes: () => (value("themes") ?? []).map(({ name, path }) => ({ name, path })),
  getTheme(name) {
    if (name === currentTheme().name) return currentTheme();
    const found = (value("themes") ?? []).find((each) => each.name === name);
    return found && themeFrom(found);
  },
  take,
  render,
  redraw,
  dispose,
};

