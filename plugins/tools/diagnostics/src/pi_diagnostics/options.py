"""The settings ``diagnostics.*``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_diagnostics.servers import TABLE, Checker
from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import SettingsView

__all__ = ["SETTINGS", "Options", "read_options"]

SECONDS = 2.0
_LONGEST = 20
"""Seconds; hooks have 30 of them by default."""
_SERVER = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        "languages": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
    },
    "required": ["command", "languages"],
    "additionalProperties": False,
}
_ENABLED = PluginSetting(
    "diagnostics.enabled",
    schema={"type": "boolean", "default": True},
    description="Return the errors that an edit made to the model",
    project="disable",
)
_SERVERS = PluginSetting(
    "diagnostics.servers",
    schema={"type": "object", "additionalProperties": {"anyOf": [{"const": False}, _SERVER]}, "default": {}},
    description="Language servers by name, in addition to the known ones or in place of them; false switches one off",
    protected=True,
    project="disable",
)
_TIMEOUT = PluginSetting(
    "diagnostics.timeout",
    schema={"type": "number", "exclusiveMinimum": 0, "maximum": _LONGEST, "default": SECONDS},
    description="Seconds that an edit waits for its diagnostics at most",
    project="lower",
)
SETTINGS = (_ENABLED, _SERVERS, _TIMEOUT)


@frozen
class Options:
    """The settings of a session.

    Attributes:
        enabled: Whether there are diagnostics at all.
        checkers: The programs to use, by name.
        seconds: The bound of one pass.
        problems: What is wrong with the settings, as sentences.
    """

    enabled: bool
    checkers: Mapping[str, Checker]
    seconds: float
    problems: tuple[str, ...] = ()


def read_options(settings: SettingsView) -> Options:
    """Return the settings; an entry that makes no sense is left out and reported."""
    checkers, problems = dict(TABLE), []
    for place, value in settings.each(_SERVERS.name):
        for name, entry in value.items() if isinstance(value, dict) else ():
            if entry is False:
                checkers.pop(name, None)
            elif (checker := _checker(name, entry)) is None:
                problems.append(
                    f"{place}: diagnostics.servers.{name} is {entry!r}; it must be false, or an object with 'command'"
                    " (a list of strings) and 'languages' (endings of files and their languages, as {'.zig': 'zig'})."
                )
            else:
                checkers[name] = checker
    seconds = settings.get(_TIMEOUT.name)
    seconds = seconds if _is_duration(seconds) else SECONDS
    return Options(settings.get(_ENABLED.name) is not False, checkers, float(seconds), tuple(problems))


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _LONGEST


def _checker(name: str, entry: Any) -> Checker | None:
    if not isinstance(entry, dict):
        return None
    command, languages = entry.get("command"), entry.get("languages")
    if not (isinstance(command, list) and command and all(isinstance(each, str) and each for each in command)):
        return None
    if not (isinstance(languages, dict) and languages and all(isinstance(each, str) for each in languages.values())):
        return None
    by_ending = {f".{ending.removeprefix('.').lower()}": language for ending, language in languages.items()}
    group = TABLE[name].group if name in TABLE else name
    return Checker(name, tuple(command), by_ending, group, runs_project=True)  # what it executes is not known
