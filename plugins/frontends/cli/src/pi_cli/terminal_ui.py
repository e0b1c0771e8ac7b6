"""Dialogs for commands that run before there is a front end: questions on stderr, answers from stdin, line by line.

A thread reads the lines, so that a login can receive the browser's callback while it waits for a pasted code. The
thread is a daemon and reads the descriptor itself, so that it does not block the exit.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from pi_cli.report import say
from pi_cli.words import one_line, plain_row
from pi_core import DialogUI, clean_text
from pi_terminal_kit.browser import has_browser, open_page

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from pi_core import DialogRequest
    from pi_hookspecs import AbortSignal, Approval, FormField, NoticeLevel

__all__ = ["TerminalUI"]

_TRIES = 3

_SHOWN = 60
"""Characters of an answer that are echoed in errors; a key may have been pasted at the wrong question."""


class TerminalUI(DialogUI):
    """Implements ``UserInterface``, and ``open_url`` where a browser can be opened.

    Where stdin is not a terminal its lines are the answers, and dialogs after its end are dismissed.

    Args:
        browser: Whether pages may be opened.

    Attributes:
        interactive: Whether stdin is a terminal.
        open_url: Opens a page; missing where there is no browser.
    """

    def __init__(self, *, browser: bool = False) -> None:
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self._lines: _Lines | None = None
        self._question = ""
        """Text of the line that waits for an answer."""
        self._browser = browser

    def __getattr__(self, name: str) -> Any:
        """Return ``open_url`` where a browser can be opened; this is checked at first use."""
        if name == "open_url" and self._browser and has_browser():
            return open_page
        raise AttributeError(name)

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Ask on stderr; None at the end of stdin, and for ``editor``: there is no editor on a line."""
        limits: dict[str, Any] = {"signal": dialog.signal, "timeout": dialog.timeout}
        if dialog.kind == "editor":
            return None
        if dialog.kind == "select":
            return await self._choose(dialog.title, dialog.options, **limits)
        if dialog.kind == "confirm":
            if dialog.text:
                say(*clean_text(dialog.text).split("\n"))
            answer = await self._ask_line(f"{dialog.title} [y/N]", **limits)
            return (answer or "").lower() in ("y", "yes")
        return await self._ask_line(dialog.title, dialog.text, **limits)

    async def form(self, fields: Sequence[FormField], **how: Any) -> dict[str, Any] | None:
        """Ask the fields one after the other; Enter alone keeps the default of a field, or leaves it out."""
        from pi_core.plugin_api.forms import ask_fields

        return await ask_fields(self, fields, select=self._choose, **how)

    async def approve(
        self,
        approval: Approval,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Ask for an approval by the keys of its answers; Enter alone refuses."""
        from pi_core.plugin_api.approval_lines import TRIES, approval_rows, choice_by_key, key_question, not_a_key

        say(*approval_rows(approval))
        for _ in range(TRIES):
            answer = await self._ask_line(key_question(approval), signal=signal, timeout=timeout)
            if not answer:
                return None
            found = choice_by_key(approval, answer)
            if found is not None:
                return found.answer if found.allows or found.lasting else None
            say(not_a_key(answer))
        return None

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Write a notice to stderr; an open question is printed again below it."""
        behind = [""] if self._question and self.interactive else []
        say(*behind, *self.notice(message, level).split("\n"))
        if self._question:
            self._prompt(self._question)

    def notice(self, message: str, level: NoticeLevel) -> str:
        """Return a formatted notice."""
        prefix = "" if level == "info" else f"{level.capitalize()}: "
        return f"{prefix}{clean_text(message)}"

    def secret(self, prompt: str) -> str | None:
        """Ask for a line without echo; None if there is none. Blocks the event loop."""
        try:
            if not self.interactive:
                return sys.stdin.readline() if sys.stdin is not None else None
            from getpass import getpass

            return getpass(prompt, stream=sys.stderr)
        except (EOFError, OSError, UnicodeDecodeError):
            say("")  # the next output must not follow an unanswered question on its line
            return None
        except KeyboardInterrupt:
            say("")
            raise

    async def ask_secret(self, question: str) -> str | None:
        """Ask for a line without echo, as ``secret`` does."""
        return self.secret(question)

    async def _choose(
        self,
        title: str,
        options: Sequence[str],
        *,
        default: str | None = None,
        **limits: Any,
    ) -> str | None:
        """Let the user choose by number or name; Enter alone chooses the default, else none."""
        say(one_line(title))
        for number, option in enumerate(options, 1):
            say(f"  {number:>2} {plain_row(option)}")
        for _ in range(_TRIES):
            answer = await self._ask_line("Number or name", **limits)
            if not answer:
                return None if answer is None else default
            numbered = [option for number, option in enumerate(options, 1) if str(number) == answer.lstrip("0")]
            named = numbered or [option for option in options if option.lower() == answer.lower()]
            named = named or [option for option in options if option.lower().startswith(answer.lower())]
            if len(named) == 1:
                return named[0]
            among = ", ".join(map(one_line, named))
            unknown = (
                f"{one_line(answer)[:_SHOWN]!r} is not one of them; pressing Enter alone chooses {default or 'none'}."
            )
            say(f"Which of {among}?" if named else unknown)
        return None

    async def _ask_line(
        self,
        title: str,
        placeholder: str = "",
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Ask for a line, stripped; None at the end of stdin."""
        question = f"{one_line(title)}{f' ({one_line(placeholder)})' if placeholder else ''}: "
        line: str | None = None
        reading = asyncio.ensure_future(self._answer(question))
        forget = signal.on_abort(reading.cancel) if signal is not None else None
        try:
            done, _ = await asyncio.wait([reading], timeout=timeout)
            line = reading.result() if done and not reading.cancelled() else None
        finally:
            reading.cancel()
            await asyncio.wait([reading])  # the next dialog finds the terminal as it was
            if forget is not None:
                forget()
        return line.strip() if line is not None else None

    def _answer(self, question: str) -> Coroutine[Any, Any, str | None]:
        """Print the question now, and return an awaitable of the answer; None if there is none."""
        if self._lines is None:
            self._lines = _Lines()
        self._question = question
        self._prompt(question)
        return self._next_line(self._lines)

    async def _next_line(self, lines: _Lines) -> str | None:
        line: str | None = None
        try:
            line = await lines.next()
        finally:
            self._question = ""
            if line is None and self.interactive:
                say("")  # the next output must not follow an unanswered question on its line
        return line

    def _prompt(self, text: str) -> None:
        if not self.interactive or sys.stderr is None:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            return


class _Lines:
    """The lines of stdin, read ahead by a thread."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._over = False
        threading.Thread(target=self._read, daemon=True).start()

    async def next(self) -> str | None:
        """Return the next line, None at the end."""
        if self._over:
            return None
        line = await self._queue.get()
        self._over = line is None
        return line

    def _read(self) -> None:
        held = b""
        try:
            descriptor = sys.stdin.fileno()
            while chunk := os.read(descriptor, 4096):
                *lines, held = (held + chunk).split(b"\n")
                for line in lines:
                    self._put(line.decode(errors="replace"))
        except (OSError, ValueError, AttributeError):  # stdin is closed, or was never there
            held = b""
        if held:
            self._put(held.decode(errors="replace"))
        self._put(None)

    def _put(self, line: str | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        except RuntimeError:  # the loop has ended; no dialog is waiting any more
            return
