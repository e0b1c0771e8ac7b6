"""Migration of settings in older files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["migrate"]


def migrate(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings with their current names, in the order of the file; a current name wins over an old name.

    ``queueMode`` is now ``steeringMode``; ``websockets``, true or false, is now ``transport``; ``skills`` as an object
    is now ``enableSkillCommands`` and the list ``skills``.
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
    elif key == "skills" and isinstance(value, dict):
        if "enableSkillCommands" in value:
            yield "enableSkillCommands", value["enableSkillCommands"]
        if value.get("customDirectories"):
            yield "skills", value["customDirectories"]
    else:
        yield key, value
