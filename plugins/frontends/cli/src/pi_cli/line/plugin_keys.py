"""Plugins' keys on the input line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from prompt_toolkit.key_binding import KeyBindings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pi_hookspecs import Shortcut

__all__ = ["PluginKeys"]

_OWN = {"c-c", "c-d", "c-h", "c-i", "c-j", "c-m", "c-z", "backspace", "enter", "escape", "tab"}
"""Keys that end pi, abort work, or are needed for typing: plugins cannot bind them."""

_OWN_PAIRS = {("escape", "enter"), ("escape", "up")}
"""As above, with Alt: they queue messages, and take them back."""


class PluginKeys:
    """Binds plugins' keys.

    Args:
        press: Calls the plugin that has bound a key.
        warn: Called once for each key that cannot be bound here, with the reason.
    """

    def __init__(self, press: Callable[[str], Awaitable[Any]], warn: Callable[[str], object]) -> None:
        self._press = press
        self._warn = warn
        self._refused: set[str] = set()
        self._pressed: set[asyncio.Future[Any]] = set()
        self._names: tuple[str, ...] = ()
        self._bindings = KeyBindings()

    def bindings(self, shortcuts: Iterable[Shortcut]) -> KeyBindings:
        """Return the bindings of these keys; the same object while they are unchanged, so that it can be cached."""
        plugins = {shortcut.name: shortcut.plugin for shortcut in shortcuts}
        names = tuple(plugins)
        if names == self._names:
            return self._bindings
        self._names, self._bindings = names, KeyBindings()
        for name, plugin in plugins.items():
            problem = self._bind(self._bindings, name)
            if problem is not None and name not in self._refused:
                self._refused.add(name)
                self._warn(f"The key {name!r} of plugin {plugin!r} does nothing here: {problem}")
        return self._bindings

    def _bind(self, bindings: KeyBindings, name: str) -> str | None:
        keys = _keys(name)
        if keys in _OWN_PAIRS or (len(keys) == 1 and (keys[0] in _OWN or len(keys[0]) == 1)):
            return "line mode uses it itself"
        try:
            bindings.add(*keys)(lambda _event: self._begin(name))
        except ValueError:
            return "terminals do not distinguish it from other keys"
        return None

    def _begin(self, name: str) -> None:
        pressed = asyncio.ensure_future(self._press(name))
        self._pressed.add(pressed)
        pressed.add_done_callback(self._pressed.discard)


def _keys(name: str) -> tuple[str, ...]:
    """Return what the terminal sends for a key such as ``ctrl+alt+p``: ``alt`` is a preceding escape."""
    *held, key = name.split("+")
    if not {"ctrl", "alt", "shift"}.issuperset(held):
        return (name,)
    held_too = "".join(f"{each[0]}-" for each in ("ctrl", "shift") if each in held)
    return (*(["escape"] if "alt" in held else ()), held_too + key)
