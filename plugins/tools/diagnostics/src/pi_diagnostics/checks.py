"""The checkers of a session: which exist, how long an edit waits for them, and which are disabled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from attrs import define, field

from pi_diagnostics.delta import new_findings
from pi_diagnostics.options import read_options
from pi_diagnostics.runners import Runner, runner_of
from pi_diagnostics.servers import Checker, find_program, wanted
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_diagnostics.delta import Finding
    from pi_hookspecs import PiContext

__all__ = ["Checks"]


@define(eq=False)
class _Used:
    """A program that is used in this session.

    Attributes:
        left_out: Why it is not used any more.
        was_awaited: Whether an edit has waited in vain for its start: no other one does.
        unseen: Texts of files before the edits that it has not seen because it was starting; None for no file.
    """

    checker: Checker
    program: str
    runner: Runner
    left_out: str | None = None
    was_awaited: bool = False
    unseen: dict[str, str | None] = field(factory=dict)

    @property
    def state(self) -> str:
        """What a user reads about it."""
        if self.left_out is not None:
            return f"left out: {self.left_out}"
        return f"{self.runner.state}, {self.program}"


class Checks:
    """Finds the errors that edits introduced.

    Args:
        ctx: A hook's; the settings, the project and its trust are read once.
    """

    def __init__(self, ctx: PiContext) -> None:
        self._cwd = ctx.cwd
        self._trusted = ctx.is_project_trusted()
        self._options = read_options(ctx.settings)
        self._used: dict[str, _Used] = {}
        self._by_ending: dict[tuple[str, ...], list[_Used]] = {}
        for problem in self._options.problems:
            ctx.ui.notify(problem, "warning")

    def covers(self, path: str) -> bool:
        """Whether there is a program for a file."""
        return any(each.left_out is None for each in self._for(path))

    async def new_errors(self, path: str, old: str | None, new: str, ctx: PiContext) -> list[Finding]:
        """Return the errors that an edit made; what fails or is late is left out, with a notice.

        Args:
            path: The file, absolute.
            old: Its text before; None if it did not exist.
            new: Its text now.
            ctx: The hook's.
        """
        used = [each for each in self._for(path) if each.left_out is None]
        found = await asyncio.gather(*(self._check(each, path, old, new, ctx) for each in used))
        return sorted((each for part in found for each in part), key=lambda each: (each.line, each.column))

    async def _check(self, used: _Used, path: str, old: str | None, new: str, ctx: PiContext) -> list[Finding]:
        old = used.unseen.setdefault(path, old)
        was_ready = used.runner.state == "ready"
        if used.was_awaited and not was_ready:
            return []
        seconds = self._options.seconds
        try:
            async with asyncio.timeout(seconds):
                before, after = await used.runner.errors(path, old, new, ctx)
        except TimeoutError:
            if was_ready:
                await self._leave_out(used, f"it did not answer within {seconds:g} s", ctx)
            used.was_awaited = True
            return []
        except PiError as error:
            await self._leave_out(used, ctx.secrets.redact(str(error)).rstrip("."), ctx)
            return []
        used.unseen.pop(path, None)
        return new_findings(before, after, old or "", new)

    async def _leave_out(self, used: _Used, reason: str, ctx: PiContext) -> None:
        used.left_out = reason
        used.unseen.clear()
        name = used.checker.name
        ctx.ui.notify(f"{name} is left out of this session's diagnostics: {reason}. See /diagnostics.", "warning")
        await used.runner.stop(at_once=True)

    def report(self) -> str:
        """Return what is used, what is left out and what there is not, a line each."""
        if not self._options.enabled:
            return "Diagnostics are switched off by the setting diagnostics.enabled."
        lines, absent, refused = [], [], []
        for name, checker in self._options.checkers.items():
            if name in self._used:
                lines.append(f"{name}: {self._used[name].state}")
            elif (found := find_program(checker, self._cwd, trusted=self._trusted)) is not None:
                lines.append(f"{name}: not needed yet, {found}")
            elif find_program(checker, self._cwd, trusted=True) is not None:
                refused.append(name)
            else:
                absent.append(name)
        if refused:
            lines.append(f"Not used, because the project is not trusted (pi trust): {', '.join(refused)}")
        if absent:
            lines.append(f"Not installed: {', '.join(absent)}")
        return "\n".join(lines)

    async def end(self) -> None:
        """End all programs."""
        await asyncio.gather(*(each.runner.stop() for each in self._used.values()))

    def _for(self, path: str) -> list[_Used]:
        """Return the programs for a file; of each group the first that may be started."""
        if not self._options.enabled:
            return []
        groups = wanted(self._options.checkers, path)
        key = tuple(each.name for group in groups for each in group)
        if key not in self._by_ending:
            chosen = [self._first(group) for group in groups]
            self._by_ending[key] = [each for each in chosen if each is not None]
        return self._by_ending[key]

    def _first(self, group: list[Checker]) -> _Used | None:
        for checker in group:
            program = find_program(checker, self._cwd, trusted=self._trusted)
            if program is not None:
                fresh = _Used(checker, program, runner_of(checker, program))
                return self._used.setdefault(checker.name, fresh)
        return None
