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

LONG = 12
"""Messages of a conversation whose JSON is kept; that of a shorter one takes no time."""

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


def json_bytes(value: Any) -> bytes:
    """Return plain data as JSON without spaces, in UTF-8; halves of surrogate pairs become question marks."""
    import orjson

    try:
        return orjson.dumps(value)
    except TypeError:  # a number beyond 64 bits, half a surrogate pair: models do make such tool calls
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def request_json(body: Any) -> bytes:
    """Return the body of a request as JSON, joined from what is kept of a long conversation."""
    import orjson

    joined = body
    if _is_long(body):
        from pi_provider_kit.kept import with_kept

        joined = with_kept(body)
    try:
        return orjson.dumps(joined)
    except TypeError:
        pass
    try:
        return orjson.dumps(_in_parts(joined, 1))
    except TypeError:  # a name of a field
        return json_bytes(body)


def _is_long(body: Any, depth: int = 1) -> bool:
    if isinstance(body, dict) and depth >= 0:
        return any(_is_long(each, depth - 1) for each in body.values())
    return isinstance(body, list) and len(body) >= LONG


def _in_parts(value: Any, depth: int) -> Any:
    """Return a body with each message encoded alone, so that an odd number in one does not change the others."""
    import orjson

    if isinstance(value, dict) and depth >= 0:
        return {str(name): _in_parts(each, depth - 1) for name, each in value.items()}
    if isinstance(value, list):
        return [each if isinstance(each, orjson.Fragment) else orjson.Fragment(json_bytes(each)) for each in value]
    return orjson.Fragment(json_bytes(value))


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
