"""Settings as older files spell them, and what of a file does not count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GLOBAL_ONLY", "migrated", "take_global_only"]

GLOBAL_ONLY = ("defaultProjectTrust",)
"""What a project may not say of itself."""


def migrated(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings with today's names, in the order of the file; what is there under its new name stays.

    ``queueMode`` is ``steeringMode``; ``websockets``, true or false, is a ``transport``; ``skills`` as an object
    holds what is ``enableSkillCommands`` and the list ``skills`` today.
    """
    return {
        name: today
        for key, value in values.items()
        for name, today in _today(key, value)
        if name == key or name not in values
    }


def _today(key: str, value: Any) -> Iterator[tuple[str, Any]]:
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


def take_global_only(values: dict[str, Any]) -> list[str]:
    """Remove from a project's settings what only the user's own file may say; return the names of what was there."""
    return [key for key in GLOBAL_ONLY if values.pop(key, None) is not None]
