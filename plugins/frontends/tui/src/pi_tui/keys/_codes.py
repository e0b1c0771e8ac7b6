"""Tables of what terminals send for keys that type nothing."""

from __future__ import annotations

__all__ = [
    "CONTROL_KEYS",
    "CSI_FINAL",
    "CSI_TILDE",
    "KEY_CODES",
    "LINUX_CONSOLE",
    "RXVT_FINAL",
    "SS3",
    "TILDE_MODIFIERS",
]

CSI_FINAL = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "E": "clear",
    "F": "end",
    "H": "home",
    "P": "f1",
    "Q": "f2",
    "R": "f3",
    "S": "f4",
}
"""``CSI A`` and ``CSI 1 ; modifiers A``."""

CSI_TILDE = {
    1: "home",
    2: "insert",
    3: "delete",
    4: "end",
    5: "pageup",
    6: "pagedown",
    7: "home",
    8: "end",
    11: "f1",
    12: "f2",
    13: "f3",
    14: "f4",
    15: "f5",
    17: "f6",
    18: "f7",
    19: "f8",
    20: "f9",
    21: "f10",
    23: "f11",
    24: "f12",
    25: "f13",
    26: "f14",
    28: "f15",
    29: "f16",
    31: "f17",
    32: "f18",
    33: "f19",
    34: "f20",
}
"""``CSI 5 ~`` and ``CSI 5 ; modifiers ~``."""

TILDE_MODIFIERS = {"~": (), "$": ("shift",), "^": ("ctrl",), "@": ("ctrl", "shift")}
"""What rxvt sends in place of the tilde."""

RXVT_FINAL = {"a": "up", "b": "down", "c": "right", "d": "left"}
"""With shift after ``CSI``, with ctrl after ``ESC O``."""

LINUX_CONSOLE = {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}
"""After ``CSI [``."""

SS3 = {
    **CSI_FINAL,
    "M": "enter",
    "X": "=",
    "j": "*",
    "k": "+",
    "l": ",",
    "m": "-",
    "n": ".",
    "o": "/",
    **{chr(ord("p") + digit): str(digit) for digit in range(10)},
}
"""After ``ESC O``: keys in application mode, and those of the keypad."""

CONTROL_KEYS = {
    **{chr(code): f"ctrl+{chr(code + 96)}" for code in range(1, 27)},
    "\x00": "ctrl+space",
    "\x1c": "ctrl+\\",
    "\x1d": "ctrl+]",
    "\x1e": "ctrl+^",
    "\x1f": "ctrl+-",
    "\t": "tab",
    "\r": "enter",
    "\x1b": "escape",
    "\x7f": "backspace",
    "\x08": "backspace",
}
"""Control characters. ``ctrl+j`` is no enter: it is the new line that every terminal can send. Control and hyphen,
underscore or slash are the same character, and so are control and H, and the backspace of some terminals."""

_KEYPAD = (*"0123456789./*-+", "enter", "=", ",", "left", "right", "up", "down", "pageup", "pagedown", "home", "end")

KEY_CODES = {
    9: "tab",
    13: "enter",
    27: "escape",
    32: "space",
    127: "backspace",
    8: "backspace",
    **{57399 + number: name for number, name in enumerate((*_KEYPAD, "insert", "delete", "clear"))},
    **{57376 + number: f"f{13 + number}" for number in range(12)},
}
"""Codes of the Kitty keyboard protocol for keys that are named, not typed; the keypad's are those of the other keys."""
