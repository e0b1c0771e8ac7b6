"""Follows the prompts of a session, and notifies when one that the user typed is done."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core import terminal_descriptor
from pi_hookspecs import PiError
from pi_notifications.settings import AFTER, COMMAND, TERMINAL

if TYPE_CHECKING:
    from pi_hookspecs import AgentEndEvent, AgentSettledEvent, InputEvent, PiAPI, PiContext

__all__ = ["Watch"]

_SEQUENCES = {"bell": "\a", "osc9": "\x1b]9;{title}: {body}\a", "osc777": "\x1b]777;notify;{title};{body}\a"}
_LONGEST_RUN = 10.0
"""Seconds after which a command is ended."""


class Watch:
    """The prompts of one session.

    Args:
        pi: Where the hooks are added.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._since: float | None = None
        self._failed = False
        self._running: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Follow the session."""
        for name in ("input", "agent_end", "agent_settled"):
            self._pi.on(name, getattr(self, name))

    def input(self, event: InputEvent) -> None:
        """Remember when the user has typed a prompt; those that plugins write notify of nothing."""
        if event.source == "interactive" and self._since is None:
            self._since, self._failed = time.monotonic(), False

    def agent_end(self, event: AgentEndEvent) -> None:
        """Remember how the last run has ended."""
        self._failed = event.error is not None

    def agent_settled(self, event: AgentSettledEvent, ctx: PiContext) -> None:
        """Notify, unless the user has stopped the prompt, or it was a short one."""
        since, self._since = self._since, None
        least = ctx.settings.get_number(AFTER.name, 5.0, minimum=0)
        if since is None or event.aborted or time.monotonic() - since < least:
            return
        title, body = f"pi: {_plain(ctx.cwd.name)}", "Something went wrong" if self._failed else "Ready for input"
        sequence = _SEQUENCES.get(ctx.settings.get_str(TERMINAL.name, ""))
        if sequence is not None:
            _write(sequence.format(title=title, body=body))
        command = ctx.settings.get_str_list(COMMAND.name)
        if command:
            self._running = asyncio.create_task(_run(command, title, body, ctx))


def _plain(text: str) -> str:
    """Return a text that ends no escape sequence and no field of one."""
    return "".join(each for each in text if each.isprintable() and each != ";")


def _write(sequence: str) -> None:
    # Not stdout: that belongs to the front end, which may be speaking JSON there. A screen replaces sys.stderr, and
    # reads what is written to its descriptor.
    drawn_on = terminal_descriptor()
    if drawn_on is not None:
        with suppress(OSError):
            os.write(drawn_on, sequence.encode())
        return
    terminal = sys.__stderr__
    if terminal is not None and terminal.isatty():
        terminal.write(sequence)
        terminal.flush()


async def _run(command: list[str], title: str, body: str, ctx: PiContext) -> None:
    program, *arguments = command
    try:
        done = await ctx.exec(program, [*arguments, title, body], timeout=_LONGEST_RUN)
    except PiError as error:  # a plugin refuses its start
        reason = str(error)
    else:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.code}"]
        reason = lines[-1] if done.code else ""
    if reason:
        ctx.ui.notify(f"notifications.command {program!r} failed: {reason}", "warning")
