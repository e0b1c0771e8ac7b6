"""What a line gives to the conversation, and what the conversation asks of a line, whichever terminal it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_cli._screen import Style
    from pi_hookspecs import ImageContent

__all__ = ["Actions", "Interrupted", "Line", "Typed", "View"]


class Typed(NamedTuple):
    """What the user has sent; a follow-up waits until the answer that is being made is done."""

    text: str
    follow_up: bool = False
    images: Sequence[ImageContent] = ()


class Interrupted(Exception):
    """Ctrl-C on a line. No ``KeyboardInterrupt``: as the end of a task that one ends the event loop.

    Attributes:
        text: What was on the line, which is dropped.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.text = text


class View(Protocol):
    """Texts displayed around the line."""

    def rows(self, width: int) -> Iterable[tuple[Style, str]]:
        """Return the rows above the line, none wider than ``width``: what is queued, and the status."""
        ...


class Actions(Protocol):
    """What keys do besides editing."""

    @property
    def busy(self) -> bool:
        """Whether an answer, a command or a compaction is going on."""
        ...

    def write_line(self, line: str) -> None:
        """Write a line for the user."""
        ...

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        ...

    def stop(self) -> None:
        """Abort work."""
        ...

    def leave(self) -> None:
        """End pi once all work is done."""
        ...

    def take_back(self) -> None:
        """Put what is queued back on the line."""
        ...

    def toggle_thinking(self) -> None:
        """Show or hide what the model thinks."""
        ...

    def cycle_thinking_level(self) -> None:
        """Let the model think more, or less again."""
        ...

    def show_last_result(self) -> None:
        """Show the whole of the last tool result."""
        ...


class Line(Protocol):
    """A line that the user types on, while its context is entered."""

    held: bool
    """Whether one can type on it while pi works; else it is read between answers only."""

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def next(self) -> Typed:
        """Return what the user sends next.

        Raises:
            EOFError: They want to end, or the terminal is gone.
            Interrupted: Ctrl-C, where it is not passed on as an action.
        """
        ...

    async def ask(self, question: str, *, secret: bool = False, draft: str = "") -> str | None:
        """Return what is typed after a question; None when it is dismissed.

        Args:
            question: Stands before what is typed.
            secret: Do not show what is typed.
            draft: What is on the line already.
        """
        ...

    @property
    def lent(self) -> bool:
        """Whether another program has the terminal, whose Ctrl-C is not meant for pi."""
        ...

    @property
    def text(self) -> str:
        """What is typed and not sent."""
        ...

    def put(self, text: str) -> None:
        """Put a text on the line, in place of what is there."""
        ...

    def control(self, sequence: str) -> None:
        """Send the terminal an escape sequence, where it can have one."""
        ...

    def clear(self) -> None:
        """Take away what is typed; the history keeps it."""
        ...

    def dismiss(self) -> bool:
        """Dismiss the question that is open; False when none is."""
        ...

    def draw(self) -> None:
        """Draw anew what is around the line."""
        ...

    def refresh(self, *, busy: bool) -> None:
        """Show what has changed around the line.

        Args:
            busy: Whether there is work that Ctrl-C aborts.
        """
        ...
