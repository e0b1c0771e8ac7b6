"""The process that runs one script: started early, confined by the kernel, killed when the script ends."""

from __future__ import annotations

import asyncio
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_client.framing import LineSplitter
from pi_hookspecs import PiError
from pi_process_kit import ProcessFailure, confined, confinement_abi, prepare, start_child

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pi_hookspecs import PiContext
    from pi_process_kit import Child

__all__ = ["ScriptProcess", "can_confine", "start_process"]

MAX_LINE = 64 << 20
"""Bytes of a message of the script: arguments of a call, or its value."""

_CHUNK = 1 << 18
_LAST_WORDS = 2000
_END_SECONDS = 2.0
"""Seconds in which a script that has closed its output ends, or else counts as one that goes on."""
_PACKAGES = {"site-packages", "dist-packages"}
"""Folders of installed packages, whose libraries scripts do not need."""
_KEPT = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ")
"""Variables that a script sees. It calls tools for everything else, so it needs no keys."""


def can_confine() -> bool:
    """Whether the kernel can keep scripts from files, sockets, other processes and starting more of them."""
    return confinement_abi() > 0


def _command() -> tuple[str, ...]:
    """Return the command of the script's process: it can read Python's standard library, and nothing else."""
    script = Path(__file__).resolve().parent / "child" / "script_host.py"
    python = (str(Path(sys.executable).resolve()), "-I", "-S", "-X", "utf8", str(script))
    if not can_confine():
        return python
    needed = {str(script.parent), python[0], sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    system = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom")
    read = (*sorted(needed | _library_folders()), *system)
    return confined(python, read=read, write=("/dev/null",), sockets="none", processes=False, attributes=False)


def _library_folders() -> set[str]:
    """Return the folders of the shared libraries of this Python, where those of its standard library are, too."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    files = {Path(line.split(maxsplit=5)[5]) for line in maps.splitlines() if ".so" in line}
    return {str(each.parent) for each in files if each.is_absolute() and not _PACKAGES & {*each.parts}}


async def start_process(ctx: PiContext) -> ScriptProcess:
    """Start a process that waits for a script.

    Raises:
        PiError: A plugin refused it, or it cannot be started.
    """
    request = await prepare(ctx, _command(), purpose="codemode")
    environ = {name: value for name, value in request.env.items() if name in _KEPT}
    child = await start_child(evolve(request, env=environ))
    process = ScriptProcess(child)
    try:
        await process.ready()
    except BaseException:
        process.kill()
        raise
    return process


class ScriptProcess:
    """A process that waits for a script, or runs it.

    Args:
        child: The program with its pipes.
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self._splitter = LineSplitter(MAX_LINE)
        self._lines: list[bytes | None] = []
        self._last_words = b""
        self._errors = asyncio.get_running_loop().create_task(self._read_errors())

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._child.exit_code is None

    async def ready(self) -> None:
        """Return when it waits for a script.

        Raises:
            PiError: It ended first.
        """
        async for message in self.messages():
            if message.get("type") == "ready":
                return
        raise ProcessFailure(f"The process for scripts could not be started: {await self.why_it_ended()}.")

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; one to a process that has ended is dropped."""
        import orjson

        with suppress(OSError, RuntimeError):
            self._child.stdin.write(orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE))
            await self._child.stdin.drain()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the messages until the process ends.

        Raises:
            PiError: It wrote what is no message.
        """
        import orjson

        while True:
            while self._lines:
                line = self._lines.pop(0)
                try:
                    message = None if line is None else orjson.loads(line)
                except ValueError:
                    message = None
                if not isinstance(message, dict):
                    raise PiError(f"The script's process wrote a message that is invalid or over {MAX_LINE >> 20} MB.")
                yield message
            chunk = await self._child.stdout.read(_CHUNK)
            if not chunk:
                return
            self._lines += self._splitter.feed(chunk)
            if self._splitter.is_too_long:
                self._lines.append(None)

    def kill(self) -> None:
        """End it, with everything that it started."""
        self._child.kill()
        self._child.close()
        self._errors.cancel()

    async def why_it_ended(self) -> str:
        """Return how it ended, as the end of a sentence."""
        with suppress(TimeoutError, PiError):
            async with asyncio.timeout(_END_SECONDS):
                code = await self._child.wait()
                await asyncio.wait({self._errors}, timeout=0.2)
                words = self._last_words.decode("utf-8", "replace").strip()
                return f"it ended with exit code {code}{f' and wrote: {words}' if words else ''}"
        return "it closed its output"

    async def _read_errors(self) -> None:
        assert self._child.stderr is not None  # noqa: S101 - it is started with this pipe
        with suppress(OSError):
            while chunk := await self._child.stderr.read(_CHUNK):
                self._last_words = (self._last_words + chunk)[-_LAST_WORDS:]
