"""The first line of a client: its name, whether it is an observer, and which entries it already has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Hello", "parse_hello"]

_EXAMPLE = 'The first line must be {"type": "hello"}, with "role" ("control" or "observe") and "since" where needed'


@frozen
class Hello:
    """The first line that a client sends.

    Attributes:
        since: The id of the last entry that the client has; None if it has no entries.
        observes: Whether the client is an observer, which cannot control the session.
        client: The client's name.
    """

    since: str | None = None
    observes: bool = False
    client: str = ""


def parse_hello(line: bytes | None) -> Hello:
    """Parse a client's first line.

    Raises:
        UserError: The line is not a valid hello.
    """
    try:
        data = json.loads(line or b"")
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("type") != "hello":
        raise UserError(f"{_EXAMPLE}, not {(line or b'')[:60]!r}")
    role = data.get("role", "control")
    if role not in ("control", "observe"):
        raise UserError(f"Field 'role' of hello must be 'control' or 'observe', not {role!r}")
    return Hello(_text(data, "since"), role == "observe", _text(data, "client") or "")


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise UserError(f"Field {name!r} of hello must be a string, not {value!r}")
    return value
