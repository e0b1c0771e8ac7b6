"""Parsing of one complete control sequence: a key with modifiers, the mouse, the focus, or a reply."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pi_tui.keys.codes import CSI_FINAL, CSI_TILDE, KEY_CODES, LINUX_CONSOLE, RXVT_FINAL, SS3, TILDE_MODIFIERS
from pi_tui.keys.events import Event, Focus, Key, Mouse, Reply
from pi_tui.keys.names import join_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["application_key", "read_sequence"]

_BITS = ((4, "ctrl"), (1, "shift"), (2, "alt"), (8, "super"))
"""Modifiers in the order in which key names contain them. Hyper, Meta and locks are ignored."""

_ACTIONS: Mapping[int, Literal["press", "repeat", "release"]] = {1: "press", 2: "repeat", 3: "release"}

_BUTTONS = {0: "left", 1: "middle", 2: "right", 3: "", 64: "up", 65: "down", 66: "left", 67: "right"}

_MOUSE = re.compile(r"\x1b\[<(\d+);(\d+);(\d+)([Mm])")

_OTHER_MODIFIER = 27
"""First parameter of xterm's ``modifyOtherKeys``."""

_DELETED = 127


_FIXED: Mapping[str, Event] = {
    "\x1b[I": Focus(gained=True),
    "\x1b[O": Focus(gained=False),
    "\x1b[Z": Key("shift+tab"),
    **{f"\x1b[[{final}": Key(name) for final, name in LINUX_CONSOLE.items()},
    **{f"\x1b[{final}": Key(f"shift+{name}") for final, name in RXVT_FINAL.items()},
}


def read_sequence(sequence: str) -> Event:
    """Return the event of a sequence that begins with ``ESC [``: a ``Reply`` if it is not a known event."""
    if sequence in _FIXED:
        return _FIXED[sequence]
    if mouse := _MOUSE.fullmatch(sequence):
        return _mouse(mouse)
    parameters = _parameters(sequence[2:-1])
    return (_key(parameters, sequence[-1]) if parameters else None) or Reply(sequence)


def application_key(final: str, modifiers: int = 1) -> Key:
    """Return the key that is sent as ``ESC O`` and a final character: an arrow, a function key, or a keypad key."""
    if final in RXVT_FINAL:
        return Key(f"ctrl+{RXVT_FINAL[final]}")
    held, _ = _modifiers([[1], [modifiers]])
    name = SS3[final]
    return Key(join_key(held, name), name if len(name) == 1 and not held else "")


def _key(parameters: Sequence[Sequence[int]], final: str) -> Key | None:
    first, (held, action) = parameters[0][0], _modifiers(parameters)
    third = parameters[2] if len(parameters) > 2 else []  # noqa: PLR2004
    if final == "u":
        return _named_or_typed(parameters[0], held, action, "".join(map(_character, third)))
    if final == "~" and first == _OTHER_MODIFIER and third:
        return _named_or_typed(third[:1], held, action)
    if final in TILDE_MODIFIERS and first in CSI_TILDE:
        return Key(join_key({*held, *TILDE_MODIFIERS[final]}, CSI_TILDE[first]), action=action)
    if final in CSI_FINAL and first <= 1:
        return Key(join_key(held, CSI_FINAL[final]), action=action)
    return None


def _parameters(text: str) -> Sequence[Sequence[int]] | None:
    """Return the parameters of a sequence, each split at its colons; absent numbers are 0. None if it is malformed."""
    if not re.fullmatch(r"[0-9:;]*", text):
        return None
    return [[min(int(number or 0), 0x7FFFFFFF) for number in part.split(":")] for part in text[:200].split(";")]


def _modifiers(parameters: Sequence[Sequence[int]]) -> tuple[set[str], Literal["press", "repeat", "release"]]:
    """Return the modifiers and the action (press, repeat or release) of a key from the second parameter."""
    second = parameters[1] if len(parameters) > 1 else [1]
    bits = max(second[0] - 1, 0)
    action = _ACTIONS.get(second[1] if len(second) > 1 else 1, "press")
    return {name for bit, name in _BITS if bits & bit}, action


def _named_or_typed(
    codes: Sequence[int],
    held: set[str],
    action: Literal["press", "repeat", "release"],
    text: str = "",
) -> Key | None:
    """Return the key for a code: the Unicode character that it types without modifiers, or Kitty's code of a named key.

    The first code may be followed by the character with Shift and by the character of the same key on an English
    keyboard. The latter is the key's name if Control or Alt is held and the first code is not an ASCII character.
    """
    code, shifted, base = (*codes, 0, 0)[:3]
    if code in KEY_CODES:
        name = KEY_CODES[code]
        plain = " " if name == "space" else name if len(name) == 1 else ""
        return Key(join_key(held, name), text or (plain if not held - {"shift"} else ""), action)
    character = _character(code)
    if not character:
        return None
    if held & {"ctrl", "alt", "super"}:
        by_place = _character(base) if code > _DELETED else ""
        return Key(join_key(held | _shift(character), (by_place or character).lower()), text, action)
    typed = text or (_character(shifted) or character.upper() if "shift" in held else character)
    lower = character.lower() if len(character.lower()) == 1 else character
    return Key(join_key(held | _shift(character), lower), typed, action)


def _shift(character: str) -> set[str]:
    """Return the Shift modifier that a capital letter implies."""
    return {"shift"} if character != character.lower() and len(character.lower()) == 1 else set()


def _character(code: int) -> str:
    """Return the character with a code; empty for control characters, surrogates and codes that Kitty reserves."""
    if code < ord(" ") or _DELETED <= code < 0xA0 or 0xD800 <= code <= 0xF8FF or code > 0x10FFFF:  # noqa: PLR2004
        return ""
    return chr(code)


def _mouse(found: re.Match[str]) -> Mouse | Reply:
    code, column, row = (int(number) for number in found.groups()[:3])
    held = tuple(name for bit, name in ((16, "ctrl"), (4, "shift"), (8, "alt")) if code & bit)
    button = _BUTTONS.get(code & ~(4 | 8 | 16 | 32))
    if button is None:
        return Reply(found[0])
    place = (max(column - 1, 0), max(row - 1, 0), held)
    if code & 64:
        return Mouse("wheel", button, *place)
    if code & 32:
        return Mouse("move", button, *place)
    return Mouse("press" if found[4] == "M" else "release", button, *place)
