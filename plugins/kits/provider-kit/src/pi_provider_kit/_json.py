"""JSON as servers send it: read as leniently as is safe, what is of use in it, and how it is written and shown."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["compact_json", "dicts", "parse_json", "shown_bytes", "token_count"]

_MOST = 10**15
"""More tokens than that are nonsense, and too much for arithmetic on prices."""

_SHOWN = 120
"""Bytes of what cannot be understood that its error shows."""


def parse_json(data: bytes) -> Any:
    """Return what a server sent.

    Escaped halves of surrogate pairs pass, which strict parsers refuse: ``WholeText`` joins those that meet again in
    the next event, ``clean_json`` leaves the others out.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    import orjson

    try:
        return orjson.loads(data)
    except ValueError:
        try:
            return json.loads(data)
        except RecursionError as error:
            message = "nested too deeply"
            raise ValueError(message) from error


def compact_json(value: Any) -> str:
    """Return plain data as JSON without spaces. What UTF-8 cannot hold is escaped."""
    import orjson

    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a number beyond 64 bits, half a surrogate pair
        return json.dumps(value, separators=(",", ":"))


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; whatever else a server sends there is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def token_count(*values: Any) -> int:
    """Return the first of the values that is a number of tokens, 0 where none is."""
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool) and -_MOST < value < _MOST:  # no NaN
            return max(0, int(value))
    return 0


def shown_bytes(data: bytes) -> str:
    """Return the beginning of what cannot be understood, in quotes, for an error."""
    text = data[:_SHOWN].decode("utf-8", "replace")
    return repr(text + "..." if len(data) > _SHOWN else text)
