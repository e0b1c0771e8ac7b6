"""Names of keys: ``ctrl+shift+p``, with the modifiers always in the same order."""

from __future__ import annotations

__all__ = ["FUNCTION_KEYS", "MODIFIERS", "NAMED_KEYS", "canonical_key", "join_key"]

MODIFIERS = ("ctrl", "shift", "alt", "super")
"""The modifiers, in the order in which a name has them."""

NAMED_KEYS = (
    *("escape", "enter", "tab", "space", "backspace", "delete", "insert", "clear"),
    *("home", "end", "pageUp", "pageDown", "up", "down", "left", "right"),
)

FUNCTION_KEYS = tuple(f"f{number}" for number in range(1, 25))

_OTHER_NAMES = {"esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "plus": "+"}

_BY_LOWER_NAME = {name.lower(): name for name in (*NAMED_KEYS, *FUNCTION_KEYS)}


def canonical_key(name: str) -> str | None:
    """Return the canonical name of a key as users write it; None if there is no such key.

    Case and the order of the modifiers do not matter: ``Shift+CTRL+P`` is ``ctrl+shift+p``, ``esc`` is ``escape``.
    """
    lowered = name.strip().lower()
    if lowered.endswith("++") or lowered == "+":  # the key + itself
        held, key = lowered[:-2].split("+") if lowered != "+" and lowered[:-2] else [], "+"
    else:
        *held, key = lowered.split("+")
    key = _OTHER_NAMES.get(key, key)
    key = _BY_LOWER_NAME.get(key, key)
    known = key in _BY_LOWER_NAME.values() or (len(key) == 1 and key.isprintable() and not key.isspace())
    if not known or not set(held) <= set(MODIFIERS) or len(set(held)) < len(held):
        return None
    return join_key(held, key)


def join_key(held: list[str] | set[str] | tuple[str, ...], key: str) -> str:
    """Return the name of a key that is pressed with modifiers."""
    return "+".join([*(each for each in MODIFIERS if each in held), key])
