"""The interface between the conversation and its input line, for all kinds of terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_cli.screen import Style
    from pi_hookspecs import ImageContent

__all__ = ["Actions", "Interrupted", "Line", "Typed", "View"]


class Typed(NamedTuple):
    """An input of the user; a follow-up waits until the current answer is complete."""

    text: str
    follow_up: bool = False
    images: Sequence[ImageContent] = ()


class Interrupted(Exception):
    """Ctrl-C on a line. Not a ``KeyboardInterrupt``, which would end the event loop if a task raised it.

    Attributes:
        text: The discarded text of the line.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.text = text


class View(Protocol):
    """Texts displayed around the line."""

    def rows(self, width: int) -> Iterable[tuple[Style, str]]:
        """Return the rows above the line, none wider than ``width``: queued messages and the status."""
        ...


class Actions(Protocol):
    """The effects of keys besides editing."""

    @property
    def busy(self) -> bool:
        """Whether an answer, a command or a compaction is in progress."""
        ...

    def write_line(self, line: str) -> None:
        """Write a line for the user."""
        ...

    def interrupt(self) -> None:
        """Handle Ctrl-C."""
        ...

    def stop(self) -> None:
        """Abort work."""
        ...

    def leave(self) -> None:
        """End pi once all work is done."""
        ...

    def take_back(self) -> None:
        """Put queued messages back on the line."""
        ...

    def toggle_thinking(self) -> None:
        """Show or hide the model's thinking."""
        ...

    def cycle_thinking_level(self) -> None:
        """Select the next thinking level."""
        ...

    def show_last_result(self) -> None:
        """Show the full last tool result."""
        ...


class Line(Protocol):
    """The line that the user types on, active while its context is entered."""

    held: bool
    """Whether it accepts input while pi works; otherwise it is read only between answers."""

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def next(self) -> Typed:
        """Return the user's next input.

        Raises:
            EOFError: The user wants to end, or the terminal is gone.
            Interrupted: Ctrl-C was typed, and is not handled as an action.
        """
        ...

    async def ask(self, question: str, *, secret: bool = False, draft: str = "") -> str | None:
        """Return the answer to a question; None if it is dismissed.

        Args:
            question: Shown before the input.
            secret: Whether to hide the input.
            draft: The initial text of the line.
        """
        ...

    @property
    def lent(self) -> bool:
        """Whether another program has the terminal, so that Ctrl-C is not meant for pi."""
        ...

    @property
    def text(self) -> str:
        """The unsent input."""
        ...

    def put(self, text: str) -> None:
        """Replace the text on the line."""
        ...

    def control(self, sequence: str) -> None:
        """Send the terminal an escape sequence, if it supports them."""
        ...

    def clear(self) -> None:
        """Clear the line; its text is added to the history."""
        ...

    def dismiss(self) -> bool:
        """Dismiss the open question; return whether there was one."""
        ...

    def draw(self) -> None:
        """Redraw what surrounds the line."""
        ...

    def refresh(self, *, busy: bool) -> None:
        """Update what surrounds the line.

        Args:
            busy: Whether there is work that Ctrl-C aborts.
        """
        ...
