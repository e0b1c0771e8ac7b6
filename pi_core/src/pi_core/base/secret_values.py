"""Where a configured key or header comes from: a literal, the environment, or a command."""

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

_END_SECONDS = 1.0
"""How long the end of one that was killed is waited for."""

_REFERENCE = r"\$(?:(?P<escaped>[$!])|(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})"


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
        names = (match["name"] or match["braced"] for match in re.finditer(_REFERENCE, value))
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

        resolved = re.sub(_REFERENCE, stand_in, value) if "$" in value else value
        return None if missing else resolved

    async def _output_of(self, command: str) -> str:
        output = self._outputs.get(command)
        if output is None or output.cancelled():  # its event loop ended before it did
            output = self._outputs[command] = asyncio.ensure_future(_run(command, self._environ))
        try:
            return await asyncio.shield(output)
        except UserError:
            self._outputs.pop(command, None)  # the next request may find the password store unlocked
            raise


async def _run(command: str, environ: Mapping[str, str]) -> str:
    loop = asyncio.get_running_loop()
    try:
        transport, output = await loop.subprocess_shell(
            lambda: _Output(loop),
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: it has a NUL in it
        message = f"The key command {command!r} cannot be started: {error}."
        raise UserError(message) from error
    try:
        await asyncio.wait_for(output.ended, COMMAND_SECONDS)
    except TimeoutError:
        _kill(transport.get_pid())  # the shell may have ended and left the pipe to a child
        message = f"The key command {command!r} gave no answer within {COMMAND_SECONDS:g} s. Run it by hand to see why."
        raise UserError(message) from None
    finally:
        if transport.get_returncode() is None:
            _kill(transport.get_pid())
            await asyncio.wait([output.exited], timeout=_END_SECONDS)
        transport.close()  # a child that got away may have the pipe still
    return _key_in(output.printed, command, transport.get_returncode())


def _key_in(printed: bytes, command: str, exit_code: int | None) -> str:
    text = printed.decode(errors="replace").strip()
    if len(printed) > MOST_BYTES:
        what = f"printed more than {MOST_BYTES} bytes, which is no key"
    elif exit_code:
        what = f"failed with exit code {exit_code}"
    elif not text:
        what = "printed nothing"
    else:
        return text
    message = f"The key command {command!r} {what}. Run it by hand to see why."
    raise UserError(message)


class _Output(asyncio.SubprocessProtocol):
    """What a command prints, until it has ended and closed its output, or has printed too much."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.printed = b""
        self.ended: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.printed += data
        if len(self.printed) > MOST_BYTES:
            self._end()

    def process_exited(self) -> None:
        self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


def _kill(pid: int) -> None:
    """End the command and what it started: it has a process group of its own."""
    from contextlib import suppress
    from signal import SIGKILL

    with suppress(ProcessLookupError):
        os.killpg(pid, SIGKILL)
