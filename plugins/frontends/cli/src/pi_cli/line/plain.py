"""The input line on a terminal without cursor movement, or on no terminal: input and work alternate.

Input typed meanwhile is not echoed into pi's output: it appears on the next line.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.keys import Keys
from prompt_toolkit.utils import is_dumb_terminal

from pi_cli.line.hidden import ShowHidden
from pi_cli.line.typed import Interrupted, Typed
from pi_terminal_kit.streams import StandIn

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import TextIO

    from prompt_toolkit.completion import Completer
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings

    from pi_cli.line.terminal import LineInput

__all__ = ["Around", "PlainLine"]

_PROMPT = "> "


class _MakeWay(Exception):
    """The line is needed for a dialog."""


class Around(StandIn):
    """A stream that prints around the line being typed: on a new row, followed by the line again.

    Args:
        stream: The destination; if it is not a terminal, text is written directly at any time.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._shares = stream.isatty()
        self._typing: PromptSession[str] | None = None
        self._prompt = ""
        self._begun = ""

    def write(self, text: str) -> int:
        """Write text; while a line is being typed, only whole rows."""
        if self._typing is None or not self._shares:
            return self._stream.write(text)
        rows, end, self._begun = (self._begun + text).rpartition("\n")
        if end:
            self._stream.write(f"\n{rows}\n{self._prompt}{self._typing.default_buffer.text}")
            self._stream.flush()
        return len(text)

    def flush(self) -> None:
        """Flush what was written."""
        self._stream.flush()

    def begin(self, typing: PromptSession[str], prompt: str) -> None:
        """Start writing around this line."""
        self._typing, self._prompt = typing, prompt

    def end(self) -> None:
        """Write directly again."""
        self._typing = None
        if self._begun:
            self._stream.write(self._begun)
            self._begun = ""
            self._stream.flush()

    def close(self) -> None:
        """Flush pending text."""
        self.end()


class PlainLine:
    """Implements ``Line``.

    Args:
        terminal: Its keys; None if stdin is not a terminal.
        around: The output around the line.
        history: Previous input.
        completer: Completions for Tab.
        plugin_keys: Returns the bindings of plugins.
        on_interrupt: Called when Ctrl-C was typed after a line, before it had become a signal.
    """

    held = False
    lent = False

    def __init__(
        self,
        terminal: LineInput | None,
        around: Around,
        *,
        history: History | None = None,
        completer: Completer | None = None,
        plugin_keys: Callable[[], KeyBindings] | None = None,
        on_interrupt: Callable[[], object] = bool,
    ) -> None:
        self._input = terminal
        self._around = around
        self._plugin_keys = plugin_keys
        self._on_interrupt = on_interrupt
        self._turn = asyncio.Lock()
        self._draft = ""
        self._open: PromptSession[str] | None = None
        self._question: PromptSession[str] | None = None
        self._silence: AbstractContextManager[Any] = nullcontext()
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=completer,
            complete_while_typing=False,
            enable_suspend=True,
            input_processors=[ShowHidden()],
            interrupt_exception=Interrupted,
            input=terminal,
        )

    async def __aenter__(self) -> Self:
        self._silence = self._input.raw_mode() if self._input is not None else nullcontext()
        self._silence.__enter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._silence.__exit__(None, None, None)

    async def next(self) -> Typed:
        """Return the next line, with the following ones while each ends in a backslash."""
        lines = [await self._read(_PROMPT)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(await self._read(". "))
        return Typed("\n".join(lines))

    async def _read(self, prompt: str) -> str:
        while True:
            async with self._turn:
                self._open = self._session
                if self._plugin_keys is not None:
                    self._session.key_bindings = self._plugin_keys()
                draft, self._draft = self._draft, ""
                try:
                    return await self._typed(self._session, prompt, draft)
                except _MakeWay:
                    self._draft = self._session.default_buffer.text
                except Interrupted:
                    raise Interrupted(self._session.default_buffer.text) from None
                finally:
                    self._open = None

    async def ask(self, question: str, *, secret: bool = False, draft: str = "") -> str | None:
        """Return the answer to a question; None if it is dismissed."""
        if self._open is not None:
            _end_line(_MakeWay())
        async with self._turn:
            asked: PromptSession[str] = PromptSession(
                interrupt_exception=Interrupted,
                is_password=secret,
                input_processors=[ShowHidden()],
                input=self._input,
            )
            self._question = asked
            try:
                return await self._typed(asked, question, draft)
            except (EOFError, Interrupted):
                return None
            finally:
                self._question = None

    async def _typed(self, session: PromptSession[str], prompt: str, draft: str) -> str:
        loop = asyncio.get_running_loop()
        # Errors of background tasks stay the loop's; the library would stop everything and show a traceback.
        loop.call_soon(loop.set_exception_handler, loop.get_exception_handler())
        text = f"{prompt}{draft}" if is_dumb_terminal() else prompt  # there the library does not show the draft
        self._around.begin(session, prompt)
        try:
            return await session.prompt_async(text, default=draft, handle_sigint=False)
        finally:
            self._around.end()

    def dismiss(self) -> bool:
        """Dismiss the open question; return whether there was one."""
        return self._question is not None and _end_line(Interrupted())

    @property
    def text(self) -> str:
        """The unsent input."""
        return self._open.default_buffer.text if self._open is not None else self._draft

    def put(self, text: str) -> None:
        """Set the text of the next line."""
        self._draft = text

    def control(self, sequence: str) -> None:
        """Do nothing: a plain terminal might print the sequence."""

    def clear(self) -> None:
        """Discard the draft of the next line."""
        self._draft = ""

    def draw(self) -> None:
        """Do nothing: nothing is drawn around a plain line."""

    def refresh(self, *, busy: bool) -> None:
        """Let Ctrl-C be a signal while pi works."""
        if self._input is None:
            return
        self._input.set_signals(busy)
        if busy and self._open is None and self._question is None and self._was_interrupted(self._input):
            asyncio.get_running_loop().call_soon(self._on_interrupt)

    @staticmethod
    def _was_interrupted(terminal: LineInput) -> bool:
        """Whether a Ctrl-C was typed before it became a signal; other pending input is kept for the next line."""
        typed = [*get_typeahead(terminal), *terminal.read_waiting()]
        last = max((place for place, each in enumerate(typed) if each.key == Keys.ControlC), default=-1)
        store_typeahead(terminal, typed[last + 1 :])
        return last >= 0


def _end_line(error: Exception) -> bool:
    """End the line that is being typed; return False if there is none."""
    app = get_app_or_none()
    if app is None or not app.is_running or app.is_done:
        return False
    app.exit(exception=error)
    return True
