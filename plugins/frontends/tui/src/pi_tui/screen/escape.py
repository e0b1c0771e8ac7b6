"""What Escape and Ctrl+C stop, in order of precedence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.screen.talk import INTERRUPTED
from pi_tui.session.plugins import skip_waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.screen.app import ScreenApp

__all__ = ["Ladders"]

_AGAIN_SECONDS = 0.5
"""Seconds within which a key must be pressed again to count as pressed twice."""


class Ladders:
    """The actions of Escape and Ctrl+C: each press does the first one that applies.

    Args:
        app: The application.
        clock: Returns the current time in seconds.
    """

    def __init__(self, app: ScreenApp, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._escaped = self._cleared = -_AGAIN_SECONDS

    def escape(self) -> None:
        """Stop a command, a retry, a compaction, the answer or a wait for a plugin.

        Pressed twice in an empty editor, run the configured action.
        """
        app, session = self._app, self._app.session
        before, self._escaped = self._escaped, -_AGAIN_SECONDS
        if session.is_bash_running:
            session.abort_bash()
        elif session.is_retrying:
            session.abort_retry()
        elif session.is_compacting:
            session.abort_compaction()
        elif session.is_streaming:
            app.take_back()
            session.request_abort(INTERRUPTED)
        elif skip_waiting(session):
            return
        elif app.talk.jobs:
            app.take_back()
            app.talk.jobs.cancel()
        elif not app.editor.text.text:
            if self._clock() - before < _AGAIN_SECONDS:
                app.escaped_twice()
            else:
                self._escaped = self._clock()

    def copy(self) -> None:
        """Copy the selection; if the key also clears the editor, pressing it again does not exit."""
        self._cleared = -_AGAIN_SECONDS
        self._app.clipboards.copy_selection()

    def clear(self) -> None:
        """Stop the user's shell command, or clear the editor; exit when pressed twice with nothing typed between."""
        app = self._app
        before, self._cleared = self._cleared, self._clock()
        if app.session.is_bash_running:
            app.session.abort_bash()
        elif self._clock() - before < _AGAIN_SECONDS and not app.editor.text.text:
            app.leave()
        else:
            app.set_editor(app.editor.cleared())
