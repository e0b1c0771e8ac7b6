"""JSON of servers: lenient parsing, extraction of typed values, and serialisation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = [
    "compact_json",
    "dicts",
    "is_complete",
    "merged_counts",
    "parse_json",
    "parse_object",
    "shown_bytes",
    "token_count",
]

_MOST = 10**15
"""More tokens than that are nonsense, and too much for arithmetic on prices."""

_SHOWN = 120
"""Bytes of invalid data that an error shows."""


def parse_json(data: bytes) -> Any:
    """Parse JSON of a server.

    Escaped halves of surrogate pairs are accepted, which strict parsers reject: ``WholeText`` joins those whose other
    half is in the next event, ``clean_json`` removes the others. So are raw control characters in strings, and bytes
    that are not UTF-8, which become U+FFFD: an answer is not lost for one of them.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    import orjson

    try:
        return orjson.loads(data)
    except ValueError:
        try:
            return json.loads(data.decode("utf-8-sig", "replace"), strict=False)
        except RecursionError as error:
            message = "nested too deeply"
            raise ValueError(message) from error


def parse_object(data: bytes, broken: Callable[[str], Exception]) -> dict[str, Any]:
    """Parse an event of a stream, which must be a JSON object.

    Args:
        data: The event.
        broken: Returns the error to raise, given what is wrong with the event.
    """
    try:
        event = parse_json(data)
    except ValueError as error:
        raise broken(f"{shown_bytes(data)} is not JSON ({error})") from error
    if not isinstance(event, dict):
        raise broken(f"{shown_bytes(data)} is not an event")
    return event


def is_complete(arguments: str) -> bool:
    """Whether the text of a call's arguments is all of it: a JSON object, null or nothing."""
    text = arguments.strip()
    if text in ("", "null"):
        return True
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def compact_json(value: Any) -> str:
    """Return plain data as JSON without spaces. Unpaired surrogates are escaped."""
    import orjson

    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a number beyond 64 bits, half a surrogate pair
        return json.dumps(value, separators=(",", ":"))


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; other values, and anything but a list, are left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def token_count(*values: Any) -> int:
    """Return the first of the values that is a number of tokens, 0 if none is."""
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool) and -_MOST < value < _MOST:  # no NaN
            return max(0, int(value))
    return 0


def merged_counts(known: dict[str, Any], reported: dict[str, Any], together: Collection[str] = ()) -> dict[str, Any]:
    """Return the counts of all reports so far, later ones in place of earlier ones.

    Reports are cumulative, and some servers end with one that has zeros or nulls for what they reported before: these
    change nothing.

    Args:
        known: The reports before.
        reported: The new one.
        together: Names of counts that belong together: where one of them is not zero, a zero of another is meant.
    """
    merged = dict(known)
    meant = any(reported.get(name) for name in together if not isinstance(reported.get(name), dict))
    for name, value in reported.items():
        before = merged.get(name)
        if isinstance(value, dict) and isinstance(before, dict) and not (meant and name in together):
            merged[name] = merged_counts(before, value)
        elif value or not before or (meant and name in together and value is not None):
            merged[name] = value
    return merged


def shown_bytes(data: bytes) -> str:
    """Return the beginning of invalid data, quoted, for an error."""
    text = data[:_SHOWN].decode("utf-8", "replace")
    return repr(text + "..." if len(data) > _SHOWN else text)
