"""Classifies failures by the error texts of providers; the only module that matches these texts.

Kinds differ in what helps: waiting (``throttle``, ``overload``, ``transient``), money (``quota``), another key
(``auth``), a smaller conversation (``overflow``), or unknown (``other``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage

__all__ = ["WORTH_WAITING", "FailureKind", "kind_of", "server_hint_ms", "status_of"]

FailureKind: TypeAlias = Literal["overflow", "quota", "auth", "throttle", "overload", "transient", "other"]

WORTH_WAITING = frozenset({"throttle", "overload", "transient"})
"""Transient failures."""

_STATUS = r"(?<![\d.,:$-])(?:{})(?![\d.,]\d|\d)"
"""A status is a separate number: not part of a longer number, a time, a price or a version."""

_QUOTA = re.compile(
    r"insufficient_quota|insufficient (?:balance|credits?|funds|quota)|billing|credit balance|out of credits"
    r"|quota (?:exceeded|exhausted)|exceeded your (?:current )?quota|usage[_ ]limit|usage_not_included"
    r"|monthly (?:usage|spending) limit|payment required|subscription",
    re.IGNORECASE,
)
_PER_MINUTE = re.compile(r"per[ _-]?(?:second|minute)|rate.?limit|retry (?:in|after)", re.IGNORECASE)
_AUTH = re.compile(
    r"invalid (?:x-)?api.?key|incorrect api key|authentication|unauthori[sz]ed|permission.?denied|access denied"
    r"|no api key|expired token|token (?:has )?expired|" + _STATUS.format("401|403"),
    re.IGNORECASE,
)
_OVERLOAD = re.compile(
    r"overloaded|over capacity|at capacity|capacity (?:exceeded|constraints)|no capacity|server is busy|model is busy"
    r"|currently busy|high (?:demand|load)|engine is currently|" + _STATUS.format("529"),
    re.IGNORECASE,
)
_TRANSIENT = re.compile(
    r"service.?unavailable|server.?error|internal.?error|internal server|bad gateway|gateway time.?out"
    r"|upstream.?connect|reset before headers|connection.?(?:error|refused|reset|closed|lost|aborted)"
    r"|network.?error|fetch failed|other side closed|socket hang up|socket (?:error|closed)"
    r"|econn\w+|etimedout|enotfound|eai_again|dns"
    r"|cannot be resolved|time[d]?.?out|terminated|retry delay|please (?:retry|try again)|try your request again"
    r"|websocket (?:closed|error)|stream ended (?:before|without)|ended before|premature|incomplete chunked"
    r"|http/?2.*(?:cancel|refused|goaway|internal_error)|resource.?exhausted|unexpected end"
    r"|" + _STATUS.format("408|500|502|503|504|520|521|522|524"),
    re.IGNORECASE,
)


def kind_of(message: AssistantMessage, context_window: int | None = None) -> FailureKind:
    """Return the kind of failure of an answer that ended in an error.

    Throttling is never an overflow, whatever the text says about tokens; a quota that is not refilled within minutes
    is not throttling, although hosts send 429 for both.
    """
    from pi_core import is_context_overflow, is_throttling

    text, status = message.error_message or "", status_of(message)
    fits: dict[FailureKind, bool] = {  # the first match wins
        "overflow": is_context_overflow(message, context_window),
        "quota": _QUOTA.search(text) is not None and not _asks_to_wait(message),
        "throttle": is_throttling(text),
        "overload": _OVERLOAD.search(text) is not None,
        "auth": status in (None, 400, 401, 403) and _AUTH.search(text) is not None,
        "transient": _TRANSIENT.search(text) is not None or (status is not None and status >= 500),  # noqa: PLR2004 - RFC 9110, 15.6
    }
    return next((kind for kind, does in fits.items() if does), "other")


def status_of(message: AssistantMessage) -> int | None:
    """Return the HTTP status of a failed request, if its provider recorded it."""
    status = _failure(message).get("status")
    return status if isinstance(status, int) else None


def server_hint_ms(message: AssistantMessage) -> int | None:
    """Return the retry delay that the server asked for: as recorded by the provider, else from the text."""
    kept = _failure(message).get("retryAfterMs")
    if isinstance(kept, int | float) and not isinstance(kept, bool) and kept >= 0:
        return int(kept)
    return _wait_in(message.error_message or "")


_WAIT = re.compile(
    r"(?:retry|try again|reset)s?\s+(?:in|after)\s+"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?)?[\s,]*)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|milli|s|m|h)?", re.IGNORECASE)
_UNIT_MS = {"ms": 1, "milli": 1, "s": 1000, "": 1000, "m": 60_000, "h": 3_600_000}


def _wait_in(text: str) -> int | None:
    found = _WAIT.search(text)
    if found is None:
        return None
    return round(sum(float(amount) * _UNIT_MS[unit.lower()] for amount, unit in _PART.findall(found[1])))


def _asks_to_wait(message: AssistantMessage) -> bool:
    """Whether a text about a quota means one that is refilled shortly."""
    return _PER_MINUTE.search(message.error_message or "") is not None and server_hint_ms(message) is not None


def _failure(message: AssistantMessage) -> dict[str, object]:
    failure = message.extra.get("requestFailure")
    return failure if isinstance(failure, dict) else {}
