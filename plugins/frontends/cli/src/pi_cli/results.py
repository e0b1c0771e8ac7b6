"""Formats results of tool calls: the first lines, a diff of the change, the full reason of a failure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_cli.words import COLORS, shorten
from pi_core import clean_text
from pi_terminal_kit.words import count, duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_cli.screen import Style
    from pi_hookspecs import ToolResult

__all__ = ["Rows", "all_rows", "failure_rows", "last_line", "plain_output", "preview_rows"]

Rows = list[tuple["Style", str]]

_FIRST = 5
"""Maximum lines of output in a preview."""

_FIRST_CHANGED = 24
"""Maximum lines of a diff in a preview."""

_WHOLE_FAILURE = 40
"""Maximum lines of a failure that is printed in full; a longer one (a failed build) is reduced to its two ends."""

_FAILURE_ENDS = 10, 25

_MAX_DIFF_LINES = 2000
"""Lines up to which two versions of a file are compared, which takes quadratic time."""

_TAIL = 2000
"""Characters at the end of an output that are searched for its last line."""

_REWRITTEN = r"[^\n]*\r(?=[^\n\r])"


def preview_rows(
    tool: str,
    arguments: Mapping[str, Any],
    result: ToolResult,
    *,
    width: int,
    before: str | None = None,
    duration_ms: int | None = None,
) -> Rows:
    """Return a preview of a successful call's result: its beginning, the number of further lines and the duration.

    Args:
        tool: Its name.
        arguments: Arguments of the call.
        result: Its result.
        width: Columns of a row.
        before: Previous content of the file that ``write`` has written; None when that is not known.
        duration_ms: Duration of the call in milliseconds.
    """
    rows = _changes(tool, arguments, result, before)
    limit = _FIRST_CHANGED if rows else _FIRST
    rows = rows or [("dim", line) for line in _lines(result)]
    visible = rows[:limit] if len(rows) > limit + 1 else rows  # "1 more line" would take as much space as the line
    facts = [f"{count(len(rows) - len(visible), 'more line')}"] if len(rows) > len(visible) else []
    if not rows:
        facts = ["no output"]
    if duration_ms is not None:
        facts.append(duration(duration_ms))
    body: Rows = [(style, shorten(f"  {text}", width)) for style, text in visible]
    if not facts:
        return body
    sign = "… " if len(rows) > len(visible) else ""
    return [*body, ("dim", shorten(f"  {sign}{', '.join(facts)}", width))]


def failure_rows(call: str, reason: str, duration_ms: int | None = None) -> Rows:
    """Return the full reason of a failed call: after the call where it is one line, else below it."""
    lines = _clean_lines(reason.strip("\n")) or ["failed without a reason"]
    took = f" ({duration(duration_ms)})" if duration_ms is not None else ""
    if len(lines) == 1:
        return [("", f"{call}: {lines[0].strip()}{took}")]
    first, last = _FAILURE_ENDS
    if len(lines) > _WHOLE_FAILURE:
        left_out = f"… {count(len(lines) - first - last, 'more line')} …"
        lines = [*lines[:first], left_out, *lines[-last:]]
    return [("", f"{call}{took}"), *(("", f"  {line}".rstrip()) for line in lines)]


def all_rows(tool: str, arguments: Mapping[str, Any], result: ToolResult, before: str | None = None) -> Rows:
    """Return the full result of a call."""
    return _changes(tool, arguments, result, before) or [("", line) for line in _lines(result)]


def _lines(result: ToolResult) -> list[str]:
    from pi_hookspecs import ImageContent, text_of

    images = [f"[image {each.mime_type}]" for each in result.content if isinstance(each, ImageContent)]
    return _clean_lines(text_of(result.content).strip("\n")) + _clean_lines("\n".join(images))


def _clean_lines(text: str) -> list[str]:
    """Return text as clean rows: without colours; if a program overwrote a line, only its last version."""
    return clean_text(re.sub(_REWRITTEN, "", re.sub(COLORS, "", text))).expandtabs().split("\n") if text else []


def last_line(text: str) -> str:
    """Return the last non-blank line of an output, cleaned; empty if there is none."""
    rows = (row.strip() for row in reversed(_clean_lines(text[-_TAIL:])))
    return next(filter(None, rows), "")


def plain_output(piece: str) -> str:
    """Return a piece of a program's output without colours, with a row for each version of an overwritten line."""
    return re.sub(COLORS, "", piece).replace("\r\n", "\n").replace("\r", "\n")


# Changes


def _changes(tool: str, arguments: Mapping[str, Any], result: ToolResult, before: str | None) -> Rows:
    """Return the lines that a call removed and added; none when the result has no diff."""
    details = result.details if isinstance(result.details, dict) else {}
    diff, written = details.get("diff"), arguments.get("content")
    if isinstance(diff, str) and diff:
        return _styled(_clean_lines(diff))
    if tool != "write" or not isinstance(written, str):
        return []
    after = _clean_lines(written.removesuffix("\n"))
    old = _clean_lines(before.removesuffix("\n")) if before is not None else []
    if not old or max(len(old), len(after)) > _MAX_DIFF_LINES:
        return _styled(f"+{line}" for line in after)
    return _styled(_diff_lines(old, after)) or [("dim", "unchanged")]


def _diff_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    from difflib import unified_diff

    return list(unified_diff(old, new, n=2, lineterm=""))[2:]


def _styled(lines: Iterable[str]) -> Rows:
    styles: dict[str, Style] = {"+": "added", "-": "removed"}
    return [(styles.get(line[:1], "dim"), line) for line in lines]
