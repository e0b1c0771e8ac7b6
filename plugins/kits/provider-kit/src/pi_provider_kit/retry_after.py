"""The retry delay that a server asks for: in headers, and in the text of an error.

A hint is obeyed only if it can be true: a limit that is not known to be used up is no reason to wait, a number of
seconds since 1970 is a time and not a duration, and nobody waits for months.
"""

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

_LONGEST_MS = 31 * 86_400_000
"""A longer delay is a mistake of the server. The longest period of a quota is a month."""

_UNIFIED = "anthropic-ratelimit-unified-"
"""Limits of a subscription, with a ``status`` (``allowed``, ``allowed_warning``, ``rejected``) and no ``remaining``."""

_LIMITS = ("x-ratelimit-reset", "ratelimit-reset", "anthropic-ratelimit-")

_IETF_ITEM = r"""(?i);\s*(r|t)\s*=\s*(\d+(?:\.\d+)?)"""
"""Parameters of an item such as ``"hour";r=0;t=1800`` (draft-ietf-httpapi-ratelimit-headers-08 and later)."""


def retry_after_ms(headers: Mapping[str, str], body: str, status: int, now: float) -> int | None:
    """Return the delay that the server asks for in milliseconds, None if it asks for none that can be true.

    Precedence: ``retry-after-ms``, ``retry-after`` (seconds, a date or, against RFC 9110, a timestamp), the headers
    with the reset time of an exhausted limit, a hint in the body. With a status other than 429, 503 and 529, a limit
    is no reason to wait.

    Args:
        headers: Of the answer, names in lower case.
        body: Its text.
        status: Its status.
        now: Seconds since 1970.
    """
    hint = _milliseconds(headers.get("retry-after-ms"), now)
    if hint is None:
        hint = _plausible(_seconds_or_date(headers.get("retry-after"), now))
    if hint is None and status in _LIMITED:
        hint = max(filter(None, map(_plausible, _reset_times(headers, now))), default=None)
    if hint is None:
        hint = _plausible(_from_text(body))
    return None if hint is None else max(0, round(hint))


def _plausible(wait: float | None) -> float | None:
    return wait if wait is not None and wait <= _LONGEST_MS else None


def _milliseconds(text: str | None, now: float) -> float | None:
    number = _number(text)
    return _plausible(number - now * 1000 if number is not None and number > _EPOCH_MS else number)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def _seconds_or_date(text: str | None, now: float) -> float | None:
    if not text:
        return None
    wait = _until(text.strip(), now)
    if wait is not None:
        return wait
    from email.utils import parsedate_to_datetime

    try:
        return (parsedate_to_datetime(text).timestamp() - now) * 1000
    except (ValueError, OverflowError):
        return None


def _reset_times(headers: Mapping[str, str], now: float) -> Iterator[float | None]:
    """Yield the reset time of each limit that is known to be exhausted."""
    for name, value in headers.items():
        if name == "ratelimit":
            yield from _ietf_times(value, now)
        elif name.startswith(_UNIFIED) and name.endswith("-reset"):
            if headers.get(name.removesuffix("reset") + "status", "").lower() == "rejected":
                yield _until(value, now)
        elif name.startswith(_LIMITS) and "reset" in name:
            left = _number(headers.get(name.replace("reset", "remaining", 1)))
            if left == 0:
                yield _until(value, now)


def _ietf_times(value: str, now: float) -> Iterator[float | None]:
    """Yield the reset times of the IETF's header ``RateLimit``, in the form of its current and of its older drafts."""
    for item in value.split(","):
        known = {name.lower(): number for name, number in re.findall(_IETF_ITEM, item)}
        if _number(known.get("r")) == 0 and "t" in known:
            yield _until(known["t"], now)
    older = dict(re.findall(r"(?i)\b(remaining|reset)\s*=\s*(\d+)", value))
    if _number(older.get("remaining")) == 0 and "reset" in older:
        yield _until(older["reset"], now)


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
