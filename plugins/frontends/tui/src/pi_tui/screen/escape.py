"""What Escape and Ctrl+C stop, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.screen.app import ScreenApp

__all__ = ["Ladders"]

_AGAIN_SECONDS = 0.5
"""How soon the second of two keys must come."""


class Ladders:
    """Escape and Ctrl+C.

    Args:
        app: The application.
        clock: Returns seconds.
    """

    def __init__(self, app: ScreenApp, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._escaped = self._cleared = -_AGAIN_SECONDS

    def escape(self) -> None:
        """Stop a command, a retry, a compaction, the answer; on an empty editor, twice: the user's choice."""
        app, port = self._app, self._app.port
        before, self._escaped = self._escaped, -_AGAIN_SECONDS
        if port.is_bash_running:
            port.abort_bash()
        elif port.is_retrying:
            port.abort_retry()
        elif port.is_compacting:
            port.abort_compaction()
        elif port.is_streaming:
            app.take_back()
            port.abort()
        elif app.talk.jobs:
            app.take_back()
            app.talk.jobs.cancel()
        elif not app.editor.text.text:
            if self._clock() - before < _AGAIN_SECONDS:
                app.escaped_twice()
            else:
                self._escaped = self._clock()

    def clear(self) -> None:
        """Stop a command of the user, or clear the editor; twice, end."""
        app = self._app
        before, self._cleared = self._cleared, self._clock()
        if app.clipboards.copy_selection():
            self._cleared = -_AGAIN_SECONDS
        elif app.port.is_bash_running:
            app.port.abort_bash()
        elif self._clock() - before < _AGAIN_SECONDS:
            app.leave()
        else:
            app.set_editor(app.editor.cleared())
