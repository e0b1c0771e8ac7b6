"""The line of the terminal that somebody types on: one at a time types there, and text goes above it meanwhile.

Plugins may write, ask and let the model answer at any time, also while the user is in the middle of a word.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.patch_stdout import StdoutProxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

__all__ = ["Above", "Interrupted", "TypingLine"]


class Interrupted(Exception):
    """Ctrl-C on the line. No ``KeyboardInterrupt``: as the end of a task that one ends the event loop."""


class _MakeWay(Exception):
    """The line is wanted for a question."""


class Above:
    """A stream whose text goes above the line that is being typed on, while there is one; else it is the stream itself.

    Args:
        stream: Where to. One that is no terminal gets its text directly, at any time.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shares = stream.isatty()
        self._line: StdoutProxy | None = None

    def write(self, text: str) -> int:
        """Write text; above the line that is being typed on only whole lines are shown."""
        return (self._line or self._stream).write(text)

    def flush(self) -> None:
        """Show what was written."""
        if self._line is None:
            self._stream.flush()

    def beside(self, line: StdoutProxy | None) -> None:
        """Write above a line from now on; None when nobody types any more."""
        if self._shares:
            self._line = line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class TypingLine:
    """Lets one at a time type on the terminal.

    Args:
        streams: What else is written to the terminal.
    """

    def __init__(self, *streams: Above) -> None:
        self._streams = streams
        self._turn = asyncio.Lock()
        self._conversation: PromptSession[str] | None = None

    async def read(self, session: PromptSession[str], prompt: str, draft: str = "") -> str:
        """Return the next line of the conversation. It makes way for questions, and what was typed so far stays.

        Raises:
            EOFError: Ctrl-D, or the terminal is gone.
            Interrupted: Ctrl-C.
        """
        while True:
            async with self._turn:
                self._conversation = session
                try:
                    return await self._typed(session, prompt, draft)
                except _MakeWay:
                    draft = session.default_buffer.text
                finally:
                    self._conversation = None

    async def answer(self, question: str) -> str | None:
        """Return what is typed after a question; None when nobody wants to answer."""
        conversation = self._conversation.app if self._conversation is not None else None
        if conversation is not None and conversation.is_running and not conversation.is_done:
            conversation.exit(exception=_MakeWay())
        async with self._turn:
            try:
                return await self._typed(PromptSession(interrupt_exception=Interrupted), question)
            except (EOFError, Interrupted):
                return None

    async def _typed(self, session: PromptSession[str], prompt: str, draft: str = "") -> str:
        loop = asyncio.get_running_loop()
        # Errors that nobody waits for stay what they are; the library would stop everything and show a traceback.
        loop.call_soon(loop.set_exception_handler, loop.get_exception_handler())
        with self._beside():
            return await session.prompt_async(prompt, default=draft, handle_sigint=False)

    @contextmanager
    def _beside(self) -> Iterator[None]:
        with StdoutProxy(raw=True) as proxy:
            for stream in self._streams:
                stream.beside(proxy)
            try:
                yield
            finally:
                for stream in self._streams:
                    stream.beside(None)
                proxy.flush()
