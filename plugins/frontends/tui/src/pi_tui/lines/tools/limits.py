"""What a tool left out of a result: a short note for the user in place of the one that the tool wrote for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.wrap import wrap
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look

__all__ = ["limit_rows", "without_notice"]

_COUNTS = {"matchLimitReached": "matches", "resultLimitReached": "results", "entryLimitReached": "entries"}


def without_notice(output: str, details: Any) -> str:
    """Return an output without the notice for the model at its end; only results with such details have one."""
    start = output.rfind("\n\n[") if output.endswith("]") and any(_facts(details)) else -1
    return output if start < 0 else output[:start].rstrip("\n")


def limit_rows(details: Any, look: Look, width: int) -> list[Line]:
    """Return a row such as ``[Truncated: 100 results limit]``; no row if the result is complete."""
    facts = [*_facts(details)]
    full = details.get("fullOutputPath") if facts else None
    if isinstance(full, str):
        facts.append(f"full output in {look.path(clean_line(full))}")
    return wrap([Run(f"[Truncated: {', '.join(facts)}]", "warning")], width) if facts else []


def _facts(details: Any) -> Iterator[str]:
    if not isinstance(details, dict):
        return
    for key, things in _COUNTS.items():
        if isinstance(details.get(key), int):
            yield f"{details[key]:,} {things} limit"
    cut = details.get("truncation")
    if isinstance(cut, dict) and cut.get("truncated"):
        yield _cut(cut)
    if details.get("linesTruncated"):
        yield "some lines cut"


def _cut(cut: Mapping[str, Any]) -> str:
    limit, of, left = cut.get("maxBytes"), cut.get("totalLines"), cut.get("outputLines")
    if isinstance(left, int) and isinstance(of, int) and 0 < left < of:
        return f"{left:,} of {of:,} lines"
    return f"{limit // 1024:,} KB limit" if isinstance(limit, int) else "too long"
