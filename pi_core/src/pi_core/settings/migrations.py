"""Migration of settings in older files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["migrate"]


def migrate(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings with their current names, in the order of the file; a current name wins over an old name.

    ``queueMode`` is now ``steeringMode``; ``websockets``, true or false, is now ``transport``; of ``skills`` as an
    object, ``customDirectories`` is now the list ``skills``, and the other keys are settings of their own.
    ``httpIdleTimeoutMs`` may be ``disabled``, which is 0.
    """
    return {
        name: migrated
        for key, value in values.items()
        for name, migrated in _current_names(key, value)
        if name == key or name not in values
    }


def _current_names(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if key == "queueMode":
        yield "steeringMode", value
    elif key == "websockets" and isinstance(value, bool):
        yield "transport", "websocket" if value else "sse"
    elif (key, value) == ("httpIdleTimeoutMs", "disabled"):
        yield key, 0
    elif key == "skills" and isinstance(value, dict):
        yield from ((name, each) for name, each in value.items() if name != "customDirectories")
        if value.get("customDirectories"):
            yield "skills", value["customDirectories"]
    else:
        yield key, value
