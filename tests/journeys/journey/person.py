"""A person at a running pi: what line mode and the full screen have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import count
from typing import TYPE_CHECKING, Self

from journey.matrix import LEAST, TALL, commands_of, said
from journey.terminal import Terminal

if TYPE_CHECKING:
    from journey.kinds import State
    from journey.model_server import ModelServer

__all__ = ["CLEAR", "ENTER", "STOP", "Person"]

STOP, CLEAR, ENTER = "\x03", "\x15", "\r"


class Person(ABC):
    """Someone who uses a running pi.

    Args:
        state: The session that is opened.
        server: The model that answers.
        mode: The front end, an argument of ``--tui-mode``.

    Attributes:
        terminal: The terminal.
        tried: The number of steps that were checked.
    """

    def __init__(self, state: State, server: ModelServer, mode: str) -> None:
        command = [state.pi, "--tui-mode", mode, *state.arguments()]
        self.terminal = Terminal(command, state.work, state.environment, state.kind.size)
        self.tried = 0
        self._size = state.kind.size
        self._server = server
        self._numbers = count(1)
        self._step = "the start"

    def __enter__(self) -> Self:
        self.settle()
        return self

    def __exit__(self, *error: object) -> None:
        self.terminal.__exit__(*error)

    @property
    @abstractmethod
    def at_prompt(self) -> bool:
        """Whether keys go to an empty prompt."""
        ...

    @abstractmethod
    def back(self) -> None:
        """Leave all that is open, and return to the empty prompt."""
        ...

    def news(self, text: str) -> str:
        """Return what to look for complaints in: the text of the screen, or what was written since the last check."""
        return text

    def commands(self) -> dict[str, str]:
        """Return the descriptions of all commands that ``/help`` lists, in a terminal that is high enough for them."""
        self.terminal.resize(TALL)
        self.settle()
        self.enter("/help")
        self.terminal.until(lambda: len(commands_of(self.terminal.text)) > LEAST, "the list of commands")
        commands = commands_of(self.settle())
        self.back()
        self.terminal.resize(self._size)
        self.settle()
        return commands

    def settle(self) -> str:
        """Wait until the program waits for keys, check what it says, and return the text of the screen."""
        text = self.terminal.settle()
        if (code := self.terminal.process.poll()) is not None:
            raise AssertionError(f"After {self._step} the program ended with {code}.\n{text}")
        if words := said(self.news(text)):
            raise AssertionError(f"After {self._step} it says {words}:\n{text}")
        return text

    def press(self, keys: str, step: str = "") -> str:
        """Send keys and wait."""
        self._step = step or self._step
        self.terminal.type(keys)
        return self.settle()

    def enter(self, line: str) -> str:
        """Send a line, and wait: first for its echo, because on a busy computer keys take their time to arrive."""
        self.tried += 1
        self._step = repr(line)
        before = len(self.terminal.written)
        self.terminal.type(line + ENTER)
        self.terminal.until(lambda: len(self.terminal.written) > before, f"the echo of {line!r}")
        return self.settle()
