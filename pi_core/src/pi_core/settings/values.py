"""Operations on settings as nested objects: parsing of keys, lookup, merging, setting and removing."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "MISSING",
    "Key",
    "is_finite",
    "leaves",
    "look_up",
    "merge",
    "name_of",
    "nested",
    "put",
    "remove",
    "steps_of",
]

Key: TypeAlias = "str | Sequence[str]"
"""``"hooks.timeout"``, or a tuple of steps if a name has a dot: ``("hooks", "plugins", "a.b", "timeout")``."""

MISSING = object()
OF_PACKAGES = "packages."
_STEP = r'"([^"]*)"|([^."]+)'


def steps_of(key: Key) -> tuple[str, ...]:
    """Return the steps of a key; ``hooks.plugins."a.b"`` has three.

    ``packages.deny`` is one step, because ``packages`` is a list that the TypeScript pi also reads; its options are
    separate keys with a dot in their names.
    """
    if not isinstance(key, str):
        return tuple(key)
    if key.startswith(OF_PACKAGES):
        return (key,)
    if '"' not in key:
        return tuple(key.split("."))
    return tuple(quoted or plain for quoted, plain in re.findall(_STEP, key))


def name_of(steps: Sequence[str]) -> str:
    """Return the dotted name of steps: the inverse of ``steps_of``."""
    if len(steps) == 1 and steps[0].startswith(OF_PACKAGES):
        return steps[0]
    return ".".join(f'"{step}"' if "." in step or not step else step for step in steps)


def look_up(values: Any, steps: Sequence[str]) -> Any:
    """Return the value at a path, or ``MISSING``."""
    for step in steps:
        if not isinstance(values, dict) or step not in values:
            return MISSING
        values = values[step]
    return values


def merge(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Return both merged: objects key by key, other values from ``over``; lists are replaced, not joined."""
    merged = dict(under)
    for key, value in over.items():
        below = under.get(key)
        merged[key] = merge(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return merged


def nested(steps: Sequence[str], value: Any) -> dict[str, Any]:
    """Return nested objects with one value at a path."""
    for step in reversed(steps):
        value = {step: value}
    return dict(value)


def put(values: dict[str, Any], steps: Sequence[str], value: Any) -> tuple[str, ...] | None:
    """Set the value at a path, creating the objects on it.

    Returns:
        None, or, if a value on the path is not an object, the steps to that value; then nothing was set.
    """
    for depth, step in enumerate(steps[:-1], 1):
        below = values.setdefault(step, {})
        if not isinstance(below, dict):
            return tuple(steps[:depth])
        values = below
    values[steps[-1]] = value
    return None


def remove(values: dict[str, Any], steps: Sequence[str]) -> bool:
    """Remove the value at a path, and the objects on it that become empty; return False if there is no value."""
    step, *further = steps
    if step not in values:
        return False
    if further:
        below = values[step]
        if not isinstance(below, dict) or not remove(below, further):
            return False
        if below:
            return True
    del values[step]
    return True


def leaves(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the value of everything that is not an object, and of empty objects."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), value


def is_finite(number: float) -> bool:
    """Return whether a number is finite as a float."""
    try:
        return math.isfinite(number)
    except OverflowError:  # an int with more digits than a float can represent
        return False
