"""Ids of sessions and entries, timestamps, and the validation of session ids that a user chooses."""

from __future__ import annotations

import os
import re
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["milliseconds", "new_entry_id", "new_session_id", "timestamp", "validate_session_id"]

_TRIES = 100
_CHOSEN_ID = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"


def new_session_id() -> str:
    """Return a UUID of version 7, so that ids sort by time of creation."""
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76  # the version
    value = value & ~(0x3 << 62) | 0x2 << 62  # the variant
    return str(uuid.UUID(int=value))


def validate_session_id(chosen: str | None) -> str:
    """Return the id that a user chose for a session, or a new one.

    Raises:
        UserError: The id cannot be part of a file name.
    """
    if chosen is None:
        return new_session_id()
    if not re.fullmatch(_CHOSEN_ID, chosen):
        raise UserError(
            f"Session id {chosen!r} cannot be used: it must be letters, digits, '.', '_' and '-', "
            "and begin and end with a letter or digit."
        )
    return chosen


def new_entry_id(taken: Container[str]) -> str:
    """Return 8 hex digits that are not taken; a full UUID after 100 collisions."""
    for _ in range(_TRIES):
        short = os.urandom(4).hex()
        if short not in taken:
            return short
    return str(uuid.uuid4())


def timestamp() -> str:
    """Return the current time in the format of entries: ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(timestamp: str) -> int:
    """Return an entry's timestamp in Unix milliseconds, the format of messages; 0 for an invalid timestamp."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
