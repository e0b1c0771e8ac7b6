"""Replaces the texts in a value of attrs objects or JSON, also keys of JSON objects; signatures and images remain."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["map_texts"]

_T = TypeVar("_T")

_UNTOUCHED = frozenset(
    {
        "encrypted_content",
        "id",
        "model",
        "parent_id",
        "parentId",
        "provider",
        "signature",
        "textSignature",
        "text_signature",
        "thinkingSignature",
        "thinking_signature",
        "thoughtSignature",
        "thought_signature",
        "timestamp",
        "type",
    }
)
"""Names of values that a provider compares with its own, that are not text, or that pi uses as identifiers."""


_MEDIA = frozenset({"mimeType", "mime_type", "media_type"})
"""Names of fields next to the ``data`` of an image."""


def map_texts(value: _T, change: Callable[[str], str]) -> _T:
    """Return the value with changed texts; parts in which nothing changes remain the same objects."""
    result: Any = _mapped(value, change)
    return result  # type: ignore[no-any-return]  # of the same type, by construction


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return _mapped_object(value, change)
    if isinstance(value, list | tuple):
        items = [_mapped(each, change) for each in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    changed = {}
    kind: Any = type(value)  # mypy does not see that a class can be hashed
    for name, alias in _fields(kind):
        old = getattr(value, name)
        if type(old) not in _WITHOUT_TEXT and (new := _mapped(old, change)) is not old:
            changed[alias] = new
    return attrs.evolve(value, **changed) if changed else value


_WITHOUT_TEXT = frozenset({bool, float, int, type(None)})


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    """Return the fields of an attrs class that may contain texts, each with its name in the constructor."""
    if not attrs.has(kind):
        return ()
    fields = attrs.fields(kind)
    is_image = hasattr(kind, "mime_type") or any(field.name == "mime_type" for field in fields)
    kept = _UNTOUCHED | {"data"} if is_image else _UNTOUCHED
    return tuple((field.name, field.alias or field.name) for field in fields if field.init and field.name not in kept)


_SHORTEST_NAME = 8
"""Characters of the shortest name that may contain a secret; words without digits are names of fields."""


def _mapped_object(value: dict[Any, Any], change: Callable[[str], str]) -> dict[Any, Any]:
    kept = _UNTOUCHED | {"data"} if _MEDIA & value.keys() else _UNTOUCHED
    changed, is_same = {}, True
    for name, each in value.items():
        is_text = isinstance(name, str) and len(name) >= _SHORTEST_NAME and not name.isalpha()
        new_name = change(name) if is_text else name
        new = each if name in kept and isinstance(each, str) else _mapped(each, change)
        changed[new_name] = new
        is_same = is_same and new is each and new_name is name
    return value if is_same else changed
