// An extension's editor in place of pi's: it has the text, pi has a copy of it after each key, and gets its keys back.

import { getEditorTheme } from "../shim/theme.js";
import { providerFor } from "./completion.js";
import { keybindings } from "./keys.js";
import { pointsOf } from "./points.js";

/** Returns what a surface draws: the editor, with the messages between it and pi. */
export async function openEditor(screen, factory) {
  const keys = await keybindings();
  const editor = factory(screen, getEditorTheme(), keys);
  editor.borderColor ??= getEditorTheme().borderColor;
  const provider = await providerFor();
  if (provider) editor.setAutocompleteProvider?.(provider);
  let shown = editor.getText?.() ?? "";
  let key;
  const sendText = () => {
    const text = editor.getText?.() ?? shown;
    shown = text;
    screen.drawn.send("editor", { text, cursor: cursorOf(editor, text) });
  };
  editor.onSubmit = (text) => {
    shown = "";
    screen.drawn.send("editor", { text: "", cursor: 0, submit: text });
  };
  editor.giveBack = () => screen.drawn.send("unused", { key });
  return {
    get focused() {
      return editor.focused;
    },
    set focused(focused) {
      editor.focused = focused;
    },
    render: (width) => editor.render(width),
    invalidate: () => editor.invalidate?.(),
    dispose: () => editor.dispose?.(),
    takeKey(data, message) {
      key = message.key;
      editor.handleInput(data);
      key = undefined;
      sendText();
    },
    takeMessage(message) {
      if (message.op !== "editor" || message.text === shown) return;
      shown = message.text;
      editor.setText(message.text);
      screen.requestRender();
    },
  };
}

/** The number of characters before the cursor. */
function cursorOf(editor, text) {
  const place = editor.getCursor?.();
  if (place === undefined) return pointsOf(text, text.length);
  const before = text.split("\n").slice(0, place.line);
  return pointsOf(text, before.reduce((sum, line) => sum + line.length + 1, 0) + place.col);
}
