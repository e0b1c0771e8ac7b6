"""``pi plugins bill`` and ``pi plugins --timing``: the figures as a table or as JSON."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pi_cli.options import PromptOptions
from pi_cli.report import print_json, print_lines, say
from pi_cli.words import one_line
from pi_core.conversation.bill import COLUMNS, MONEY, Bill, read_bills
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pi_core import PluginHost
    from pi_core.conversation.bill import Row

__all__ = ["show_bill", "show_timing"]

_HEADS = {
    "importMs": "import ms",
    "hookCalls": "calls",
    "hookMs": "hook ms",
    "longestMs": "longest",
    "failures": "failed",
    "promptTokens": "prompt tokens",
    "messageTokens": "message tokens",
    "toolTokens": "tool tokens",
    "toolCalls": "tool calls",
    "toolMs": "tool ms",
    "toolFailures": "tools failed",
    "requests": "requests",
    "requestTokens": "request tokens",
    "dollars": "dollars",
    "cacheBreaks": "cache breaks",
    "cacheDollars": "cache dollars",
}
_TIMES = frozenset({"importMs", "hookMs", "longestMs", "toolMs"})
_LARGEST = frozenset({"longestMs", "promptTokens", "toolTokens"})
"""Columns that show the maximum over sessions, because a sum would be meaningless."""


def show_bill(host: PluginHost, *, session: str | None, days: str | None, sort: str | None, as_json: bool) -> int:
    """Print what plugins cost in completed sessions; return 1 if there are none.

    Args:
        host: Provides the agent directory.
        session: The id of one session, or a prefix of it.
        days: Include the sessions of this many days.
        sort: The column to sort by, named as in the JSON form.
        as_json: Print an object.

    Raises:
        UserError: The options are invalid.
    """
    if session is not None and days is not None:
        raise UserError("--session and --days cannot be used together. Give one of them")
    _check_column(sort)
    bills = [*read_bills(host.settings.agent_dir)]
    if session is not None:
        bills = _of_session(bills, session)
    elif days is not None:
        bills = _of_days(bills, days)
    rows = _joined(each["plugins"] for each in bills)
    if not bills and not as_json:
        say("No completed session is recorded" + (" in this period" if days is not None else ""))
        return 1
    _print(rows, sort, as_json=as_json, more={"sessions": len({each["session"] for each in bills})})
    return 0 if bills else 1


def show_timing(host: PluginHost, *, sort: str | None, as_json: bool) -> int:
    """Start a session as for a prompt, but without a request, and print what that cost."""
    _check_column(sort)
    _print(asyncio.run(_started(host)), sort, as_json=as_json, more={})
    return 0


async def _started(host: PluginHost) -> dict[str, Row]:
    from pi_cli.look import session_to_look_at

    async with session_to_look_at(host, PromptOptions()) as session:
        bill = Bill(session)
        await session.system_prompts.build()
        return bill.rows()


def _check_column(sort: str | None) -> None:
    if sort is not None and sort not in (*COLUMNS, "plugin"):
        raise UnknownName("column", sort, [*COLUMNS, "plugin"], f"Use one of plugin, {', '.join(COLUMNS)}")


def _of_session(bills: list[dict[str, Any]], wanted: str) -> list[dict[str, Any]]:
    found = [each for each in bills if wanted and each["session"].startswith(wanted)]
    ids = sorted({each["session"] for each in found})
    if not ids:
        raise UserError(
            f"No session {wanted!r} is recorded. pi plugins bill --json shows all; the oldest are removed first"
        )
    if len(ids) > 1 and wanted not in ids:
        raise UserError(f"Several sessions begin with {wanted!r}: {', '.join(ids[:5])}")
    return [each for each in found if each["session"] == wanted or len(ids) == 1]


def _of_days(bills: list[dict[str, Any]], days: str) -> list[dict[str, Any]]:
    try:
        since = datetime.now(UTC) - timedelta(days=float(days))  # not a number, and infinite, are ValueErrors, too
    except (ValueError, OverflowError):
        raise UserError(f"--days must be a number, not {days!r}") from None
    return [each for each in bills if each["at"] >= since.isoformat()]


def _joined(bills: Iterable[Mapping[str, Row]]) -> dict[str, Row]:
    """Return the sums, and for some columns the maximum."""
    joined: dict[str, Row] = {}
    for bill in bills:
        for plugin, row in bill.items():
            sums = joined.setdefault(plugin, {})
            for name in COLUMNS:
                value = row.get(name, 0)
                sums[name] = max(sums.get(name, 0), value) if name in _LARGEST else sums.get(name, 0) + value
    return joined


def _print(rows: Mapping[str, Row], sort: str | None, *, as_json: bool, more: dict[str, Any]) -> None:
    plain: list[dict[str, Any]] = [
        {"plugin": plugin, **{name: round(row.get(name, 0), 6) for name in COLUMNS}} for plugin, row in rows.items()
    ]
    plain.sort(key=lambda each: each["plugin"])
    if sort != "plugin":
        plain.sort(key=lambda each: -(each[sort] if sort else each["importMs"] + each["hookMs"]))
    if as_json:
        print_json({**more, "plugins": plain})
    else:
        print_lines(*_table(plain))


def _table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines; columns with only zeros are left out."""
    shown = [name for name in COLUMNS if any(row[name] for row in rows)]
    cells = [["plugin", *(_HEADS[name] for name in shown)]]
    cells += [[one_line(row["plugin"]), *(_cell(name, row[name]) for name in shown)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *others in cells:
        line = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        yield "  ".join(line).rstrip()


def _cell(name: str, value: float) -> str:
    if not value:
        return ""
    if name in MONEY:
        return f"${value:.4f}"
    return f"{value:.1f}" if name in _TIMES else f"{value:,.0f}"
