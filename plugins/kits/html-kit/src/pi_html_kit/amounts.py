"""Formatting of numbers: tokens, money, times, sizes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pi_html_kit.html_text import Html, tag

if TYPE_CHECKING:
    from pi_hookspecs import Usage

_UTC = re.compile(
    r"(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)
"""A time as pi writes it, on a day that all months have."""

__all__ = ["cost", "moment", "seconds", "size", "tokens", "usage_line"]


def tokens(count: int) -> str:
    """Return a formatted count of tokens: ``950``, ``1.2k``, ``34k``, ``1.2M``."""
    if count < 1000:  # noqa: PLR2004 - thousands
        return str(count)
    if count < 10_000:  # noqa: PLR2004 - a digit more for those
        return f"{count / 1000:.1f}k"
    return f"{round(count / 1000)}k" if count < 999_500 else f"{count / 1_000_000:.1f}M"  # noqa: PLR2004 - rounds to 1.0M


def cost(dollars: float) -> str:
    """Return an amount in US dollars; small ones with more digits."""
    return f"${dollars:.4f}" if abs(dollars) < 1 else f"${dollars:,.2f}"


def seconds(milliseconds: float) -> str:
    """Return a formatted duration."""
    if milliseconds < 1000:  # noqa: PLR2004 - a second
        return f"{milliseconds:.0f} ms"
    took = milliseconds / 1000
    if took < 60:  # noqa: PLR2004 - a minute
        return f"{took:.1f} s"
    return f"{int(took // 60)} min {int(took % 60)} s"


def size(characters: int) -> str:
    """Return the formatted size of the data in a base64 text of so many characters."""
    size = characters * 3 // 4
    return f"{size} B" if size < 1024 else f"{size / 1024:.0f} KB" if size < 1024**2 else f"{size / 1024**2:.1f} MB"  # noqa: PLR2004 - units


def usage_line(usage: Usage) -> str:
    """Return tokens and cost of a request, ``↑1.2k ↓340 R15k W2.0k $0.0123``; empty without tokens."""
    parts = (("↑", usage.input), ("↓", usage.output), ("R", usage.cache_read), ("W", usage.cache_write))
    counted = [f"{sign}{tokens(count)}" for sign, count in parts if count > 0]
    if usage.cost.total:
        counted.append(cost(usage.cost.total))
    return " ".join(counted)


def moment(when: str | int) -> Html:
    """Return a time, ISO 8601 or Unix milliseconds, in UTC; an invalid one unchanged."""
    if isinstance(when, str) and _UTC.fullmatch(when):
        return _time(f"{when[:10]} {when[11:19]}")
    try:
        time = datetime.fromtimestamp(when / 1000, UTC) if isinstance(when, int) else datetime.fromisoformat(when)
        time = time.astimezone(UTC) if time.tzinfo is not None else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        return tag("span", str(when))
    return _time(time.isoformat(sep=" ", timespec="seconds")[:19])


def _time(text: str) -> Html:
    return Html(f'<time datetime="{text[:10]}T{text[11:]}Z" title="{text} UTC">{text[:16]}</time>')
