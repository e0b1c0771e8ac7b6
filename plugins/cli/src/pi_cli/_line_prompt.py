"""The line where the user types: history, completion of slash commands, and dialogs as questions.

Everything typed is kept before it is sent, in ``prompt-history.jsonl`` of the agent directory (decision D20): for the
user alone, the newest thousand.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import History

from pi_cli._report import say
from pi_cli._terminal_ui import TerminalUI
from pi_cli._typing_line import Interrupted, TypingLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyBindings

    from pi_hookspecs import NoticeLevel

__all__ = ["LinePrompt", "LineUI", "PromptHistory"]

_KEPT = 1000


class PromptHistory(History):
    """What was typed, in a file of JSON strings, one a line. A file that cannot be used is done without.

    Args:
        file: The file.
        complain: Told once when what was typed cannot be kept.
    """

    def __init__(self, file: Path, complain: Callable[[str], object]) -> None:
        super().__init__()
        self._file = file
        self._complain: Callable[[str], object] | None = complain

    def load_history_strings(self) -> Iterable[str]:
        """Return what was typed, the newest first; cuts a file that has grown to twice its size."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        if len(lines) > 2 * _KEPT:
            self._rewrite(lines[-_KEPT:])
        typed = (_string(line) for line in reversed(lines[-_KEPT:]))
        return [text for text in typed if text is not None]

    def store_string(self, string: str) -> None:
        """Keep what was typed."""
        line = json.dumps(string).encode("ascii") + b"\n"
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError as error:
            if self._complain is not None:
                self._complain(f"What you type cannot be kept in {str(self._file)!r}: {error.strerror}.")
                self._complain = None

    def _rewrite(self, lines: Sequence[str]) -> None:
        fresh = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        try:
            fresh.touch(mode=0o600)
            fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            fresh.replace(self._file)
        except OSError:
            fresh.unlink(missing_ok=True)


def _string(line: str) -> str | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


class _Commands(Completer):
    """Completes a slash command at the beginning of the line: its name, then what the plugin says of its arguments."""

    def __init__(
        self, names: Callable[[], Iterable[tuple[str, str]]], arguments: Callable[[str, str], Iterable[str]]
    ) -> None:
        self._names = names
        self._arguments = arguments

    def get_completions(self, document: Document, complete_event: Any) -> Iterable[Completion]:
        text = document.text_before_cursor
        if not text.startswith("/"):
            return
        typed, space, arguments = text[1:].partition(" ")
        if space:
            for each in self._arguments(typed, arguments):
                yield Completion(each, start_position=-len(arguments))
            return
        for name, description in self._names():
            if name.startswith(typed):
                yield Completion(f"/{name}", start_position=-len(text), display_meta=description)


class LinePrompt:
    """Reads what the user says.

    Args:
        line: Where it is typed.
        history: The file of what was typed.
        names: Names and descriptions of the slash commands.
        arguments: What a command's arguments, as far as they are typed, could become.
        complain: Told when what is typed cannot be kept.
    """

    def __init__(
        self,
        line: TypingLine,
        history: Path,
        names: Callable[[], Iterable[tuple[str, str]]],
        arguments: Callable[[str, str], Iterable[str]],
        complain: Callable[[str], object],
    ) -> None:
        self._line = line
        self._session: PromptSession[str] = PromptSession(
            history=PromptHistory(history, complain),
            completer=_Commands(names, arguments),
            complete_while_typing=False,
            enable_suspend=True,
            interrupt_exception=Interrupted,
        )

    async def ask(self, draft: str = "", keys: KeyBindings | None = None) -> str:
        """Return the next line; ``draft`` stands on it already, and ``keys`` do something beside typing.

        Raises:
            EOFError: Ctrl-D, or the terminal is gone.
            Interrupted: Ctrl-C.
        """
        self._session.key_bindings = keys
        return await self._line.read(self._session, "> ", draft)


class LineUI(TerminalUI):
    """Asks plugins' questions on lines of their own, which no history keeps.

    Args:
        line: Where the conversation is typed, if there is one.
    """

    def __init__(self, line: TypingLine | None = None) -> None:
        super().__init__()
        self._line = line or TypingLine()

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Write a notice; what is being typed stays below it."""
        say(*self.notice(message, level).split("\n"))

    async def _answer(self, question: str) -> str | None:
        try:
            return await self._line.answer(question)
        except asyncio.CancelledError:
            say(question)  # the line is wiped with it; what came to nothing is still to be seen
            raise
