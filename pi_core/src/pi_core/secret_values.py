"""Where a configured key or header comes from: a literal, the environment, or a command (pi.md, sections 5 and 17)."""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SecretValues"]

COMMAND_SECONDS = 10.0
"""How long a ``!command`` may take."""

MOST_BYTES = 65_536
"""How much it may print."""

_REFERENCE = re.compile(r"\$(?:(?P<escaped>[$!])|(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})")


class SecretValues:
    """Resolves configured values; a command runs once and its output is kept as long as this object.

    ``!command`` is the trimmed output of a shell command. ``$NAME`` and ``${NAME}`` stand for environment
    variables, ``$$`` and ``$!`` for themselves. A bare text that is the name of a set variable means
    that variable, as older configurations have it; any other text means itself.

    Args:
        environ: Where variables are looked up; the process's environment when None.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._outputs: dict[str, asyncio.Task[str]] = {}

    async def resolve(self, value: str) -> str | None:
        """Return what a value stands for; None when a variable that it names is not set.

        Raises:
            UserError: The command failed, took too long or printed nothing; the message names it, never
                its output.
        """
        if value.startswith("!"):
            return await self._output_of(value[1:].strip())
        if "$" not in value:
            return self._environ.get(value) or value
        return self._interpolated(value)

    def missing(self, value: str) -> list[str]:
        """Return the variables that a value names and that are not set; a command is not run to find out."""
        if value.startswith("!"):
            return []
        names = (match["name"] or match["braced"] for match in _REFERENCE.finditer(value))
        return [name for name in names if name and not self._environ.get(name)]

    def _interpolated(self, value: str) -> str | None:
        missing = False

        def stand_in(match: re.Match[str]) -> str:
            nonlocal missing
            if match["escaped"]:
                return match["escaped"]
            found = self._environ.get(match["name"] or match["braced"])
            missing = missing or not found
            return found or ""

        resolved = _REFERENCE.sub(stand_in, value)
        return None if missing else resolved

    async def _output_of(self, command: str) -> str:
        if command not in self._outputs:
            self._outputs[command] = asyncio.ensure_future(_run(command, self._environ))
        try:
            return await asyncio.shield(self._outputs[command])
        except UserError:
            self._outputs.pop(command, None)  # the next request may find the password store unlocked
            raise


async def _run(command: str, environ: Mapping[str, str]) -> str:
    try:
        process = await asyncio.create_subprocess_shell(
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: it has a NUL in it
        message = f"The key command {command!r} cannot be started: {error}."
        raise UserError(message) from error
    try:
        printed = await asyncio.wait_for(_printed(process), COMMAND_SECONDS)
    except TimeoutError:
        _kill(process.pid)  # the shell may have ended and left the pipe to a child
        message = f"The key command {command!r} gave no answer within {COMMAND_SECONDS:g} s. Run it by hand to see why."
        raise UserError(message) from None
    finally:
        if process.returncode is None:
            _kill(process.pid)
            await process.wait()
    if len(printed) > MOST_BYTES:
        message = f"The key command {command!r} prints more than {MOST_BYTES} bytes, which is no key. Run it by hand."
        raise UserError(message)
    text = printed.decode(errors="replace").strip()
    if process.returncode or not text:
        what = f"failed with exit code {process.returncode}" if process.returncode else "printed nothing"
        message = f"The key command {command!r} {what}. Run it by hand to see why."
        raise UserError(message)
    return text


async def _printed(process: asyncio.subprocess.Process) -> bytes:
    """Return what a process prints, to the end of both; of too much, only a little more than is allowed."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    printed = b""
    while piece := await process.stdout.read(MOST_BYTES):
        printed += piece
        if len(printed) > MOST_BYTES:
            return printed
    await process.wait()
    return printed


def _kill(pid: int) -> None:
    """End the command and what it started: it has a process group of its own."""
    from contextlib import suppress
    from signal import SIGKILL

    with suppress(ProcessLookupError):
        os.killpg(pid, SIGKILL)
