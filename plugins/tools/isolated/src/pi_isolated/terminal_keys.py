"""The bytes that a terminal would send for a key, for programs that read keys as a terminal's input.

Keys that have no classic sequence get that of the Kitty keyboard protocol.
"""

from __future__ import annotations

__all__ = ["bytes_of", "bytes_of_paste"]

_CODES = {"escape": 27, "enter": 13, "tab": 9, "backspace": 127, "space": 32}
_PLAIN = {"escape": "\x1b", "enter": "\r", "tab": "\t", "backspace": "\x7f", "space": " ", "shift+tab": "\x1b[Z"}
_LETTERS = {"up": "A", "down": "B", "right": "C", "left": "D", "end": "F", "home": "H"}
_FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_TILDE = {
    "insert": 2,
    "delete": 3,
    "pageup": 5,
    "pagedown": 6,
    "f5": 15,
    "f6": 17,
    "f7": 18,
    "f8": 19,
    "f9": 20,
    "f10": 21,
    "f11": 23,
    "f12": 24,
}
_BITS = {"shift": 1, "alt": 2, "ctrl": 4, "super": 8}
_CONTROL = {"space": 0, "[": 27, "\\": 28, "]": 29, "-": 31, "/": 31}


def bytes_of(key: str) -> str:
    """Return what a terminal sends for a key as components get it: ``a``, ``A``, ``enter``, ``ctrl+shift+p``."""
    if len(key) == 1 or key in _PLAIN:
        return _PLAIN.get(key, key)
    held, name = _parts(key)
    parameter = f";{sum(_BITS[each] for each in held) + 1}" if held else ""
    if name in _LETTERS:
        return f"\x1b[1{parameter}{_LETTERS[name]}" if held else f"\x1b[{_LETTERS[name]}"
    if name in _TILDE:
        return f"\x1b[{_TILDE[name]}{parameter}~"
    code = _CODES.get(name) or (ord(name) if len(name) == 1 else 0)
    return _classic(held, name, parameter) or (f"\x1b[{code}{parameter}u" if code else key)


def _classic(held: set[str], name: str, parameter: str) -> str | None:
    """Return the sequence that terminals send without the Kitty protocol; None if there is none."""
    if name in _FUNCTION:
        return f"\x1b[1{parameter}{_FUNCTION[name]}" if held else f"\x1bO{_FUNCTION[name]}"
    if held == {"ctrl"} and name in _CONTROL:
        return chr(_CONTROL[name])
    if held == {"ctrl"} and len(name) == 1 and "a" <= name <= "z":
        return chr(ord(name) & 31)
    if held == {"alt"} and (name in _PLAIN or len(name) == 1):
        return "\x1b" + _PLAIN.get(name, name)
    return None


def bytes_of_paste(text: str) -> str:
    """Return what a terminal sends for a pasted text."""
    return f"\x1b[200~{text}\x1b[201~"


def _parts(key: str) -> tuple[set[str], str]:
    """Return the modifiers of a key, and its name; ``ctrl++`` is Ctrl with the plus sign."""
    held: set[str] = set()
    name = key
    while True:
        modifier, found, rest = name.partition("+")
        if not found or not rest or modifier not in _BITS:
            return held, name
        held.add(modifier)
        name = rest
