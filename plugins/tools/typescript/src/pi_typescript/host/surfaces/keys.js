// Keys of actions: those of pi-tui's components and those of pi, as the user has set them.

import { value } from "../mirror.js";

let manager;
let known;

const NONE = { matches: () => false, getKeys: () => [], getEffectiveConfig: () => ({}), isOfApplication: () => false };

/** The manager that components get; one without keys where pi-tui is not installed. */
export async function keybindings() {
  let tui;
  try {
    tui = await import("@earendil-works/pi-tui");
  } catch {
    return NONE;
  }
  const keys = value("keybindings") ?? {};
  if (manager !== undefined && known === keys) return manager;
  known = keys;
  const own = Object.fromEntries(Object.entries(keys).filter(([action]) => !(action in tui.TUI_KEYBINDINGS)));
  const defined = Object.fromEntries(Object.entries(own).map(([action, each]) => [action, { defaultKeys: [...each], description: action }]));
  manager = new tui.KeybindingsManager({ ...tui.TUI_KEYBINDINGS, ...defined });
  manager.isOfApplication = (data) => Object.keys(own).some((action) => action.startsWith("app.") && manager.matches(data, action));
  tui.setKeybindings(manager);
  return manager;
}
