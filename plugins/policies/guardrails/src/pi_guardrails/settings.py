"""Reads the guard's settings strictly: an invalid value is an error, never replaced by a default.

Elsewhere an invalid value, or a file that is not JSON, causes a notice and is ignored. A limit or a rule that silently
does not apply would be worse than none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PluginSetting, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import SettingsView

__all__ = [
    "AMOUNTS",
    "RATE",
    "SCOPES",
    "SETTINGS",
    "is_enabled",
    "items_of",
    "limits_of",
    "list_of",
    "mistake",
    "must_be",
]

SCOPES = ("run", "session")
AMOUNTS = ("requests", "tokens", "dollars")
RATE = "toolCallsPerMinute"

_TOP = ("guardrails",)
_LIMITS = (*_TOP, "limits")
_KEYS = frozenset({"enabled", "rules", "protectedPaths", "limits"})

_RULE = {
    "type": "object",
    "properties": {
        "action": {"enum": ["allow", "ask", "deny"], "description": "Action if all other fields match"},
        "tool": {"type": "string", "description": "Pattern of the tool's name; any tool if not set"},
        "command": {"type": "string", "description": "Pattern of a simple command"},
        "path": {"type": "string", "description": "Pattern of a file"},
        "reason": {"type": "string", "description": "Reason, in the user's words"},
    },
}
SETTINGS = (
    PluginSetting(
        "guardrails.enabled",
        schema={"type": "boolean", "default": False},
        description="Ask before dangerous commands and writes to protected paths",
        project="enable",
    ),
    PluginSetting(
        "guardrails.rules",
        schema={"type": "array", "items": _RULE, "default": []},
        description="Rules to check before pi's own; the first match applies",
        project="restrict",
    ),
    PluginSetting(
        "guardrails.protectedPaths",
        schema={"type": "array", "items": {"type": "string"}, "default": []},
        description="Names of additional protected files; `!name` removes one",
        project="restrict",
    ),
    *(
        PluginSetting(
            f"guardrails.limits.{scope}.{RATE}",
            schema={"type": "number", "minimum": 0},
            description="Tool calls within a minute",
            project="lower",
        )
        for scope in SCOPES
    ),
)
"""The declarations. The other limits are declared by the plugin that keeps them."""


def is_enabled(settings: SettingsView) -> bool:
    """Return whether the guard is enabled.

    Raises:
        UserError: The settings are ambiguous or invalid, for example because of an unknown name.
    """
    switch = (*_TOP, "enabled")
    enabled = settings.get(switch)
    if enabled is False and settings.unread(switch) is None:
        return False
    given = _object(settings, _TOP)
    if not isinstance(enabled, bool | None):
        raise mistake(settings, switch, must_be("true or false", enabled))
    _check_names(settings, _TOP, given, _KEYS)
    return bool(enabled)


def limits_of(settings: SettingsView) -> dict[tuple[str, str], float]:
    """Return the limits by scope and measure; a missing one does not apply.

    Raises:
        UserError: A limit is not a number, or is unknown.
    """
    scopes = _object(settings, _LIMITS)
    _check_names(settings, _LIMITS, scopes, SCOPES)
    found: dict[tuple[str, str], float] = {}
    for scope in SCOPES:
        amounts = _object(settings, (*_LIMITS, scope))
        _check_names(settings, (*_LIMITS, scope), amounts, (*AMOUNTS, RATE))
        for measure, limit in amounts.items():
            if limit is None:
                continue
            if not _is_amount(limit):
                raise mistake(settings, (*_LIMITS, scope, measure), must_be("a number of at least 0", limit))
            found[scope, measure] = limit
    return found


def list_of(settings: SettingsView, name: str) -> list[Any]:
    """Return a setting of the guard that is a list, empty if it is not set.

    Raises:
        UserError: It is not a list.
    """
    given = _read(settings, (*_TOP, name), [])
    if not isinstance(given, list):
        raise mistake(settings, (*_TOP, name), must_be("a list", given))
    return given


def items_of(settings: SettingsView, name: str) -> list[tuple[str, int, Any]]:
    """Return the items of a list in all places that set it, each with its place and its position there.

    The user's own file comes before the project's, which adds to it and takes nothing away.

    Raises:
        UserError: One of these places has something else than a list.
    """
    list_of(settings, name)
    items: list[tuple[str, int, Any]] = []
    for origin, given in settings.each((*_TOP, name)):
        if not isinstance(given, list | None):
            raise mistake(settings, (*_TOP, name), must_be("a list", given), place=origin)
        items += [(origin, number, each) for number, each in enumerate(given or ())]
    return items


def mistake(
    settings: SettingsView, steps: Sequence[str], what: str, inside: str = "", *, place: str | None = None
) -> UserError:
    """Return the error for an invalid setting, with the place where it was set.

    Args:
        settings: The settings that contain it.
        steps: The parts of its name.
        what: What is wrong with it, starting with the verb.
        inside: The invalid part of it: ``[0].path``.
        place: Where it was set; None for where its effective value was.
    """
    effective = settings.place(steps)
    if place is None or (effective or "").rpartition(":")[0] == place:
        place = effective
    return UserError(f"setting {'.'.join(steps)}{inside} {what}{f' ({place})' if place else ''}")


def must_be(wanted: str, value: object) -> str:
    """Return the error of an invalid value."""
    return f"must be {wanted}, not {value!r:.60}"


def _read(settings: SettingsView, steps: Sequence[str], default: Any) -> Any:
    why = settings.unread(steps)
    if why is not None:
        raise UserError(f"{why}, in a file that may set {'.'.join(steps)}")
    return settings.get(steps, default)


def _object(settings: SettingsView, steps: Sequence[str]) -> dict[str, Any]:
    given = _read(settings, steps, {})
    if not isinstance(given, dict):
        raise mistake(settings, steps, must_be("an object", given))
    return given


def _check_names(
    settings: SettingsView, steps: Sequence[str], given: dict[str, Any], known: Sequence[str] | frozenset[str]
) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise mistake(settings, (*steps, unknown), f"does not exist; use one of {', '.join(sorted(known))}")


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0 and (isinstance(value, int) or math.isfinite(value))
