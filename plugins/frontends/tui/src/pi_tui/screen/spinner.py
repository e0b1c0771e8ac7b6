"""The spinner, which turns while the session works; plugins may change its frames, speed and visibility."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_tui.screen.themes import Timer
    from pi_tui.view.state import State

__all__ = ["Spinner", "is_working"]

_FRAMES = tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

_SECONDS = 0.1

_LEAST_SECONDS, _MOST_SECONDS = 0.03, 60.0

_CELLS = 10
"""Most characters of a frame."""


class Spinner:
    """Turns while the session works; no timer runs otherwise.

    Args:
        every: Calls a function repeatedly, at an interval in seconds.
        draw: Called after each turn.

    Attributes:
        visible: Whether the screen displays that the session works.
    """

    def __init__(self, every: Callable[[float, Callable[[], object]], Timer], draw: Callable[[], object]) -> None:
        self.visible = True
        self._every, self._draw = every, draw
        self._frames: Sequence[str] = _FRAMES
        self._seconds = _SECONDS
        self._turns = 0
        self._timer: Timer | None = None

    @property
    def frame(self) -> str:
        """The current frame."""
        return self._frames[self._turns % len(self._frames)]

    def set_frames(self, frames: Sequence[str] | None, seconds: float) -> None:
        """Set the frames and the seconds of each; an empty sequence hides the spinner, None restores the defaults."""
        self._frames = _FRAMES if frames is None else [clean_line(each)[:_CELLS] for each in frames] or [""]
        self._seconds = _SECONDS if frames is None else min(max(_LEAST_SECONDS, seconds), _MOST_SECONDS)
        if self._timer is not None:
            self._stop()
            self._start()

    def turn_while(self, *, working: bool) -> None:
        """Start or stop turning."""
        if working and self._timer is None:
            self._start()
        elif not working:
            self._stop()

    def _start(self) -> None:
        self._timer = self._every(self._seconds, self._turn)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _turn(self) -> None:
        self._turns += 1
        self._draw()


def is_working(state: State) -> bool:
    """Whether the session is doing work that the spinner displays."""
    work = state.work
    busy = work.running or work.retry is not None or work.compacting is not None or work.summarizing
    return busy or bool(work.command or state.commands)
