"""A screen for front ends that only display lines: its component is rendered 80 cells wide."""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_hookspecs import ScreenSize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_core.plugin_api.components import GuardedComponent
    from pi_hookspecs import ScreenKind, Theme

    ShowLines: TypeAlias = Callable[[Sequence[str] | None], None]

__all__ = ["LineScreen"]

SIZE = ScreenSize(80, 24)

REFRESH_SECONDS = 0.25
"""Minimum seconds between two renderings: the lines may be displayed by a program at the other end of a pipe."""


class LineScreen:
    """Implements ``ScreenHandle`` for one component.

    Args:
        show: Called with the component's lines when they change, with None when it is removed.
    """

    kind: ScreenKind = "lines"
    theme: Theme | None = None
    keybindings: Mapping[str, Sequence[str]] = MappingProxyType({})
    size = SIZE
    app: Any = None

    def __init__(self, show: ShowLines) -> None:
        self._show = show
        self._component: GuardedComponent | None = None
        self._lines: list[str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._done = False
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:  # the calling program has no event loop
            self._loop = None

    def open(self, component: GuardedComponent) -> None:
        """Display a component."""
        self._component = component
        if self._done:  # the factory has already called ``done``
            component.dispose()
        else:
            self._draw()

    def refresh(self) -> None:
        """Render the component again, at most four times a second."""
        if self._loop is None:
            self._draw()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._draw_soon)

    def done(self, result: Any = None) -> None:
        """Remove the component."""
        del result
        self.close()

    @property
    def displays(self) -> bool:
        """Whether the front end currently displays lines of this screen."""
        return self._lines is not None and not self._done

    def close(self, *, cleared: bool = True) -> None:
        """Remove the component; ``cleared`` is False if other lines take its place."""
        if self._done:
            return
        self._done = True
        if self._timer is not None:
            self._timer.cancel()
        if self._component is not None:
            self._component.dispose()
        if cleared and self._lines is not None:
            self._show(None)

    def _draw_soon(self) -> None:
        if self._loop is not None and self._timer is None and not self._done:
            wait = self._drawn_at + REFRESH_SECONDS - self._loop.time()
            self._timer = self._loop.call_later(max(wait, 0), self._draw)

    def _draw(self) -> None:
        self._timer = None
        if self._component is None or self._done:
            return
        lines = [*map(str, self._component.render(SIZE.width))]
        if self._loop is not None:
            self._drawn_at = self._loop.time()
        if lines != self._lines and not self._done:  # a component that fails too often is removed meanwhile
            self._lines = lines
            self._show(lines)
