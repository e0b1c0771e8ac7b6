"""Deep copies of JSON values; an error names the path of a value that is not JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["NotJson", "json_copy"]

_EXACT = 2**53
"""Below this, a float without a fractional part is exactly the same number as the int."""


class NotJson(ValueError):
    """JSON cannot represent a value; the message contains its path, such as ``edits.0.newText`` or ``root``."""


def json_copy(value: Any, path: tuple[str, ...] = ()) -> Any:
    """Return a deep copy made of plain dicts and lists; ``2.0`` becomes ``2``, which is the same number in JSON.

    Raises:
        NotJson: A number is not finite, a key is not a string, or a value is of a type that JSON does not have.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _not_json(path, "must be number")
        return int(value) if value.is_integer() and abs(value) < _EXACT else value
    if isinstance(value, Mapping):
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            raise _not_json(path, f"property names {wrong!r} are invalid")
        return {key: json_copy(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_copy(item, (*path, str(index))) for index, item in enumerate(value)]
    raise _not_json(path, f"must be JSON, not {type(value).__name__}")


def _not_json(path: tuple[str, ...], problem: str) -> NotJson:
    return NotJson(f"{'.'.join(path) or 'root'}: {problem}")
