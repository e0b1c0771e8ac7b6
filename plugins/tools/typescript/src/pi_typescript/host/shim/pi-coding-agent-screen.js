// The part of the stand-in for `pi-coding-agent` that needs the package `pi-tui`: components and hints of keys.

import { CancellableLoader, Container, Editor, getKeybindings, Loader, Spacer, Text } from "@earendil-works/pi-tui";
import { currentTheme } from "./theme.js";

export * from "./pi-coding-agent.js";

/** A rule over the whole width. */
export class DynamicBorder {
  #color;

  constructor(color = (text) => currentTheme().fg("border", text)) {
    this.#color = color;
  }

  invalidate() {}

  render(width) {
    return [this.#color("─".repeat(Math.max(width, 1)))];
  }
}

/** A spinner with a message between two rules; Escape aborts `signal`, unless `cancellable` is false. */
export class BorderedLoader extends Container {
  #loader;
  #cancellable;
  #controller = new AbortController();

  constructor(tui, theme, message, { cancellable = true } = {}) {
    super();
    this.#cancellable = cancellable;
    const colors = [(text) => theme.fg("accent", text), (text) => theme.fg("muted", text)];
    this.#loader = new (cancellable ? CancellableLoader : Loader)(tui, ...colors, message);
    this.addChild(new DynamicBorder((text) => theme.fg("border", text)));
    this.addChild(this.#loader);
    if (cancellable) {
      this.addChild(new Spacer(1));
      this.addChild(new Text(keyHint("tui.select.cancel", "cancel"), 1, 0));
    }
    this.addChild(new Spacer(1));
    this.addChild(new DynamicBorder((text) => theme.fg("border", text)));
  }

  get signal() {
    return this.#cancellable ? this.#loader.signal : this.#controller.signal;
  }

  set onAbort(handler) {
    if (this.#cancellable) this.#loader.onAbort = handler;
  }

  handleInput(data) {
    if (this.#cancellable) this.#loader.handleInput(data);
  }

  dispose() {
    if (this.#cancellable) this.#loader.dispose();
    else this.#loader.stop();
  }
}

/**
 * An editor in place of pi's. It does not get keys of the application, such as those that choose a model.
 *
 * `giveBack`, set by the surface, takes a key that the editor leaves to pi: those that abort and exit.
 */
export class CustomEditor extends Editor {
  actionHandlers = new Map();

  constructor(tui, theme, keybindings, options = {}) {
    super(tui, theme, options);
    this.keybindings = keybindings;
    this.embedWorkingStatus = options.embedWorkingStatus ?? false;
  }

  onAction(action, handler) {
    this.actionHandlers.set(action, handler);
  }

  setWorkingStatusIndicator() {}

  handleInput(data) {
    if (this.onExtensionShortcut?.(data)) return;
    const matches = (action) => this.keybindings.matches(data, action);
    if (matches("app.clipboard.pasteImage") && this.onPasteImage) return void this.onPasteImage();
    if (matches("app.interrupt")) {
      if (this.isShowingAutocomplete()) return super.handleInput(data);
      const handler = this.onEscape ?? this.actionHandlers.get("app.interrupt") ?? this.giveBack;
      return void handler?.(data);
    }
    if (matches("app.exit")) {
      if (this.getText() !== "") return super.handleInput(data);
      const handler = this.onCtrlD ?? this.actionHandlers.get("app.exit") ?? this.giveBack;
      return void handler?.(data);
    }
    for (const [action, handler] of this.actionHandlers) {
      if (action !== "app.interrupt" && action !== "app.exit" && matches(action)) return void handler(data);
    }
    super.handleInput(data);
  }
}

/** The keys of an action: `escape/ctrl+c`. */
export function keyText(keybinding) {
  return (getKeybindings().getKeys(keybinding) ?? []).join("/");
}

/** What the keys of an action do, for a row of hints. */
export function keyHint(keybinding, description) {
  return rawKeyHint(keyText(keybinding), description);
}

/** What a key does, for a row of hints. */
export function rawKeyHint(key, description) {
  return currentTheme().fg("dim", key) + currentTheme().fg("muted", ` ${description}`);
}

/** The last so many rows of a text at a width, and how many are left out. */
export function truncateToVisualLines(text, maxVisualLines, width, paddingX = 0) {
  if (!text) return { visualLines: [], skippedCount: 0 };
  const rows = new Text(text, paddingX, 0).render(width);
  const skippedCount = Math.max(rows.length - maxVisualLines, 0);
  return { visualLines: rows.slice(skippedCount), skippedCount };
}
