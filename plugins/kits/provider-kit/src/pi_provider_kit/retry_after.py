"""The retry delay that a server asks for: in headers, and in the text of an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["retry_after_ms"]

_LIMITED = (429, 503, 529)
"""Statuses with which a rate limit header's reset time is a reason to wait."""

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

_DURATION = r"(?i)(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)(?![a-z])"  # compiled at first use, as the next is: in an error

_IN_WORDS = r"""(?ix)
    (?:reset\s+after|retry\s+(?:in|after)|try\s+again\s+in|"retryDelay"\s*:\s*")\s*
    (?P<duration>(?:\d+(?:\.\d+)?\s*(?:ms|[smhd])(?![a-z])\s*)+|(?P<seconds>\d+(?:\.\d+)?)\s*sec)
"""

_EPOCH = 1e9
"""A number above it is a timestamp (seconds since 1970), not a duration."""

_EPOCH_MS = 1e12


def retry_after_ms(headers: Mapping[str, str], body: str, status: int, now: float) -> int | None:
    """Return the delay that the server asks for in milliseconds, None if it asks for none.

    Precedence: ``retry-after-ms``, ``retry-after`` (seconds or a date), the headers with the reset time of an exhausted
    limit, a hint in the body.

    Args:
        headers: Of the answer, names in lower case.
        body: Its text.
        status: Its status.
        now: Seconds since 1970.
    """
    hint = _number(headers.get("retry-after-ms"))
    if hint is None:
        hint = _seconds_or_date(headers.get("retry-after"), now)
    if hint is None and status in _LIMITED:
        hint = max(_reset_times(headers, now), default=None)
    if hint is None:
        hint = _from_text(body)
    return None if hint is None else max(0, round(hint))


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def _seconds_or_date(text: str | None, now: float) -> float | None:
    if not text:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds * 1000
    from email.utils import parsedate_to_datetime

    try:
        return (parsedate_to_datetime(text).timestamp() - now) * 1000
    except (ValueError, OverflowError):
        return None


def _reset_times(headers: Mapping[str, str], now: float) -> Iterator[float]:
    """Yield the reset time of each exhausted limit; one with a remaining quota is not a reason to wait."""
    for name, value in headers.items():
        if name.startswith("x-ratelimit-reset"):
            remaining = name.replace("reset", "remaining", 1)
        elif name.startswith("anthropic-ratelimit-") and name.endswith("-reset"):
            remaining = name.removesuffix("reset") + "remaining"
        else:
            continue
        if _number(headers.get(remaining)) in (None, 0):
            wait = _until(value, now)
            if wait is not None:
                yield wait


def _until(text: str, now: float) -> float | None:
    """Read ``12``, ``1767225600``, ``1767225600000``, ``6m0s`` or ``2026-01-01T00:00:00Z`` as milliseconds from now."""
    number = _number(text)
    if number is not None:
        if number > _EPOCH_MS:
            return number - now * 1000
        return (number - now if number > _EPOCH else number) * 1000
    duration = _duration(text)
    if duration is not None:
        return duration
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now) * 1000
    except (ValueError, OverflowError):
        return None


def _duration(text: str) -> float | None:
    parts = re.findall(_DURATION, text)
    if not parts or re.sub(_DURATION, "", text).strip():
        return None
    return float(sum(float(amount) * _UNITS[unit.lower()] for amount, unit in parts))


def _from_text(body: str) -> float | None:
    found = re.search(_IN_WORDS, body)
    if found is None:
        return None
    seconds = found["seconds"]
    return float(seconds) * 1000 if seconds else _duration(found["duration"])
