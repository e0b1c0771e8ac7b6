"""How a field of the settings' schema is declared."""

from __future__ import annotations

from typing import Any

from attrs import field

__all__ = ["setting"]


def setting(
    default: Any,
    description: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    key: str | None = None,
) -> Any:
    """Return a field with a default, a type's own default if that is a type, and its description in the documentation.

    Args:
        default: The default value.
        description: What it does, a sentence without its full stop.
        at_least: The smallest number.
        at_most: The largest number.
        key: The key in the file, if it is not the field's name in camelCase.
    """
    limits = {"minimum": at_least, "maximum": at_most, "key": key}
    metadata = {"description": description, **{name: limit for name, limit in limits.items() if limit is not None}}
    if isinstance(default, type):
        return field(factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)
