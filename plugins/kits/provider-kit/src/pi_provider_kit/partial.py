"""Tool arguments that are still being received, as far as they can be read."""

from __future__ import annotations

from typing import Any

__all__ = ["PartialJson"]


class PartialJson:
    """Parses the beginning of a JSON object; a ``MessageBuilder`` takes one as ``parse_partial``.

    An unclosed string is included as far as received, an incomplete key or number is not. The last result is cached:
    calling it again with the same text costs nothing. A front end that reads it at every delta of a long argument
    should throttle (100 KB take 0.8 ms).
    """

    __slots__ = ("_text", "_value")

    def __init__(self) -> None:
        self._text = ""
        self._value: dict[str, Any] = {}

    def __call__(self, text: str) -> dict[str, Any]:
        """Return the object so far, ``{}`` where there is none; do not change it."""
        if text != self._text:
            self._value = _parsed(text)
            self._text = text
        return self._value


def _parsed(text: str) -> dict[str, Any]:
    import jiter

    try:
        value = jiter.from_json(text.encode("utf-8", "replace"), partial_mode="trailing-strings")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
