"""Starts every program at low priority and with an extra variable, and refuses programs on a list."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from pi_hookspecs import PluginSetting, UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import ChildEnvironmentEvent, PiContext, Service, SpawnRequest

__all__ = ["child_environment", "register_services", "register_settings"]

REFUSED = PluginSetting(
    "politePrograms.refused",
    schema={"type": "array", "items": {"type": "string"}},
    description="Names of programs that are not started",
    protected=True,
)


class PoliteLauncher:
    """Implements `Launcher`; an exception refuses, and the program is not started."""

    async def prepare(self, request: SpawnRequest, ctx: PiContext) -> SpawnRequest:
        """Put `nice` in front, where it is installed.

        A shell gets its command as one argument, so words are compared. That stops a mistake, not a disguise.
        """
        words = {Path(word).name for argument in request.argv for word in argument.split()}
        if refused := words.intersection(ctx.settings.get_str_list(REFUSED.name, [])):
            raise UserError(f"{min(refused)!r} is not started: the setting {REFUSED.name} lists it")
        nice = shutil.which("nice", path=request.env.get("PATH"))
        return request if nice is None else evolve(request, argv=(nice, "-n", "10", *request.argv))


@hookimpl
def register_services() -> Sequence[Service]:
    """Add the launcher."""
    return [PoliteLauncher()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the list. It is protected, so that no other plugin empties it without the user."""
    return [REFUSED]


@hookimpl
def child_environment(event: ChildEnvironmentEvent) -> Mapping[str, str | None] | None:
    """Set the variable that programs recognise pi by; commands that print keys do not need it."""
    return None if event.purpose == "key" else {"STARTED_BY": "pi"}
