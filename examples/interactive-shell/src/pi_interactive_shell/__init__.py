"""Gives the terminal to programs that need it: `!vim notes.md`, or `!i COMMAND` for any other command."""

import asyncio
from collections.abc import Callable, Mapping

from pi_hookspecs import AbortSignal, UserBashEvent, UserBashResult, hookimpl

INTERACTIVE = {"vi", "vim", "nvim", "nano", "emacs", "less", "more", "man", "top", "htop", "psql", "lazygit", "tig"}


class Terminal:
    """Runs one command that inherits standard input and output: it talks to the user, and none of it is seen here."""

    def __init__(self, command: str) -> None:
        self.command = command

    async def exec(
        self,
        command: str,
        cwd: str,
        *,
        on_data: Callable[[bytes], None],
        signal: AbortSignal,
        timeout: float | None,
        env: Mapping[str, str],
    ) -> int:
        """What pi asks of operations that stand in place of its own shell."""
        process = await asyncio.create_subprocess_shell(self.command, cwd=cwd, env=dict(env))
        forget = signal.on_abort(process.terminate)
        try:
            code = await process.wait()
        finally:
            forget()
        signal.raise_if_aborted()
        on_data(b"(interactive: the output was not captured)")
        return code if code >= 0 else 128 - code


@hookimpl
def user_bash(event: UserBashEvent) -> UserBashResult | None:
    first, _, rest = event.command.strip().partition(" ")
    if first == "i":
        return UserBashResult(operations=Terminal(rest))
    return UserBashResult(operations=Terminal(event.command)) if first in INTERACTIVE else None
