"""Starts the line mode: chooses the input line that the terminal supports, and redirects output around it."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, cast

from prompt_toolkit.application import get_app_session
from prompt_toolkit.history import History
from prompt_toolkit.utils import is_dumb_terminal

from pi_cli.line.above import Above
from pi_cli.line.commands import complete_argument
from pi_cli.line.completing import line_completer
from pi_cli.line.conversation import Conversation
from pi_cli.line.plain import Around, PlainLine
from pi_cli.line.plugin_keys import PluginKeys
from pi_cli.screen import Screen
from pi_core.host.owners import CodeOwners
from pi_core.host.writers import printing_plugin
from pi_hookspecs import PiError
from pi_terminal_kit.prompt_history import PromptFile
from pi_terminal_kit.settings import EXTERNAL_EDITOR
from pi_terminal_kit.streams import StrayLines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from pi_cli.line.terminal import LineInput
    from pi_cli.line.typed import Line
    from pi_cli.options import Options
    from pi_core import AgentSession


__all__ = ["run_line"]


class _PromptHistory(History):
    """Previous input, in the file that the front ends at a terminal share."""

    def __init__(self, file: PromptFile) -> None:
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        """Return previous input, newest first."""
        return reversed(self._file.read())

    def store_string(self, string: str) -> None:
        """Store an input."""
        self._file.append(string)


async def run_line(session: AgentSession, options: Options) -> int:
    """Run the conversation until the user ends it; return the exit code.

    Args:
        session: Not started yet; it is shut down when this returns.
        options: What to send first.
    """
    loop = asyncio.get_running_loop()
    keys = _keys()
    around: Above | Around
    if keys is not None and sys.stdout.isatty() and not is_dumb_terminal():
        from pi_cli.line.terminal import LineOutput

        output = LineOutput.from_pty(sys.stdout, term=os.environ.get("TERM"), enable_bell=False)
        around = Above(sys.stdout, keys, cast("LineOutput", output), loop)
    else:
        _ = get_app_session().output  # made once, of stdout, which is the terminal; stderr may be a file
        around = Around(sys.stdout)
    shared = cast("TextIO", around)
    errors = shared if sys.stderr.isatty() else sys.stderr
    screen = Screen(shared, errors, color=options.color, wraps=isinstance(around, Above))
    conversation = Conversation(session, options, screen)
    conversation.line = _line(conversation, keys, around)
    owners = CodeOwners(session.host)
    owner = lambda: printing_plugin(owners, sys._getframe(2))  # noqa: E731, SLF001 - the documented way to the stack
    stray = StrayLines(sys.stderr, lambda lines, _owner: screen.line(lines), loop, owner)
    try:
        with redirect_stdout(cast("TextIO", stray)), redirect_stderr(cast("TextIO", stray)):
            return await conversation.run()
    finally:
        stray.close()
        around.close()


def _keys() -> LineInput | None:
    """Return the terminal's keys; None if stdin is not a POSIX terminal."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        return None
    from pi_cli.line.terminal import LineInput

    return LineInput(sys.stdin, os.environ.get("TERM", ""))


def _cleaned(session: AgentSession, text: str) -> str | None:
    """Return a redacted text; None if a plugin fails to redact it."""
    try:
        return session.ctx.secrets.clean(text)
    except PiError:
        return None


def _line(conversation: Conversation, keys: LineInput | None, around: Above | Around) -> Line:
    session = conversation.local
    plugin_keys = PluginKeys(session.commands.press_key, conversation.warn)
    kept = session.settings.agent_dir / "prompt-history.jsonl"
    parts: dict[str, Any] = {
        "history": _PromptHistory(PromptFile(kept, conversation.warn, lambda text: _cleaned(session, text))),
        "completer": line_completer(
            conversation.known_commands,
            lambda name, typed: complete_argument(conversation, name, typed),
            session.completions.mentions,
            lambda: session.cwd,
        ),
        "plugin_keys": lambda: plugin_keys.bindings(session.commands.shortcuts()),
    }
    if keys is None or not isinstance(around, Above):
        return PlainLine(keys, cast("Around", around), on_interrupt=conversation.interrupt, **parts)
    from pi_cli.line.held import HeldLine

    return HeldLine(
        keys,
        around,
        view=conversation.view,
        actions=conversation,
        editor=lambda: _editor(session),
        color=conversation.options.color,
        **parts,
    )


def _editor(session: AgentSession) -> str:
    from pi_terminal_kit.outside_editor import editor_command

    return editor_command(EXTERNAL_EDITOR.read(session.settings), os.environ)
