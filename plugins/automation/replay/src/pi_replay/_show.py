"""Shows what a replay found, as a table and sentences."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from pi_core import clean_text, one_line
from pi_hookspecs import Usage
from pi_replay._compare import cache_rate

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage, ToolCall
    from pi_replay._compare import Report, Row

__all__ = ["show"]

_PROMPT = 40
_WIDEST = 400  # of a call's arguments


def show(report: Report) -> None:
    """Write a report to stdout."""
    sys.stdout.write("\n".join([*_table(report), *_lines(report)]) + "\n")


def _table(report: Report) -> list[str]:
    rows = [("turn", "calls", "arguments", "text", "dollars", "cache", "prompt"), *map(_cells, report.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _cells(row: Row) -> tuple[str, ...]:
    old, new = len(row.turn.calls), len(row.calls)
    calls = f"{old} equal" if row.has_equal_calls else f"{old} -> {new}"
    changed = f"{row.changed_arguments} changed" if row.changed_arguments else "equal"
    text = f"{row.distance:.0%} differs" if row.distance else "equal"
    was, now = (sum(each.usage.cost.total for each in side) for side in (row.turn.answers, row.answers))
    rates = " -> ".join(map(_percent, (_rate(row.turn.answers), _rate(row.answers))))
    prompt = one_line(row.turn.text)
    short = prompt if len(prompt) <= _PROMPT else prompt[:_PROMPT] + "..."
    return (str(row.number), calls, changed, text, f"{was:.4f} -> {now:.4f}", rates, short)


def _rate(answers: list[AssistantMessage]) -> float | None:
    return cache_rate(sum((each.usage for each in answers), Usage()))


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def _lines(report: Report) -> list[str]:
    lines = [""]
    found = report.divergence
    if found is not None:
        recorded = "recorded: no more calls" if found.recorded is None else f"recorded: {_call(found.recorded)}"
        lines += [f"The replay diverges at prompt {found.turn} (entry {found.entry}):", f"  {recorded}"]
        lines += [f"  replayed: {_call(found.call)}"]
    elif report.error is None:
        count = len(report.rows)
        lines.append(f"No divergence in {count} prompt{'' if count == 1 else 's'}.")
    if report.error is not None:
        lines.append(clean_text(report.error))
    was, now = (report.usage(recorded=side).cost.total for side in (True, False))
    lines.append(f"Cost: {was:.4f} dollars recorded, {now:.4f} replayed.")
    lines += report.notes
    if report.file is not None:
        lines.append(f"The new session: {report.file}")
    return lines


def _call(call: ToolCall) -> str:
    arguments = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)
    return clean_text(f"{call.name} {arguments if len(arguments) <= _WIDEST else arguments[:_WIDEST] + '...'}")
