"""One checker in one session: started on first use, ended with the session."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from pi_diagnostics.linters import ARGUMENTS, findings, run
from pi_diagnostics.lsp import LanguageServer
from pi_diagnostics.rpc import CheckFailure
from pi_process_kit import prepare, start_child

if TYPE_CHECKING:
    from pi_diagnostics.delta import Finding
    from pi_diagnostics.servers import Checker
    from pi_hookspecs import PiContext

State: TypeAlias = Literal["not needed yet", "starting", "ready"]

__all__ = ["LinterRunner", "Runner", "ServerRunner", "runner_of"]

START_LIMIT = 60.0
"""Seconds until a server must have checked its first text, for which it may read the whole project.

Edits do not wait so long for it.
"""
_KNOWN_FILES = 32


class Runner(Protocol):
    """A program that compares the errors of two texts."""

    @property
    def state(self) -> State:
        """Whether it can answer now."""
        ...

    async def errors(self, path: str, old: str | None, new: str, ctx: PiContext) -> tuple[list[Finding], list[Finding]]:
        """Return the errors before and after an edit.

        Args:
            path: The file, absolute.
            old: Its text before; None if it did not exist.
            new: Its text now.
            ctx: The hook's.

        Raises:
            PiError: The program failed, or must not be started.
        """
        ...

    async def stop(self, *, at_once: bool = False) -> None:
        """End the program, if it runs: politely, or at once because it does not work."""
        ...


def runner_of(checker: Checker, program: str) -> Runner:
    """Return the runner of an installed program; nothing is started."""
    return ServerRunner(checker, program) if checker.kind == "server" else LinterRunner(checker, program)


class LinterRunner:
    """Implements ``Runner`` with a process for each text.

    Args:
        checker: What it is.
        program: Its absolute path.
    """

    state: State = "ready"

    def __init__(self, checker: Checker, program: str) -> None:
        self._checker = checker
        self._program = program

    async def errors(self, path: str, old: str | None, new: str, ctx: PiContext) -> tuple[list[Finding], list[Finding]]:
        """See ``Runner``; a text without errors needs no comparison."""
        after = await self._run(path, new, ctx)
        before = await self._run(path, old, ctx) if after and old is not None else []
        return before, after

    async def _run(self, path: str, text: str, ctx: PiContext) -> list[Finding]:
        kind = self._checker.kind
        argv = [self._program, *self._checker.command[1:], *ARGUMENTS[kind], path]
        request = await prepare(ctx, [*argv, "-"] if kind == "ruff" else argv, purpose="lint")
        printed = await run(await start_child(request, stderr="null"), text)
        return findings(kind, printed, self._checker.name)

    async def stop(self, *, at_once: bool = False) -> None:
        """Nothing runs between two texts."""


class ServerRunner:
    """Implements ``Runner`` with a language server.

    Args:
        checker: What it is.
        program: Its absolute path.
    """

    def __init__(self, checker: Checker, program: str) -> None:
        self._checker = checker
        self._program = program
        self._start: asyncio.Task[LanguageServer] | None = None
        self._known: dict[str, tuple[str, list[Finding]]] = {}

    @property
    def state(self) -> State:
        """Starting until it has checked its first text."""
        if self._start is None:
            return "not needed yet"
        return "ready" if self._start.done() else "starting"

    async def errors(self, path: str, old: str | None, new: str, ctx: PiContext) -> tuple[list[Finding], list[Finding]]:
        """See ``Runner``; the errors of the text that it checked last are remembered."""
        if self._start is None:
            self._start = asyncio.create_task(self._started(path, new if old is None else old, ctx))
            self._start.add_done_callback(lambda task: task.cancelled() or task.exception())  # perhaps not awaited
        server = await asyncio.shield(self._start)
        known = dict([self._known[path]] if path in self._known else [])
        unknown = [text for text in (old, new) if text is not None and text not in known]
        if unknown:
            found = await server.check(path, self._language(path), unknown, saved=unknown[-1] == new)
            known.update(zip(unknown, found, strict=True))
        self._remember(path, new, known[new])
        return [] if old is None else known[old], known[new]

    def _remember(self, path: str, text: str, errors: list[Finding]) -> None:
        self._known.pop(path, None)
        self._known[path] = text, errors
        if len(self._known) > _KNOWN_FILES:
            del self._known[next(iter(self._known))]

    def _language(self, path: str) -> str:
        return self._checker.languages[os.path.splitext(path)[1].lower()]

    async def _started(self, path: str, text: str, ctx: PiContext) -> LanguageServer:
        request = await prepare(ctx, [self._program, *self._checker.command[1:]], purpose="lsp")
        child = await start_child(request, stderr="null")
        server = LanguageServer(self._checker.name, child, Path(ctx.cwd))
        try:
            async with asyncio.timeout(START_LIMIT):
                await server.start()
                (errors,) = await server.check(path, self._language(path), [text], saved=False)
        except TimeoutError as error:
            await server.kill()
            raise CheckFailure(f"it was not ready within {START_LIMIT:g} s") from error
        except BaseException:
            await server.kill()
            raise
        self._remember(path, text, errors)
        return server

    async def stop(self, *, at_once: bool = False) -> None:
        """End the server, also one that is just starting."""
        start, self._start = self._start, None
        if start is None:
            return
        if not start.done():
            start.cancel()
            await asyncio.wait({start})
        if not start.cancelled() and start.exception() is None:
            server = start.result()
            await (server.kill() if at_once else server.stop())
