"""What a run starts from: the settings in force in this folder, and the plugins that they leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_cli._report import warn
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_core.trust import ProjectTrust

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_cli._options import Options

__all__ = ["open_host"]


def open_host(cwd: Path, environ: Mapping[str, str], early: Options, disabled: Sequence[str]) -> PluginHost:
    """Return the plugins, with the project's settings where it is trusted; see pi.md 17 for who decides.

    Args:
        cwd: The project's folder.
        environ: The environment.
        early: What could be read of the command line without plugins.
        disabled: Plugins to leave out.
    """
    if early.approve is not None:
        why = "--approve was given" if early.approve else "--no-approve was given"
        trust = ProjectTrust.given(cwd, is_trusted=early.approve, why=why)
        return PluginHost(Settings.load(cwd, environ=environ, trust=trust), disabled=disabled)
    settings = Settings.load(cwd, environ=environ)
    if settings.project_trust.resources and not (early.help or early.version):
        trust = asyncio.run(_ask(settings.project_trust, cwd, environ, disabled))
        settings = Settings.load(cwd, environ=environ, trust=trust)
    return PluginHost(settings, disabled=disabled)


async def _ask(trust: ProjectTrust, cwd: Path, environ: Mapping[str, str], disabled: Sequence[str]) -> ProjectTrust:
    """Ask the plugins before the project's own settings can say which of them there are."""
    from pi_core.trust_asking import ask_for_trust

    host = PluginHost(Settings.load(cwd, environ=environ, trust=False), disabled=disabled)
    return await ask_for_trust(host, trust, report=warn)
