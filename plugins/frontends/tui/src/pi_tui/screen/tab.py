"""What the terminal's tab displays: the title and, if the user has enabled it, progress (OSC 9;4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.declared_settings import PROGRESS
from pi_tui.lines.footer import window_title
from pi_tui.screen.spinner import is_working
from pi_tui.terminal import PROGRESS_OFF, PROGRESS_ON

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import SettingsView
    from pi_tui.terminal import Terminal
    from pi_tui.view.state import State

__all__ = ["Tab"]


class Tab:
    """Writes changes of the title and the progress.

    Args:
        write: Writes an escape sequence to the terminal.
        settings: The settings, one of which enables progress.
        terminal: Removes the progress when it is restored; None without a terminal, as in tests.
    """

    def __init__(self, write: Callable[[str], object], settings: SettingsView, terminal: Terminal | None) -> None:
        self._write, self._settings, self._terminal = write, settings, terminal
        self._title = ""
        self._working = self._shows_progress = False

    def show(self, state: State) -> None:
        """Display the title and progress of a state."""
        title = state.title or window_title(state.footer)
        if title != self._title:
            self._title = title
            self._write(f"\x1b]0;{title}\x07")
        working = is_working(state)
        if working != self._working:  # the settings are not read for each frame
            self._working = working
            self._show_progress(working and PROGRESS.read(self._settings))

    def _show_progress(self, shows: bool) -> None:  # noqa: FBT001 - the one thing that it is about
        if shows != self._shows_progress:
            self._shows_progress = shows
            self._write(PROGRESS_ON if shows else PROGRESS_OFF)
            if self._terminal is not None:
                self._terminal.shows_progress = shows
