// Keys of actions: those of pi-tui's components and those of pi, as the user has set them.

import { importPackage } from "../loader.js";
import { on, value } from "../mirror.js";
import { currentTheme } from "../shim/theme.js";

const NONE = { matches: () => false, getKeys: () => [], getEffectiveConfig: () => ({}) };

/** What renderers get to name keys in their rows. */
export const hints = {
  keyText: (action) => (value("keybindings")?.[action] ?? []).join("/"),
  keyHint: (action, description) => {
    const theme = currentTheme();
    return theme.fg("dim", hints.keyText(action)) + theme.fg("muted", ` ${description}`);
  },
};

let manager;

/** The manager that components get, which follows what pi sends; one without keys where pi-tui is not installed. */
export async function keybindings() {
  let tui;
  try {
    tui = await importPackage("@earendil-works/pi-tui");
  } catch {
    return NONE;
  }
  if (manager === undefined) {
    manager = new tui.KeybindingsManager(tui.TUI_KEYBINDINGS);
    const follow = (keys) => {
      const own = Object.entries(keys ?? {}).filter(([action]) => !(action in tui.TUI_KEYBINDINGS));
      const defined = Object.fromEntries(own.map(([action, each]) => [action, { defaultKeys: [...each], description: action }]));
      manager.definitions = { ...tui.TUI_KEYBINDINGS, ...defined };
      manager.setUserBindings({});
    };
    follow(value("keybindings"));
    on("keybindings", follow); // they come with the size of the first component, which has the manager by then
    tui.setKeybindings(manager);
  }
  return manager;
}
