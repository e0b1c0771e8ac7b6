"""Selects the edits to check: a file's text before its first edit of a turn is compared with that after its last."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from pi_diagnostics.checks import Checks
    from pi_diagnostics.delta import Finding
    from pi_hookspecs import (
        PiAPI,
        PiContext,
        ToolCallEvent,
        ToolExecutionEndEvent,
        ToolResultEvent,
        ToolResultResult,
    )

__all__ = ["Hooks"]

TOOLS = ("write", "edit")
SIZE_LIMIT = 1 << 20
"""Bytes of a file that is checked."""
LINES = 20
_WIDTH = 300
_UNREADABLE = object()


class Hooks:
    """The handlers of one activation."""

    def __init__(self) -> None:
        self._checks: Checks | None = None
        self._running: dict[str, str] = {}
        """Files of the calls of this turn that have no result yet, by the call's id."""
        self._before: dict[str, Any] = {}
        """Texts of files before their first edit since they were checked."""
        self._edited: set[str] = set()
        """Files with an edit since they were checked."""

    def listen(self, pi: PiAPI) -> None:
        """Register the handlers and the command."""
        pi.on("turn_start", self._turn_start)
        pi.on("tool_call", self._tool_call)
        pi.on("tool_execution_end", self._tool_execution_end)
        pi.on("tool_result", self._tool_result)
        pi.on("session_shutdown", self._session_shutdown)
        pi.register_command(
            "diagnostics", self._report, description="Show which programs check edits for errors", touches=()
        )

    def _turn_start(self, _event: object) -> None:
        """Forget calls that never had a result, because their turn was aborted."""
        self._running.clear()

    async def _tool_call(self, event: ToolCallEvent, ctx: PiContext) -> None:
        """Remember what the file contains; a failure must not refuse the edit, as it would that of a guard."""
        try:
            await self._remember(event, ctx)
        except Exception as error:  # noqa: BLE001 - as above
            ctx.ui.notify(f"An edit is not checked for errors: {ctx.secrets.redact(str(error))}", "warning")

    async def _remember(self, event: ToolCallEvent, ctx: PiContext) -> None:
        path = _path(event.input, ctx) if event.tool_name in TOOLS else None
        if path is None or ctx.file_operations() is not None:  # on another machine, perhaps
            return
        if not self._checks_of(ctx).covers(path):
            return
        self._running[event.tool_call_id] = path
        if path not in self._before:
            self._before[path] = await asyncio.to_thread(_read, path)

    def _tool_execution_end(self, event: ToolExecutionEndEvent) -> None:
        """Forget a call that was refused: it has no ``tool_result``."""
        self._running.pop(event.tool_call_id, None)

    async def _tool_result(self, event: ToolResultEvent, ctx: PiContext) -> ToolResultResult | None:
        """Add the errors that the edits of a file made, to the result of the last of them."""
        path = self._running.pop(event.tool_call_id, None)
        if path is None:
            return None
        if not event.is_error:
            self._edited.add(path)
        if path in self._running.values():
            return None
        old = self._before.pop(path, _UNREADABLE)
        if path not in self._edited:
            return None
        self._edited.discard(path)
        new = await asyncio.to_thread(_read, path)
        if not isinstance(old, str | None) or not isinstance(new, str) or old == new:
            return None
        errors = await self._checks_of(ctx).new_errors(path, old, new, ctx)
        if not errors:
            return None
        from pi_hookspecs import TextContent, ToolResultResult

        return ToolResultResult(content=(*event.content, TextContent(_text(errors, path, ctx))))

    async def _session_shutdown(self, _event: object) -> None:
        checks, self._checks = self._checks, None
        self._running.clear()
        self._before.clear()
        self._edited.clear()
        if checks is not None:
            await checks.end()

    def _report(self, _arguments: str, ctx: PiContext) -> None:
        ctx.ui.notify(self._checks_of(ctx).report())

    def _checks_of(self, ctx: PiContext) -> Checks:
        if self._checks is None:
            from pi_diagnostics.checks import Checks

            self._checks = Checks(ctx)
        return self._checks


def _path(arguments: Mapping[str, Any], ctx: PiContext) -> str | None:
    """Return the absolute path that the arguments of ``write`` and ``edit`` name; None if they name none."""
    path = arguments.get("path")
    if not isinstance(path, str):
        return None
    path = path.removeprefix("@")
    if path.startswith("file://"):
        try:
            path = unquote(urlsplit(path).path)
        except ValueError:
            return None
    return os.path.normpath(os.path.join(ctx.cwd, os.path.expanduser(path)))


def _read(path: str) -> Any:
    """Return a file's text; None if it does not exist; another value for what is not text of a sensible size."""
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode) or about.st_size > SIZE_LIMIT:
            return _UNREADABLE
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return _UNREADABLE


def _text(errors: Sequence[Finding], path: str, ctx: PiContext) -> str:
    """Return the errors for the model, each in a line; a broken file must not fill the context."""
    name = os.path.relpath(path, ctx.cwd)
    count = f"{len(errors)} new error{'s' * (len(errors) > 1)}"
    lines = [f"[diagnostics] {count} in {_clean(path if name.startswith('..') else name)}:"]
    for each in errors[:LINES]:
        rule = f"{each.source} {each.code}".strip()
        lines.append(f"{each.line}:{each.column} {_clean(each.message)} ({_clean(rule)})")
    if len(errors) > LINES:
        lines.append(f"... and {len(errors) - LINES} more")
    return "\n".join(lines)


def _clean(text: str) -> str:
    """Return a text as one line of limited length, without control characters."""
    line = "".join(each if each.isprintable() else " " for each in " ".join(text.split()))
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}..."
