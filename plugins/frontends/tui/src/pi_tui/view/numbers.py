"""The footer's usage figures, summed up from answers and formatted: ``↑600 ↓15 R240 W60 CH26.7% $0.002``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pi_terminal_kit.words import tokens
from pi_tui.view.changes import NOTHING, Changes

if TYPE_CHECKING:
    from pi_tui.view.state import Footer

__all__ = ["Fullness", "context_text", "count", "count_answer", "fullness", "model_text", "usage_text"]

Fullness: TypeAlias = Literal["", "warning", "error"]

_WARNING, _ERROR = 0.7, 0.9


def count(footer: Footer, usage: Any) -> Changes:
    """Add the usage of a request to the totals."""
    if usage is None:
        return NOTHING
    footer.input += usage.input
    footer.output += usage.output
    footer.cache_read += usage.cache_read
    footer.cache_write += usage.cache_write
    footer.cost += usage.cost.total
    return Changes.of("footer")


def count_answer(footer: Footer, message: Any) -> Changes:
    """Add the usage of an answer; if it is complete, also set the context's size and the share read from the cache."""
    usage = message.usage
    sent = usage.input + usage.cache_read + usage.cache_write
    if sent and message.stop_reason not in ("error", "aborted"):
        footer.context = usage.total_tokens or sent + usage.output
        footer.hit_rate = usage.cache_read / sent
    return count(footer, usage)


def usage_text(footer: Footer) -> str:
    """Return the totals, omitting those that are zero."""
    named = (
        ("↑", footer.input),
        ("↓", footer.output),
        ("R", footer.cache_read),
        ("W", footer.cache_write),
    )
    parts = [f"{sign}{tokens(number)}" for sign, number in named if number]
    if footer.hit_rate is not None and (footer.cache_read or footer.cache_write):
        parts.append(f"CH{footer.hit_rate:.1%}")
    if footer.cost or footer.subscription:
        parts.append(f"${footer.cost:.3f}{' (sub)' if footer.subscription else ''}")
    return " ".join(parts)


def context_text(footer: Footer) -> str:
    """Return a text such as ``0.1%/200k (auto)``: the used share of the context window, and automatic compaction."""
    if not footer.window:
        return ""
    share = "?" if footer.context is None else f"{footer.context / footer.window:.1%}"
    return f"{share}/{tokens(footer.window)}{' (auto)' if footer.auto_compact else ''}"


def fullness(footer: Footer) -> Fullness:
    """Return whether the context window is so full that the user should notice."""
    share = (footer.context or 0) / footer.window if footer.window else 0.0
    return "error" if share > _ERROR else "warning" if share > _WARNING else ""


def model_text(footer: Footer) -> str:
    """Return a text such as ``(anthropic) m1 • medium``; it names the provider only if there are several.

    For a virtual model, the model that answers follows: ``auto • high → small • medium``.
    """
    if footer.model is None:
        return "no model"
    provider = f"({footer.provider}) " if footer.providers > 1 and footer.provider else ""
    level = f" • {'thinking off' if footer.level == 'off' else footer.level}" if footer.level else ""
    dispatched = f" → {footer.dispatched}" if footer.dispatched else ""
    if dispatched and footer.dispatched_level:
        dispatched += f" • {footer.dispatched_level}"
    return f"{provider}{footer.model}{level}{dispatched}"
