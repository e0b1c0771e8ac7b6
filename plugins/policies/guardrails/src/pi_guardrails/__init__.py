"""Guards: dangerous commands, protected paths, and limits of requests, tokens, money and tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PermissionStore, PiAPI, PluginSetting

__all__ = ["activate", "pi_when", "register_permissions", "register_settings"]

pi_when = {"settings": ["guardrails"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Enable the guard in sessions whose settings turn it on (``guardrails.enabled``)."""
    from pi_guardrails.switch import Switch

    pi.on("session_start", Switch(pi).session_start)


@hookimpl
def register_permissions() -> Sequence[PermissionStore]:
    """Add the user's rules."""
    from pi_guardrails.permissions import GuardRules

    return [GuardRules()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``guardrails.*``."""
    from pi_guardrails.settings import SETTINGS

    return SETTINGS
