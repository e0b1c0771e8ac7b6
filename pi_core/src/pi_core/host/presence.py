"""Refuses a session without the plugins that it must not start without: required ones, and known guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.host.records import required_plugins
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.host import PluginHost

__all__ = ["check_packages", "check_presence"]


def check_presence(host: PluginHost) -> None:
    """Refuse a session if a plugin is missing that is required or is known to decide what tools may do.

    A missing guard must not allow what it guards, whatever the reason for its absence.

    Raises:
        UserError: Such a plugin is missing; the message names it and says how to start without it.
    """
    for name in sorted(required_plugins(host.settings) - host.disabled_for_run):
        reason = _why_absent(host, name)
        if reason is not None:
            raise UserError(
                f"No session starts, because plugins.required names {name!r}, and {reason}. Fix it, or start without "
                f"it: --disable {name}"
            )
    for name, hooks in host.absent_guards(host.records).items():
        raise UserError(
            f"No session starts, because plugin {name!r} decides about {', '.join(hooks)}, and "
            f"{_problem(host, name)}. Fix it, or start without it: --disable {name}"
        )


def check_packages(host: PluginHost, cwd: Path) -> None:
    """Refuse a session if a package of the settings is not installed and is known to decide what tools may do.

    Raises:
        UserError: Such a package is missing; the message names it and says how to start without it.
    """
    from pi_core.host.package_resources import missing_guards

    for source, guards in missing_guards(host.settings, str(cwd)).items():
        for name, hooks in guards.items():
            if name not in host.disabled_for_run:
                raise UserError(
                    f"No session starts, because plugin {name!r} of {source} decides about {', '.join(hooks)}, and the"
                    f" package is not installed here. Install it with pi sync, or start without it: --disable {name}"
                )


def _why_absent(host: PluginHost, name: str) -> str | None:
    if name in host.added():
        return None
    if name not in host.records:
        return "it is not installed"
    if name in host.disabled:
        return host.left_out.get(name) or "it is disabled in the settings"
    if not host.is_wanted(host.records[name]):
        return None
    host.load(name)
    return None if host.is_loaded(name) else _problem(host, name)


def _problem(host: PluginHost, name: str) -> str:
    causes = [each.message for each in host.problems if (each.plugin, each.step) == (name, "import")]
    return causes[-1].removeprefix("not loaded: ") if causes else "it cannot be loaded"
