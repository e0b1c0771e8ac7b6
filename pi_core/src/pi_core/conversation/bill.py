"""What each plugin cost a session: collected from existing counters, and kept in ``bill.jsonl``.

During a session its figures are in a separate file, ``bills/PID-ID.json``, which is written after each prompt. If the
process is killed, another process turns the file into a line.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pi_core.base.folds import Fold
from pi_core.base.process.signals import is_running
from pi_core.base.replacing import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_core.conversation.session import AgentSession
    from pi_core.session.tree import Entries
    from pi_hookspecs import SessionEntry, Tool, ToolExecutionEndEvent

__all__ = ["COLUMNS", "LIMIT", "MONEY", "Bill", "Row", "append_bill", "bill_file", "keep_bill", "read_bills"]

COLUMNS = (
    *("importMs", "hookCalls", "hookMs", "longestMs", "failures", "promptTokens", "messageTokens", "toolTokens"),
    *("toolCalls", "toolMs", "toolFailures", "requests", "requestTokens", "dollars", "cacheBreaks", "cacheDollars"),
)
"""The names of a plugin's figures, in order."""

MONEY = frozenset({"dollars", "cacheDollars"})
"""The columns in dollars."""

Row = dict[str, float]

_STATES = frozenset({"promptTokens", "toolTokens", "longestMs"})
"""Columns that are not sums: the current size, and the largest value."""

_PI = "pi"
"""The name under which costs are listed that no plugin caused."""


class Bill:
    """Counts a session's tool calls, and adds everything up when the session ends."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._calls: dict[str, list[int]] = {}
        self._before: dict[str, Row] = {}
        self._latest: dict[str, Row] = {}
        self._breaks: Fold[SessionEntry, dict[str, Row]] = Fold(dict, _with_break, copy=_copied, types=("custom",))
        self._declared: Fold[Tool, tuple[tuple[Tool, int], ...]] = Fold(tuple, _with_tool, most=1)
        self._begun: tuple[object, int] = None, 0
        self.started = datetime.now(UTC).isoformat()
        session.subscribe(self.count, "tool_execution_end")

    def count(self, event: ToolExecutionEndEvent) -> None:
        """Count a tool call: calls, milliseconds, failures."""
        sums = self._calls.get(event.tool_name)
        if sums is None:
            sums = self._calls[event.tool_name] = [0, 0, 0]
        sums[0] += 1
        sums[1] += event.duration_ms or 0
        sums[2] += event.is_error

    def begin(self) -> None:
        """Begin a new bill where the last one ended, because another conversation has replaced the session's."""
        self._before = self._latest
        self.started = datetime.now(UTC).isoformat()

    def rows(self) -> dict[str, Row]:
        """Return the figures other than 0, by plugin."""
        rows = self._totals()
        self._latest = {plugin: dict(row) for plugin, row in rows.items()}
        for plugin, row in rows.items():
            for name, value in self._before.get(plugin, {}).items():
                if name not in _STATES:
                    row[name] = row.get(name, 0) - value
                elif name == "longestMs" and row.get(name) == value:
                    del row[name]
        for plugin, breaks in self._breaks.of(self._own_entries()).items():
            rows.setdefault(plugin, {}).update(breaks)
        return {
            plugin: {name: round(value, 6 if name in MONEY else 3) for name, value in row.items() if value}
            for plugin, row in rows.items()
            if any(row.values())
        }

    def _totals(self) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for plugin, column, value in self._figures():
            if not value:
                continue
            row = rows.get(plugin)
            if row is None:
                row = rows[plugin] = {}
            row[column] = max(row.get(column, 0), value) if column == "longestMs" else row.get(column, 0) + value
        return rows

    def _figures(self) -> Iterator[tuple[str, str, float]]:
        session = self._session
        if not session.runtime.front_end.depth:  # a child session shares the plugins of its parent
            yield from ((plugin, "importMs", took) for plugin, took in session.host.load_times.items())
        for each in session.hooks.counters():
            if not (each.calls or each.message_tokens or each.failures or each.timeouts):
                continue  # most hooks of most plugins
            yield each.plugin, "hookCalls", each.calls
            yield each.plugin, "hookMs", each.total_ms
            yield each.plugin, "longestMs", each.longest_ms
            yield each.plugin, "failures", each.failures + each.timeouts
            yield each.plugin, "messageTokens", each.message_tokens
        yield from self._tools()
        yield from self._prompt()
        for name, spent in session.parts.spent.items():
            yield from ((name or _PI, column, value) for column, value in zip(COLUMNS[11:14], spent, strict=True))

    def _tools(self) -> Iterator[tuple[str, str, float]]:
        """Yield calls by owner, and the tokens of the tool declarations in every request."""
        toolbox = self._session.runtime.toolbox
        for name, sums in self._calls.items():
            tool = toolbox.find(name)
            owner = (toolbox.owner(tool) if tool is not None else None) or _PI
            yield from ((owner, column, value) for column, value in zip(COLUMNS[8:11], sums, strict=True))
        for tool, tokens in self._declared.of(toolbox.active()):
            yield toolbox.owner(tool) or _PI, "toolTokens", tokens

    def _prompt(self) -> Iterator[tuple[str, str, float]]:
        for part in self._session.system_prompts.build_cached().parts:
            yield part.plugin or _PI, "promptTokens", part.tokens

    def _own_entries(self) -> Entries:
        """Return the entries made since the bill began; a resumed or forked session has many earlier ones."""
        tree = self._session.runtime.manager.tree
        entries = tree.entries()
        if self._begun[0] is not tree:
            self._begun = tree, _first_since(entries, self.started)
        return entries[self._begun[1] :]


def _with_tool(known: tuple[tuple[Tool, int], ...], tool: Tool) -> tuple[tuple[Tool, int], ...]:
    """Add a tool, and the tokens of its declaration."""
    from pi_core.agent.declarations import tool_declaration
    from pi_core.models.token_estimate import CHARS_PER_TOKEN

    characters = len(json.dumps(tool_declaration(tool), default=repr))
    return *known, (tool, -(-characters // CHARS_PER_TOKEN))


def _first_since(entries: Sequence[SessionEntry], started: str) -> int:
    """Return the number of the first entry that is not older."""
    moment = started[:19]  # to the second, because spellings of the fraction differ
    number = len(entries)
    while number and entries[number - 1].timestamp[:19] >= moment:
        number -= 1
    return number


def _with_break(sums: dict[str, Row], entry: SessionEntry) -> dict[str, Row]:
    """Add the break of the prompt cache that an entry records to the sums by plugin.

    Any plugin can record one, in an entry of its own type: ``{"break": {"kind": "avoidable", "plugin": NAME or null,
    "dollars": COST}}``.
    """
    data = getattr(entry, "data", None)
    found = data.get("break") if isinstance(data, dict) else None
    if isinstance(found, dict) and found.get("kind") == "avoidable":
        plugin = found.get("plugin")
        row = sums.setdefault(plugin if isinstance(plugin, str) else _PI, {"cacheBreaks": 0, "cacheDollars": 0})
        row["cacheBreaks"] += 1
        dollars = found.get("dollars")
        row["cacheDollars"] += dollars if isinstance(dollars, int | float) else 0
    return sums


def _copied(sums: dict[str, Row]) -> dict[str, Row]:
    return {plugin: dict(row) for plugin, row in sums.items()}


LIMIT = 1_000_000
"""The maximum size of the file in bytes."""


def bill_file(agent_dir: Path) -> Path:
    """Return the file's path."""
    return agent_dir / "cache" / "bill.jsonl"


def append_bill(agent_dir: Path, session: str, project: str, at: str, plugins: Mapping[str, Row]) -> None:
    """Append the line of a session; an unwritable folder is not an error.

    Each line is one write to a file that is opened for appending, so lines of several processes do not mix.
    """
    _append(agent_dir, _line(session, project, at, plugins))


def _line(session: str, project: str, at: str, plugins: Mapping[str, Row]) -> bytes:
    line = {"session": session, "at": at, "project": project, "plugins": plugins}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def _append(agent_dir: Path, text: bytes) -> None:
    file = bill_file(agent_dir)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size + len(text) > LIMIT:
            _shorten(file)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, text)
        finally:
            os.close(descriptor)


def _shorten(file: Path) -> None:
    """Remove the older half of the lines."""
    kept = file.read_bytes()[-(LIMIT // 2) :].partition(b"\n")[2]
    replace_file(file, kept, mode=0o600, keep=False)


def keep_bill(session: AgentSession, bill: Bill) -> None:
    """Write a session's bill after each prompt, and its line when the session ends or is replaced by another."""
    keeper = _Keeper(session, bill)
    session.subscribe(keeper.settled, "agent_settled")
    session.parts.lifecycle.call_at_end(keeper.end)


class _Keeper:
    """Keeps the current figures of one session in a file until they become a line."""

    def __init__(self, session: AgentSession, bill: Bill) -> None:
        self._session = session
        self._bill = bill
        self._id = session.session_id
        self._agent_dir = session.host.settings.agent_dir
        self._text = b""
        self._drafted = 0
        """Bytes of the file."""

    def settled(self, _event: object) -> None:
        """Write the figures of the conversation so far."""
        if self._session.session_id != self._id:
            self._close()
            self._bill.begin()
            self._id = self._session.session_id
        self._text = _line(self._id, str(self._session.cwd), self._bill.started, self._bill.rows())
        draft = self._draft()
        with suppress(OSError):
            if not self._drafted:
                draft.parent.mkdir(parents=True, exist_ok=True)
            self._drafted = _overwrite(draft, self._text, self._drafted)

    async def end(self) -> None:
        """Write the final line."""
        self.settled(None)
        self._close()

    def _close(self) -> None:
        if self._text:
            _append(self._agent_dir, self._text)
        with suppress(OSError):
            self._draft().unlink()
        self._text, self._drafted = b"", 0

    def _draft(self) -> Path:
        return _drafts(self._agent_dir) / f"{os.getpid()}-{self._id}.json"


def _overwrite(draft: Path, line: bytes, before: int) -> int:
    """Write a line in place of another one, padded to be as long; return the length.

    It is one write, because the process may be killed at any time; a new file in place of the old one costs as much as
    all figures do.
    """
    text = line.rstrip(b"\n").ljust(before - 1) + b"\n"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | (0 if before else os.O_TRUNC), 0o600)
    try:
        return os.write(descriptor, text)
    finally:
        os.close(descriptor)


def _drafts(agent_dir: Path) -> Path:
    return agent_dir / "cache" / "bills"


def _collect_leftovers(agent_dir: Path) -> None:
    """Turn files that killed processes left behind into lines."""
    with suppress(OSError):
        for draft in _drafts(agent_dir).glob("*.json"):
            pid = draft.name.partition("-")[0]
            if pid.isdigit() and not is_running(int(pid)):
                text = draft.read_bytes()
                draft.unlink()  # first, because this raises if another process was faster
                _append(agent_dir, text)


def read_bills(agent_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield the sessions, oldest first; truncated and edited lines are skipped."""
    _collect_leftovers(agent_dir)
    try:
        text = bill_file(agent_dir).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if _is_bill(read):
            yield read


def _is_bill(read: Any) -> bool:
    return (
        isinstance(read, dict)
        and all(isinstance(read.get(name), str) for name in ("session", "at", "project"))
        and isinstance(read.get("plugins"), dict)
        and all(isinstance(row, dict) and _has_numbers(row) for row in read["plugins"].values())
    )


def _has_numbers(row: dict[str, Any]) -> bool:
    return all(type(value) in {int, float} for value in row.values())
