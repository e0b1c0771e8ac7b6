"""Names of the keys that a terminal can send, in the form of ``pi_hookspecs.canonical_key``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.keys import canonical_key

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["MODIFIERS", "join_key", "known_key", "split_key"]

MODIFIERS = ("ctrl", "shift", "alt", "super")
"""The modifiers, in the order in which a name lists them."""

_NAMED = frozenset(
    {
        *("escape", "enter", "tab", "space", "backspace", "delete", "insert", "clear"),
        *("home", "end", "pageup", "pagedown", "up", "down", "left", "right"),
        *(f"f{number}" for number in range(1, 25)),
    }
)


def known_key(name: str) -> str | None:
    """Return the canonical name of a key that a user wrote; None if there is no such key."""
    canonical = canonical_key(name)
    held, key = split_key(canonical)
    known = key in _NAMED or (len(key) == 1 and key.isprintable())
    return canonical if known and set(held) <= set(MODIFIERS) else None


def split_key(name: str) -> tuple[list[str], str]:
    """Return the modifiers of a canonical name, and the key."""
    if name.endswith("+"):
        return name[:-1].split("+")[:-1], "+"
    *held, key = name.split("+")
    return held, key


def join_key(held: Collection[str], key: str) -> str:
    """Return the name of a key that is pressed with modifiers."""
    return "+".join([*(each for each in MODIFIERS if each in held), key])
