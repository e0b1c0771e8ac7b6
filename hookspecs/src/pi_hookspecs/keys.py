"""Names of keys, as plugins and users write them: one spelling for each, so that they can be compared."""

from __future__ import annotations

__all__ = ["canonical_key"]

_MODIFIERS = ("ctrl", "shift", "alt", "super")

_OTHER_NAMES = {
    "control": "ctrl",
    "meta": "alt",
    "option": "alt",
    "cmd": "super",
    "command": "super",
    "win": "super",
    "esc": "escape",
    "return": "enter",
    "del": "delete",
}


def canonical_key(name: str) -> str:
    """Return a key's name in lower case, with its modifiers in the order ``ctrl``, ``shift``, ``alt``, ``super``.

    ``Alt+Ctrl+P`` becomes ``ctrl+alt+p``, ``Esc`` becomes ``escape``. Unknown modifiers are kept, before the others.
    """
    before, plus, key = "".join(name.lower().split()).rpartition("+")
    if plus and not key:  # the plus sign itself, as in ``ctrl++``
        before, key = before.removesuffix("+"), "+"
    held = [_OTHER_NAMES.get(each, each) for each in before.split("+") if each]
    unknown = [each for each in held if each not in _MODIFIERS]
    return "+".join([*unknown, *(each for each in _MODIFIERS if each in held), _OTHER_NAMES.get(key, key)])
