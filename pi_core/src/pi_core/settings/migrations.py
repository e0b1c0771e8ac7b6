"""Migration of settings in older files, and settings that are ignored in a project's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GLOBAL_ONLY", "PROTECTED", "migrate", "remove_global_only"]

GLOBAL_ONLY = (
    "cacheWarming",
    "defaultProjectTrust",
    "httpProxy",
    "packages.allowBuilds",
    "packages.catalogues",
    "packages.findLinks",
    "packages.index",
    "packages.installer",
    "packages.minAgeDays",
)
"""Settings that a project's file cannot set."""


PROTECTED = (
    "acp",
    "budgets",
    "defaultProjectTrust",
    "extensions",
    "externalEditor",
    "guardrails",
    "hooks",
    "npmCommand",
    "packages",
    "packages.allowBuilds",
    "packages.autoInstall",
    "packages.catalogues",
    "packages.deny",
    "packages.findLinks",
    "packages.index",
    "packages.installer",
    "packages.minAgeDays",
    "packages.verify",
    "plugins",
    "redact",
    "sandbox",
    "shellCommandPrefix",
    "shellPath",
)
"""Settings that decide which plugins, guards or programs are used; plugins need the user's consent to change them."""


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


def remove_global_only(values: dict[str, Any]) -> list[str]:
    """Remove ``GLOBAL_ONLY`` settings from a project's settings; return the names of the removed settings."""
    return [key for key in GLOBAL_ONLY if values.pop(key, None) is not None]
