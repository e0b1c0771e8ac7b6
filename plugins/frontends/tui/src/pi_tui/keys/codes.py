"""Tables of the codes that terminals send for keys that type no character."""

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
"""Final characters of ``CSI A`` and ``CSI 1 ; modifiers A``."""

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
"""First parameters of ``CSI 5 ~`` and ``CSI 5 ; modifiers ~``."""

TILDE_MODIFIERS = {"~": (), "$": ("shift",), "^": ("ctrl",), "@": ("ctrl", "shift")}
"""The modifiers for the final characters that rxvt sends in place of the tilde."""

RXVT_FINAL = {"a": "up", "b": "down", "c": "right", "d": "left"}
"""Final characters of rxvt: after ``CSI`` with Shift, after ``ESC O`` with Control."""

LINUX_CONSOLE = {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}
"""Final characters after ``CSI [``."""

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
"""Final characters after ``ESC O``: keys in application mode, and keys of the keypad."""

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
"""Control characters. ``ctrl+j`` is not Enter: every terminal can send it for a new line. Control with a hyphen, an
underscore or a slash sends the same character; so do Control-H and the backspace key of some terminals."""

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
"""Kitty keyboard protocol codes of keys that have names; keypad keys have the names of the corresponding other keys."""
