"""Events that a terminal sends: keys, pasted text, mouse, focus, and replies to queries."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Event", "Focus", "Key", "Mouse", "Paste", "Reply"]


class Key(NamedTuple):
    """A key that was pressed.

    Attributes:
        name: Its canonical name: ``ctrl+shift+p``, ``pageup``, ``shift+a``, ``é``.
        text: The text that it types, unchanged; empty for keys that type nothing.
        action: ``repeat`` while it is held, ``release`` when it is released; only terminals with the Kitty keyboard
            protocol send these two.
    """

    name: str
    text: str = ""
    action: Literal["press", "repeat", "release"] = "press"


class Paste(NamedTuple):
    """Pasted text as the terminal sent it: it may contain control characters and escape sequences."""

    text: str


class Focus(NamedTuple):
    """The terminal gained or lost the keyboard focus."""

    gained: bool


class Mouse(NamedTuple):
    """A mouse event.

    Attributes:
        kind: The type of the event; a ``move`` with a button is a drag.
        button: ``left``, ``middle``, ``right``, or the direction of the wheel: ``up``, ``down``, ``left``, ``right``;
            empty for a movement without a pressed button.
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
    """A reply of the terminal, or an unknown sequence: its complete text, including the escape character."""

    sequence: str


Event: TypeAlias = Key | Paste | Focus | Mouse | Reply
