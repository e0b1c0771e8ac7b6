// One surface: a component that is rendered when it says so, at most 30 times a second but for keys, and sent if its lines
// changed.

import { failed, inExtension } from "../blame.js";
import { on } from "../mirror.js";
import { send } from "../wire.js";

const SHORTEST_MS = 33;
const MOST_FAILURES = 3;
const BUTTONS = ["none", "left", "middle", "right"];
const WHEEL = { scroll_up: -3, scroll_down: 3 };
const CURSOR_MARKER = "\x1b_pi:c\x07";

const drawnNow = new Set();

/** Colours are part of lines: all components draw again when the theme changes. */
on("theme", () => {
  for (const drawn of drawnNow) {
    drawn.run(() => drawn.component?.invalidate?.());
    drawn.requestRender();
  }
});

/** Draws all components again: what they show may have changed. The original does so with each picture. */
export function redraw() {
  for (const drawn of drawnNow) drawn.requestRender();
}

function rowsOf(rendered) {
  if (!Array.isArray(rendered)) throw new TypeError(`render returned no array of lines, but ${String(rendered).slice(0, 40)}`);
  return rendered;
}

export class Drawn {
  component;
  isOpen = true;
  isHidden = false;
  isFocused = false;
  width;
  height;
  #events;
  #screen;
  #timer;
  #last = 0;
  #lines;
  #failures = 0;
  /** Whether a key is handled, after which it is rendered in any case. */
  #isHandling = false;
  /** Where a button was pressed that is still held. */
  #pressed;

  /** `events`: `onClose`, `onClosed` (pi closed it), `onFailed`, `onMade`, `onDisposed`, `visible`, `capturing`. */
  constructor({ name, extension, ctxName, screen, ...events }) {
    this.name = name;
    this.extension = extension;
    this.ctxName = ctxName;
    this.#screen = screen;
    this.#events = events;
    drawnNow.add(this);
  }

  send(op, more = {}) {
    send({ type: "surface", surface: this.name, op, ...more });
  }

  /** Runs code of the extension; undefined if it fails, which is reported. */
  run(call) {
    try {
      return inExtension(this.extension, this.ctxName, call);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  async make(factory) {
    try {
      const component = await inExtension(this.extension, this.ctxName, factory);
      if (!this.isOpen) return void component?.dispose?.();
      if (typeof component?.render !== "function") throw new Error("the factory returned no component: an object with render(width)");
      this.component = component;
      if (component.handleMouse) this.send("mouse", { on: true });
      this.#focus();
      this.run(() => this.#events.onMade?.());
      if (this.#events.capturing?.() === false) this.send("overlay", { focus: false });
      this.requestRender();
    } catch (error) {
      if (this.#events.onFailed) this.#events.onFailed(error);
      else failed(error, this.extension);
      this.close();
    }
  }

  take(message) {
    switch (message.op) {
      case "size":
        this.width = message.width;
        this.height = message.height;
        this.#screen.resized(message);
        if (this.#events.visible) {
          const isVisible = this.run(() => this.#events.visible(message.width, message.height)) !== false;
          this.send("overlay", { hidden: this.isHidden || !isVisible });
        }
        this.run(() => this.component?.invalidate?.());
        return this.requestRender();
      case "input":
        return this.#input(message);
      case "mouse":
        return this.#mouse(message);
      case "focus":
        this.isFocused = message.focused;
        return this.#focus();
      case "closed":
        this.#end();
        return this.#events.onClosed?.();
      default:
        return this.run(() => this.component?.takeMessage?.(message));
    }
  }

  #focus() {
    if (this.component && "focused" in this.component && this.component.focused !== this.isFocused) {
      this.run(() => {
        this.component.focused = this.isFocused;
      });
      this.requestRender();
    }
  }

  #input(message) {
    this.#isHandling = true;
    this.run(() => {
      const data = this.#screen.filtered(message.data);
      if (data === undefined) return;
      const target = this.#screen.focusedChild ?? this.component;
      if (target?.takeKey) target.takeKey(data, message);
      else target?.handleInput?.(data);
    });
    this.#isHandling = false;
    this.#renderNow();
  }

  /** Renders what somebody waits for, and once more without delay if that has started what asks for it. */
  #renderNow() {
    if (!this.isOpen) return;
    if (this.#timer !== undefined) this.#stopTimer();
    this.render();
    this.#last = 0;
    setImmediate(() => {
      if (this.#last === 0) this.#last = performance.now();
    });
  }

  /** Passes on what pi reports of the mouse, as the original's events. */
  #mouse({ kind, x, y, button = 0, modifiers = [] }) {
    const held = Object.fromEntries(["shift", "alt", "ctrl"].map((name) => [name, modifiers.includes(name)]));
    const place = { button: BUTTONS[button] ?? "none", x, y, screenX: x, screenY: y, width: this.width, height: this.#lines?.length ?? 0 };
    const types = { press: ["press"], release: ["release"], move: [this.#pressed ? "drag" : "move"] }[kind] ?? ["wheel"];
    if (kind === "release" && this.#pressed === `${x},${y}`) types.push("click");
    if (kind === "press") this.#pressed = `${x},${y}`;
    if (kind === "release") this.#pressed = undefined;
    for (const type of types) {
      const more = { ...(type === "wheel" ? { wheelDelta: WHEEL[kind] } : {}), ...(type === "click" ? { clickCount: 1 } : {}) };
      const result = this.run(() => this.component?.handleMouse?.({ type, ...place, ...held, ...more }));
      if (result?.render ?? !["move", "release"].includes(type)) this.#renderNow();
    }
  }

  /** Renders soon; what is asked for while a key is handled is rendered after it. */
  requestRender() {
    if (!this.isOpen || this.#isHandling || this.#timer !== undefined) return;
    const wait = Math.max(this.#last + SHORTEST_MS - performance.now(), 0);
    this.#timer = wait === 0 ? setImmediate(() => this.render()) : setTimeout(() => this.render(), wait);
    this.#timer.unref?.();
  }

  render() {
    this.#timer = undefined;
    if (!this.isOpen || this.component === undefined || this.width === undefined) return;
    this.#last = performance.now();
    const lines = this.run(() => rowsOf(this.component.render(this.width)));
    if (lines === undefined || !this.isOpen) return;
    this.#failures = 0;
    const shown = lines.map((line) => String(line).replaceAll(CURSOR_MARKER, ""));
    if (this.#lines?.length === shown.length && this.#lines.every((line, at) => line === shown[at])) return;
    this.#lines = shown;
    this.send("lines", { lines: shown, width: this.width });
  }

  #fail(error) {
    const isUseless = this.#lines === undefined || ++this.#failures >= MOST_FAILURES; // without rows it would hide the editor
    if (!isUseless || !this.#events.onFailed) failed(error, this.extension);
    if (!isUseless) return;
    this.#events.onFailed?.(error);
    this.close();
  }

  #stopTimer() {
    clearTimeout(this.#timer);
    clearImmediate(this.#timer);
  }

  /** Closes it on the extension's behalf. */
  close() {
    if (!this.isOpen) return;
    this.send("close");
    this.#end();
  }

  #end() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#stopTimer();
    drawnNow.delete(this);
    this.#events.onClose?.();
    this.run(() => this.component?.dispose?.());
    this.#events.onDisposed?.();
  }
}
