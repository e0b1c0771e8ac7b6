"""Prints the outcome of a replay as tables and sentences."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from pi_core import clean_text, one_line
from pi_hookspecs import Usage
from pi_replay.compare import cache_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_hookspecs import AssistantMessage, ToolCall
    from pi_replay.compare import Report, Row
    from pi_replay.matrix import Outcome

__all__ = ["difference", "matrix_rows", "percent", "show", "show_matrix", "verdict"]

_PROMPT = 40
_WIDEST = 400  # of a call's arguments


def show(report: Report) -> None:
    """Write a report to stdout."""
    sys.stdout.write("\n".join([*_table(report), *_lines(report)]) + "\n")


def show_matrix(outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes of a matrix to stdout."""
    lines, several = [*_columns([*matrix_rows(outcomes)]), ""], len({each.session for each in outcomes}) > 1
    for each in outcomes:
        error = each.error or (each.report or {}).get("error")
        if error is not None:
            lines.append(clean_text(f"{_label(each, several=several)}: {error}"))
    lines.append(verdict(outcomes))
    sys.stdout.write("\n".join(lines) + "\n")


def matrix_rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of a matrix, first their heads; of several sessions, each row names its own."""
    head = ("model", "plugins", "prompts", "equal calls", "diverges at", "text", "dollars", "cache")
    several = len({each.session for each in outcomes}) > 1
    yield ("session", *head) if several else head
    for each in outcomes:
        row = (*each.cell.names, *_matrix_cells(each.report, each.prompts))
        yield (each.name, *row) if several else row


def _label(outcome: Outcome, *, several: bool) -> str:
    combination = " x ".join(outcome.cell.names)
    return f"{outcome.name} x {combination}" if several else combination


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Return how many replays are equal, as a sentence."""
    return f"{sum(each.is_equal for each in outcomes)} of {len(outcomes)} replays have no divergence."


def _matrix_cells(report: Mapping[str, Any] | None, prompts: int) -> tuple[str, ...]:
    if report is None:
        return ("failed", "-", "-", "-", "-", "-")
    turns, found = report["turns"], report["divergence"]
    was, now = report["recorded"], report["replayed"]
    distance = sum(each["textDistance"] for each in turns) / max(len(turns), 1)
    return (
        f"{len(turns)} of {prompts}",
        str(sum(each["equalCalls"] for each in turns)),
        "-" if found is None else f"prompt {found['turn']}",
        difference(distance),
        f"{was['dollars']:.4f} -> {now['dollars']:.4f}",
        " -> ".join(map(percent, (was["cacheRate"], now["cacheRate"]))),
    )


def difference(distance: float) -> str:
    """Return how much texts differ, in words."""
    return f"{distance:.0%} differs" if distance else "equal"


def _table(report: Report) -> list[str]:
    return _columns([("turn", "calls", "arguments", "text", "dollars", "cache", "prompt"), *map(_cells, report.rows)])


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _cells(row: Row) -> tuple[str, ...]:
    old, new = len(row.turn.calls), len(row.calls)
    calls = f"{old} equal" if row.has_equal_calls else f"{old} -> {new}"
    changed = f"{row.changed_arguments} changed" if row.changed_arguments else "equal"
    was, now = (sum(each.usage.cost.total for each in side) for side in (row.turn.answers, row.answers))
    rates = " -> ".join(map(percent, (_rate(row.turn.answers), _rate(row.answers))))
    prompt = one_line(row.turn.text)
    short = prompt if len(prompt) <= _PROMPT else prompt[:_PROMPT] + "..."
    return (str(row.number), calls, changed, difference(row.distance), f"{was:.4f} -> {now:.4f}", rates, short)


def _rate(answers: list[AssistantMessage]) -> float | None:
    return cache_rate(sum((each.usage for each in answers), Usage()))


def percent(rate: float | None) -> str:
    """Return a rate for people; a dash where there is none."""
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
