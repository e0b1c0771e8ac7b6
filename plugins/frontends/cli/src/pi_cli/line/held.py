"""The input line, kept at the bottom of the terminal for the whole conversation, below all output.

A single prompt_toolkit application reads the keys throughout, so that no key is lost between two lines.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from typing import TYPE_CHECKING, Any, Self

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal, run_in_terminal
from prompt_toolkit.filters import Always
from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
from prompt_toolkit.key_binding.key_bindings import DynamicKeyBindings

from pi_cli.line.clusters import add_cluster_keys
from pi_cli.line.hidden import ShowHidden
from pi_cli.line.keys import own_keys
from pi_cli.line.typed import Interrupted, Typed
from pi_cli.words import shorten
from pi_cli.wrap import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prompt_toolkit.completion import Completer
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.history import History

    from pi_cli.line.above import Above
    from pi_cli.line.terminal import LineInput
    from pi_cli.line.typed import Actions, View

__all__ = ["HeldLine"]

_ESCAPE_SECONDS = 0.1
"""Seconds to wait after Escape for the rest of a key's escape sequence."""

_ROWS = 6
"""Maximum rows of an unfinished line of output above the input line; it may be a megabyte long."""

_STYLES = {"": "", "dim": "dim", "thinking": "dim italic", "added": "ansigreen", "removed": "ansired"}

_SGR = re.compile(r"\x1b\[[0-9;]*m")


class HeldLine:
    """Implements ``Line``.

    Args:
        keys: The terminal's input.
        above: The output above the line, with the terminal's output that both draw to.
        view: The status and progress rows around it.
        actions: The actions of the keys.
        history: Previous input.
        completer: Completions for Tab.
        plugin_keys: Returns the bindings of plugins.
        editor: Returns the command of the user's editor.
        color: Whether text may be styled.
    """

    held = True

    def __init__(
        self,
        keys: LineInput,
        above: Above,
        *,
        view: View,
        actions: Actions,
        history: History,
        completer: Completer,
        plugin_keys: Callable[[], KeyBindings],
        editor: Callable[[], str],
        color: bool,
    ) -> None:
        self._input, self._output = keys, above.output
        self._above = above
        self._view = view
        self._actions = actions
        self._color = color
        self._editor = editor
        self._sent: asyncio.Queue[Typed] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self._question: PromptSession[str] | None = None
        self._running: asyncio.Future[str] | None = None
        self._editing: asyncio.Future[None] | None = None
        own = own_keys(actions, self._send, self._edit)
        self._session: PromptSession[str] = PromptSession(
            self._message,
            multiline=True,
            history=history,
            completer=completer,
            complete_while_typing=False,
            enable_suspend=True,
            input_processors=[ShowHidden()],
            erase_when_done=True,
            key_bindings=merge_key_bindings([own, DynamicKeyBindings(plugin_keys)]),
            input=self._input,
            output=self._output,
        )
        self._session.app.ttimeoutlen = self._session.app.timeoutlen = _ESCAPE_SECONDS
        self._session.app.terminal_size_polling_interval = None  # a signal tells; this would wake pi twice a second

    # Life cycle

    async def __aenter__(self) -> Self:
        self._above.begin(self._session.app)
        self._running = asyncio.ensure_future(
            self._session.prompt_async(set_exception_handler=False, handle_sigint=False)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._running is not None  # noqa: S101 - set by __aenter__
        self.dismiss()
        if self.text.strip():
            self._session.default_buffer.append_to_history()  # unsent input, kept for the next run
        app = self._session.app
        if app.is_running and not app.is_done:
            app.exit(result="")
        else:
            self._running.cancel()
        await asyncio.wait([self._running])
        self._above.end(self._session.app)

    # Input

    async def next(self) -> Typed:
        """Wait for the next input that the user sends."""
        assert self._running is not None  # noqa: S101 - as above
        sent: asyncio.Future[Any] = asyncio.ensure_future(self._sent.get())
        try:
            await asyncio.wait([sent, self._running], return_when=asyncio.FIRST_COMPLETED)
            if sent.done():
                typed: Typed = sent.result()
                return typed
            self._running.result()  # raises EOFError when the terminal is gone
            raise EOFError
        finally:
            sent.cancel()

    @property
    def lent(self) -> bool:
        """Whether an external editor uses the terminal."""
        return self._input.lent

    @property
    def text(self) -> str:
        """The unsent input."""
        return self._session.default_buffer.text

    def put(self, text: str) -> None:
        """Replace the text on the line."""
        from prompt_toolkit.document import Document

        self._session.default_buffer.document = Document(text, len(text))
        self._session.app.invalidate()

    def control(self, sequence: str) -> None:
        """Send the terminal an escape sequence."""
        self._output.write_raw(sequence)
        self._output.flush()

    def clear(self) -> None:
        """Clear the line; its text is added to the history."""
        self._session.default_buffer.reset(append_to_history=True)
        self._session.app.invalidate()

    def draw(self) -> None:
        """Redraw the line and the rows around it."""
        self._session.app.invalidate()

    def refresh(self, *, busy: bool) -> None:
        """Redraw the line; while pi is busy, Ctrl-C sends a signal."""
        self._input.set_signals(busy)
        self.draw()

    def _send(self, follow_up: bool) -> None:  # noqa: FBT001 - the two keys differ only in this
        buffer = self._session.default_buffer
        typed = Typed(buffer.text, follow_up)
        buffer.reset(append_to_history=bool(typed.text.strip()))
        self._sent.put_nowait(typed)

    def _edit(self) -> None:
        async def edit() -> None:
            from pi_terminal_kit.outside_editor import EditorFailed, edit_outside

            command = self._editor()
            try:
                self.put(await edit_outside(self.text, command, _run_at_terminal))
            except EditorFailed as error:
                self._actions.write_line(f"Error: {error}. Your text is unchanged.")

        if self._editing is None or self._editing.done():
            self._editing = asyncio.ensure_future(edit())

    # Questions

    async def ask(self, question: str, *, secret: bool = False, draft: str = "") -> str | None:
        """Return the answer to a question, None when it is dismissed; the unsent input is restored afterwards."""
        keys = KeyBindings()
        keys.add("escape")(lambda _event: self.dismiss())
        add_cluster_keys(keys, Always())
        async with self._turn:
            asked: PromptSession[str] = PromptSession(
                is_password=secret,
                input_processors=[ShowHidden()],
                key_bindings=keys,
                interrupt_exception=Interrupted,
                input=self._input.for_a_question(),
                output=self._output,
            )
            asked.app.ttimeoutlen = asked.app.timeoutlen = _ESCAPE_SECONDS
            self._input.stays_raw = True
            try:
                async with in_terminal():
                    return await self._answered(asked, question, draft)
            finally:
                self._input.stays_raw = False
                self._input.apply()  # apply changes made during the question

    async def _answered(self, asked: PromptSession[str], question: str, draft: str) -> str | None:
        self._question = asked
        self._above.begin(asked.app)
        try:
            return await asked.prompt_async(question, default=draft, set_exception_handler=False, handle_sigint=False)
        except (EOFError, Interrupted):
            return None
        finally:
            self._question = None
            self._above.end(asked.app)

    def dismiss(self) -> bool:
        """Dismiss the open question; return whether there was one."""
        if self._question is None or not self._question.app.is_running or self._question.app.is_done:
            return False
        self._question.app.exit(exception=Interrupted())
        return True

    # Drawing

    def _message(self) -> StyleAndTextTuples:
        width = self._output.get_size().columns
        fragments: StyleAndTextTuples = []
        row = _SGR.sub("", self._above.row)
        if row:
            style = self._styled("thinking" if row != self._above.row else "")
            fragments += [(style, f"{each}\n") for each in folded(row.expandtabs(), width).split("\n")[-_ROWS:]]
        fragments += [(self._styled(style), f"{shorten(text, width)}\n") for style, text in self._view.rows(width)]
        return [*fragments, ("", "> ")]

    def _styled(self, style: str) -> str:
        return _STYLES[style] if self._color else ""


async def _run_at_terminal(words: Sequence[str]) -> int:
    """Run a program that takes over the terminal, and return its exit code.

    Raises:
        OSError: It cannot be started.
    """
    return await run_in_terminal(lambda: subprocess.call(words), in_executor=True)  # noqa: S603 - the user's editor
