"""Resolution of configured keys and headers: a literal, environment variables, or the output of a command."""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.base.process.start_policies import StartPolicies

__all__ = ["ConfiguredValues", "variables_in"]

COMMAND_SECONDS = 10.0
"""Timeout of a ``!command``."""

MOST_BYTES = 65_536
"""Maximum size of the output of a ``!command``."""

_END_SECONDS = 1.0
"""How long to wait for the exit of a killed command."""

_REFERENCE = r"\$(?:(?P<escaped>[$!])|(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})"


class ConfiguredValues:
    """Resolves configured values. A command runs once, and its output is cached.

    ``!command`` is replaced by the trimmed output of a shell command, ``$NAME`` and ``${NAME}`` by environment
    variables, ``$$`` by ``$`` and ``$!`` by ``!``. A text that is the name of a set variable is replaced by the value
    of that variable, as in older configurations; any other text is a literal.

    Args:
        environ: The environment variables; None uses the environment of the process.
        policies: The policies that are consulted before a command is started; None consults no policy.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, policies: StartPolicies | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._policies = policies
        self._outputs: dict[str, asyncio.Task[str]] = {}

    async def resolve(self, value: str) -> str | None:
        """Return the resolved value; None if a variable in it is not set.

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
        """Return the variables in a value that are not set, without running a command."""
        return [name for name in variables_in(value) if not self._environ.get(name)] if "$" in value else []

    def _interpolated(self, value: str) -> str | None:
        missing = False

        def substitute(match: re.Match[str]) -> str:
            nonlocal missing
            if match["escaped"]:
                return match["escaped"]
            found = self._environ.get(match["name"] or match["braced"])
            missing = missing or not found
            return found or ""

        resolved = re.sub(_REFERENCE, substitute, value) if "$" in value else value
        return None if missing else resolved

    async def _output_of(self, command: str) -> str:
        output = self._outputs.get(command)
        if output is None or output.cancelled():  # its event loop ended before the command did
            output = self._outputs[command] = asyncio.ensure_future(_run(command, self._environ, self._policies))
        try:
            return await asyncio.shield(output)
        except PiError:
            self._outputs.pop(command, None)  # the next request may find the password store unlocked
            raise


def variables_in(value: str) -> list[str]:
    """Return the names of the variables that a value refers to, or may be the name of."""
    if value.startswith("!"):
        return []
    if "$" not in value:
        return [value] if value.isidentifier() else []
    names = (match["name"] or match["braced"] for match in re.finditer(_REFERENCE, value))
    return [name for name in names if name]


async def _start(
    command: str, environ: Mapping[str, str], policies: StartPolicies | None
) -> tuple[asyncio.SubprocessTransport, _Output]:
    loop = asyncio.get_running_loop()
    options: dict[str, Any] = {
        "stdin": asyncio.subprocess.DEVNULL,
        "stderr": asyncio.subprocess.DEVNULL,
        "start_new_session": True,
    }
    if policies is None or not policies.present:
        return await loop.subprocess_shell(lambda: _Output(loop), command, env=dict(environ), **options)
    request = await policies.prepare(command, environ)
    return await loop.subprocess_exec(
        lambda: _Output(loop), *request.argv, cwd=request.cwd, env=dict(request.env), **options
    )


async def _run(command: str, environ: Mapping[str, str], policies: StartPolicies | None) -> str:
    try:
        transport, output = await _start(command, environ, policies)
    except (OSError, ValueError) as error:  # ValueError: it contains a NUL
        message = f"The key command {command!r} cannot be started: {error}."
        raise UserError(message) from error
    try:
        await asyncio.wait_for(output.ended, COMMAND_SECONDS)
    except TimeoutError:
        _kill(transport.get_pid())  # the shell may have exited while a child still has the pipe
        message = f"The key command {command!r} did not finish within {COMMAND_SECONDS:g} s. Run it by hand to see why."
        raise UserError(message) from None
    finally:
        if transport.get_returncode() is None:
            _kill(transport.get_pid())
            await asyncio.wait([output.exited], timeout=_END_SECONDS)
        transport.close()  # a child that was not killed may still hold the pipe
    return _key_in(output.printed, command, transport.get_returncode())


def _key_in(printed: bytes, command: str, exit_code: int | None) -> str:
    text = printed.decode(errors="replace").strip()
    if len(printed) > MOST_BYTES:
        what = f"printed more than {MOST_BYTES} bytes, which is too much for a key"
    elif exit_code:
        what = f"failed with exit code {exit_code}"
    elif not text:
        what = "printed nothing"
    else:
        return text
    message = f"The key command {command!r} {what}. Run it by hand to see why."
    raise UserError(message)


class _Output(asyncio.SubprocessProtocol):
    """Collects the output of a command until the command has exited and closed it, or has printed too much."""

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
    """Kill the command and its children, which share its process group."""
    from contextlib import suppress
    from signal import SIGKILL

    with suppress(ProcessLookupError):
        os.killpg(pid, SIGKILL)
