"""A person in line mode: lines, the questions of commands, and what has to hold after each."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Self

from journey.matrix import LEAST, TALL, commands_of, said
from journey.terminal import NotReached, Terminal

if TYPE_CHECKING:
    from journey.kinds import State
    from journey.model_server import ModelServer

STOP, CLEAR, ENTER = "\x03", "\x15", "\r"

_DEEPEST = 6


class Line:
    """A running line mode.

    Args:
        state: The session that is opened.
        server: The model that answers.

    Attributes:
        terminal: Its terminal.
        tried: The number of steps that were checked.
        asked: The lines after which it asked a question.
    """

    def __init__(self, state: State, server: ModelServer) -> None:
        command = [state.pi, "--tui-mode", "regular", *state.arguments()]
        self.terminal = Terminal(command, state.work, state.environment, state.kind.size)
        self._server = server
        self._numbers = count(1)
        self._step = "the start"
        self._checked = 0
        self.tried = 0
        self.asked: list[str] = []

    def __enter__(self) -> Self:
        self.settle()
        return self

    def __exit__(self, *error: object) -> None:
        self.terminal.__exit__(*error)

    @property
    def at_prompt(self) -> bool:
        """Whether the cursor is behind the mark of an empty line."""
        column, row = self.terminal.cursor
        return column == 2 and self.terminal.rows[row] == ">"

    def commands(self) -> dict[str, str]:
        """Return the descriptions of all commands that ``/help`` lists, in a terminal that is high enough for them."""
        size = self.terminal.size
        self.terminal.resize(TALL)
        self.settle()
        self.enter("/help")
        self.terminal.until(lambda: len(commands_of(self.terminal.text)) > LEAST, "the list of commands")
        self.settle()
        commands = commands_of(self.terminal.text)
        self.terminal.resize(size)
        self.settle()
        return commands

    def settle(self) -> None:
        """Wait until the program waits for keys, and check what it has written."""
        text = self.terminal.settle()
        if (code := self.terminal.process.poll()) is not None:
            raise AssertionError(f"After {self._step} the program ended with {code}.\n{text}")
        written = self.terminal.written[self._checked :].decode(errors="replace")
        self._checked = len(self.terminal.written)
        if words := said(written):
            raise AssertionError(f"After {self._step} it says {words}:\n{text}")

    def enter(self, line: str) -> None:
        """Send a line, and wait."""
        self.tried += 1
        self._step = repr(line)
        self.terminal.type(line + ENTER)
        self.settle()

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
