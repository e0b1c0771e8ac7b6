// The `tui` that components get: the size, and requests to draw. It is not a terminal: pi has that.

import { value } from "../mirror.js";

const IGNORED = () => {};

export class Screen {
  drawn;
  focusedChild;
  mode = "fullscreen";
  children = [];
  fullRedraws = 0;
  #showOverlay;
  #listeners = new Set();

  constructor(showOverlay) {
    this.#showOverlay = showOverlay;
    const size = value("screen") ?? { width: 80, height: 24 };
    this.terminal = {
      columns: size.width,
      rows: size.height,
      kittyProtocolActive: false,
      ...Object.fromEntries(["start", "stop", "write", "moveBy", "hideCursor", "showCursor", "clearLine", "clearFromCursor", "clearScreen", "setTitle", "setProgress"].map((name) => [name, IGNORED])),
      drainInput: () => Promise.resolve(),
    };
  }

  resized({ width, height, screen }) {
    this.terminal.columns = screen?.width ?? width;
    this.terminal.rows = screen?.height ?? height;
  }

  requestRender() {
    this.drawn?.requestRender();
  }

  renderNow() {
    this.drawn?.render();
  }

  setFocus(component) {
    const isOwn = component === null || component === this.drawn?.component;
    if (this.focusedChild && "focused" in this.focusedChild) this.focusedChild.focused = false;
    this.focusedChild = isOwn ? undefined : component;
    if (component && "focused" in component) component.focused = true;
    this.requestRender();
  }

  getFocusedComponent() {
    return this.focusedChild ?? this.drawn?.component ?? null;
  }

  showOverlay(component, options) {
    this.overlay = this.#showOverlay(component, options);
    return this.overlay;
  }

  hideOverlay() {
    this.overlay?.hide();
    this.overlay = undefined;
  }

  hasOverlay() {
    return this.overlay !== undefined && !this.overlay.isHidden();
  }

  addInputListener(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  removeInputListener(listener) {
    this.#listeners.delete(listener);
  }

  /** What remains of a key after the listeners; undefined if one has consumed it. */
  filtered(data) {
    for (const listener of this.#listeners) {
      const answer = listener(data);
      if (answer?.consume) return undefined;
      data = answer?.data ?? data;
    }
    return data;
  }

  /** A program that wants the terminal for itself cannot have it: pi draws on it. */
  stop() {}

  start() {
    this.requestRender();
  }

  addChild(component) {
    this.children.push(component);
  }

  removeChild(component) {
    this.children = this.children.filter((each) => each !== component);
  }

  clear() {
    this.children = [];
  }

  render() {
    return [];
  }

  invalidate() {}

  getShowHardwareCursor() {
    return false;
  }

  setShowHardwareCursor() {}

  getClearOnShrink() {
    return false;
  }

  setClearOnShrink() {}

  onTerminalColorSchemeChange() {
    return IGNORED;
  }

  setTerminalColorSchemeNotifications() {}

  queryTerminalBackgroundColor() {
    return Promise.resolve(undefined);
  }

  queryTerminalColorScheme() {
    return Promise.resolve(undefined);
  }
}
