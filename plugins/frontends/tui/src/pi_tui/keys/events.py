"""What a terminal sends: keys, pasted text, mouse, focus, and replies to questions."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Event", "Focus", "Key", "Mouse", "Paste", "Reply"]


class Key(NamedTuple):
    """A key that was pressed.

    Attributes:
        name: Its canonical name: ``ctrl+shift+p``, ``pageup``, ``shift+a``, ``é``.
        text: What it types, unchanged; empty for keys that type nothing.
        action: ``repeat`` while it is held, ``release`` when it is let go; only terminals with the Kitty keyboard
            protocol send these two.
    """

    name: str
    text: str = ""
    action: Literal["press", "repeat", "release"] = "press"


class Paste(NamedTuple):
    """Pasted text, as the terminal sent it: it may hold control characters and escape sequences."""

    text: str


class Focus(NamedTuple):
    """The terminal has got the keyboard, or lost it."""

    gained: bool


class Mouse(NamedTuple):
    """A mouse event.

    Attributes:
        kind: ``move`` has a button while one is held, which is dragging.
        button: ``left``, ``middle``, ``right``, or the direction of the wheel: ``up``, ``down``, ``left``, ``right``;
            empty for a movement without a button.
        x: Column, 0 at the left edge.
        y: Row, 0 at the top.
        held: Modifiers that are held, in canonical order.
    """

    kind: Literal["press", "release", "move", "wheel"]
    button: str
    x: int
    y: int
    held: tuple[str, ...] = ()


class Reply(NamedTuple):
    """An answer of the terminal, or a sequence that is not a key: the whole of it, with its escape character."""

    sequence: str


Event: TypeAlias = Key | Paste | Focus | Mouse | Reply
