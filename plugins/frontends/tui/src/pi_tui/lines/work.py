"""The rule above the editor, which displays the session's current work: ``── ⠼ Working ────``."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut_text
from pi_tui.theme.tokens import TOKENS

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.state import Retry, Work

__all__ = ["level_role", "rule", "work_text"]

_LEAD = "── "


def work_text(work: Work, look: Look) -> str:
    """Return a description of the current work, with the key that stops it if it is not obvious; empty for no work."""
    cancel = look.hints.get("cancel")
    stop = f" ({cancel} to cancel)" if cancel else ""
    if work.retry is not None:
        return f"Retrying ({work.retry.attempt}/{work.retry.most}) in {_left(work.retry, look.now)}s...{stop}"
    if work.summarizing:
        return f"Retrying the summary...{stop}"
    if work.compacting is not None:
        return f"{'Compacting' if work.compacting == 'manual' else 'Auto-compacting'}...{stop}"
    if work.running:
        return work.message or "Working"
    return f"/{work.command} is running...{stop}" if work.command else ""


def _left(retry: Retry, now: float) -> int:
    return max(ceil(retry.delay_ms / 1000 - (now - retry.started)), 0)


def level_role(level: str | None) -> str:
    """Return the role of the editor's frame for a thinking level; an unknown level has the role of ``off``."""
    role = f"thinking{(level or 'off').capitalize()}"
    return role if role in TOKENS else "thinkingOff"


def rule(text: str, look: Look, role: str) -> Line:
    """Return a rule as wide as the look, with the spinner and the text in it if the text is not empty."""
    label = cut_text(f"{look.spinner} {text} ", look.width - len(_LEAD)) if text and look.width > len(_LEAD) else ""
    if not label:
        return Line.of(Run("─" * look.width, role))
    rest = look.width - len(_LEAD) - cells(label)
    return Line.of(Run(_LEAD, role), Run(label, "accent"), Run("─" * rest, role))
