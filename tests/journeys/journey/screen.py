"""A person at the full screen: commands, dialogs, keys and prompts, with what has to hold after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journey.person import CLEAR, ENTER, STOP, Person
from journey.terminal import NotReached

if TYPE_CHECKING:
    from journey.kinds import State
    from journey.model_server import ModelServer

SIZES = ((100, 40), (60, 20), (20, 6))
UP, DOWN, LEFT, RIGHT = (f"\x1b[{letter}" for letter in "ABDC")
PAGE_UP, PAGE_DOWN, HOME, END = "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"
ESCAPE, BACKSPACE, ALT_DOWN = "\x1b", "\x7f", "\x1b[1;3B"

_DEEPEST = 6
"""Dialogs that may be open above one another, and one key more to find the prompt."""


class Screen(Person):
    """A running full screen.

    Args:
        state: The session that is opened.
        server: The model that answers.

    Attributes:
        opened: The commands after which something other than the prompt had the keys.
    """

    def __init__(self, state: State, server: ModelServer) -> None:
        super().__init__(state, server, "fullscreen")
        self.opened: list[str] = []

    @property
    def at_prompt(self) -> bool:
        """Whether the keys go to the editor, and it is empty."""
        return self.in_editor and not self.terminal.row

    @property
    def in_editor(self) -> bool:
        """Whether the cursor is in a row between two rules, which is the editor."""
        row = self.terminal.cursor[1]
        rows = self.terminal.rows
        return 0 < row < len(rows) - 1 and _rule(rows[row - 1]) and _rule(rows[row + 1])

    def command(self, line: str, *, walk: bool) -> None:
        """Send a command, use what it opens, and go back to the prompt, which must take keys.

        Args:
            line: The command.
            walk: Whether what it opens gets all keys and sizes, not only the next row.
        """
        self.enter(line)
        if not self.in_editor:
            self.opened.append(line)
            self._use_dialog(walk=walk)
        self.back()
        self._typed()

    def take(self, line: str) -> None:
        """Send a command that opens something, take what is selected there, and go back to the prompt."""
        self.enter(line)
        self.press(ENTER, f"{line!r} and Enter")
        self.back()
        self._typed()

    def back(self) -> None:
        """Close everything that is open."""
        for number in range(_DEEPEST):
            if self.at_prompt:
                return
            if self.in_editor:
                self.press(END + CLEAR)
            else:
                self.press(STOP if number % 2 else ESCAPE)  # Escape does not delete a text of several lines
        raise NotReached(f"After {self._step} the prompt does not come back:\n{self.terminal.text}")

    def ask(self) -> None:
        """Send a prompt, which the model has to get as it was typed, and whose answer has to come."""
        word = f"w{next(self._numbers)}"
        before = len(self._server.prompts())
        self.press(f"ping {word}")
        self.terminal.type(ENTER)
        self.terminal.until(lambda: f"ping {word}" in self._server.prompts()[before:], f"after {self._step} the prompt")
        self.settle()
        if self._size[1] > 10:
            self.terminal.sees(f"pong {word}")

    def resized(self) -> None:
        """Make the terminal larger and smaller, and as it was."""
        for size in (*SIZES, self._size):
            self.terminal.resize(size)
            self.settle()

    def _use_dialog(self, *, walk: bool) -> None:
        for keys in (DOWN, UP, PAGE_DOWN, PAGE_UP, END, HOME, "t", BACKSPACE) if walk else (DOWN,):
            self.press(keys, f"{self._step.partition(' and then ')[0]} and then {keys!r}")
        if walk:
            self.resized()

    def _typed(self) -> None:
        """Type a word at the prompt, which has to appear, and take it away."""
        word = f"k{next(self._numbers)}"
        self.terminal.type(word)
        try:
            self.terminal.until(lambda: self.terminal.row.strip() == word, f"the typed {word!r}")
        except NotReached as lost:
            raise AssertionError(f"After {self._step} typed keys are lost: {lost}") from None
        self.terminal.type(CLEAR)
        self.terminal.until(lambda: self.at_prompt, f"after {self._step} the empty prompt")


def _rule(row: str) -> bool:
    return bool(row) and set(row.strip()) == {"─"}
