"""The kinds of failure that the policy tells apart, and the delay that the server asked for.

Which failure is of which kind is decided by the table of ``pi_hookspecs.failures``.

Kinds differ in what helps: waiting (``throttle``, ``overload``, ``transient``), money (``quota``), another key
(``auth``), a smaller conversation (``overflow``), or unknown (``other``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage

__all__ = ["WORTH_WAITING", "FailureKind", "kind_of", "server_hint_ms", "status_of"]

FailureKind: TypeAlias = Literal["overflow", "quota", "auth", "throttle", "overload", "transient", "other"]

WORTH_WAITING = frozenset({"throttle", "overload", "transient"})
"""Transient failures."""

_ACTED_UPON = WORTH_WAITING | {"overflow", "quota", "auth"}


def kind_of(message: AssistantMessage, context_window: int | None = None, host: str = "") -> FailureKind:
    """Return the kind of failure of an answer that ended in an error; ``host`` is the server's name, if it is known."""
    from pi_core import failure_kind, is_context_overflow

    if message.stop_reason != "error":
        return "overflow" if is_context_overflow(message, context_window) else "other"
    kind = failure_kind(message, host=host, hinted=server_hint_ms(message) is not None)
    return cast("FailureKind", kind) if kind in _ACTED_UPON else "other"


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


def _failure(message: AssistantMessage) -> dict[str, object]:
    failure = message.extra.get("requestFailure")
    return failure if isinstance(failure, dict) else {}
