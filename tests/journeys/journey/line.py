"""A person in line mode: lines, the questions of commands, and what has to hold after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journey.person import CLEAR, STOP, Person
from journey.terminal import NotReached

if TYPE_CHECKING:
    from journey.kinds import State
    from journey.model_server import ModelServer

_DEEPEST = 6


class Line(Person):
    """A running line mode.

    Args:
        state: The session that is opened.
        server: The model that answers.

    Attributes:
        asked: The lines after which it asked a question.
    """

    def __init__(self, state: State, server: ModelServer) -> None:
        super().__init__(state, server, "regular")
        self._checked = 0
        self.asked: list[str] = []

    @property
    def at_prompt(self) -> bool:
        """Whether the cursor is behind the mark of an empty line."""
        column, row = self.terminal.cursor
        return column == 2 and self.terminal.rows[row] == ">"

    def settle(self) -> str:
        """Wait for the end of a command or its question; while it waits for a lock, it computes nothing either."""
        text = super().settle()
        while self._works:
            self.terminal.until(lambda: not self._works, f"after {self._step} its end")
            text = super().settle()
        return text

    @property
    def _works(self) -> bool:
        """Whether a command or an answer is in progress: the prompt is there, but Ctrl-C would abort something."""
        return self.terminal.process.poll() is None and self.at_prompt and self.terminal.interrupts

    def news(self, text: str) -> str:
        """Return what was written since the last check: a line that has scrolled away counts, too."""
        written = self.terminal.written[self._checked :].decode(errors="replace")
        self._checked = len(self.terminal.written)
        return written

    def command(self, line: str) -> None:
        """Send a line, leave what it asks, and type a word, which has to appear."""
        self.enter(line)
        if not self.at_prompt:
            self.asked.append(line)
        self.back()
        word = f"k{next(self._numbers)}"
        self.terminal.type(word)
        self.terminal.until(lambda: self.terminal.row == f"> {word}", f"after {line!r} {word!r}")
        self.terminal.type(CLEAR)
        self.terminal.until(lambda: self.at_prompt, f"after {line!r} the empty line")

    def take(self, line: str) -> None:
        """Send a line that asks, answer with the first choice, and leave what is asked then."""
        self.enter(line)
        if not self.at_prompt:
            self.enter("1")
        self.back()

    def back(self) -> None:
        """Leave every question."""
        for _ in range(_DEEPEST):
            if self.at_prompt:
                return
            self.terminal.type(STOP)
            self.settle()
        raise NotReached(f"After {self._step} the prompt does not come back:\n{self.terminal.text}")

    def ask(self) -> None:
        """Send a prompt, which the model has to get as it was typed, and whose answer has to come."""
        word = f"w{next(self._numbers)}"
        before = len(self._server.prompts())
        self.enter(f"ping {word}")
        self.terminal.until(lambda: f"ping {word}" in self._server.prompts()[before:], f"after {self._step} the prompt")
        self.terminal.until(lambda: f"pong {word}".encode() in self.terminal.written, f"after {self._step} the answer")
        self.settle()
