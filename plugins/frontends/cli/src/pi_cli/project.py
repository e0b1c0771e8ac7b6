"""The settings of a folder, and the plugins that they enable."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

from pi_cli.report import warn
from pi_cli.subcommands import is_subcommand
from pi_core import PluginHost, ProjectTrust, Settings, agent_dir
from pi_core.host.overlay import join_overlay, join_packages, leave_overlay, user_root
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pi_cli.options import Options
    from pi_core.host.extensions.places import ExtensionSource

__all__ = ["open_host"]


def open_host(
    cwd: Path,
    environ: Mapping[str, str],
    early: Options,
    disabled: Sequence[str],
    word: str | None = None,
    *,
    interactive: bool = False,
    on_load: Callable[[str, float | None], None] | None = None,
) -> PluginHost:
    """Return the plugins, with the project's settings where it is trusted.

    Trust is decided by the options, else the stored decision, else plugins, else the user.

    Args:
        cwd: The project's folder.
        environ: The environment.
        early: The command line as parsed without plugins.
        disabled: Plugins to leave out.
        word: A possible subcommand's name.
        interactive: Whether the user can be asked, unless the word is a subcommand's name.
        on_load: Called before and after each plugin is loaded, as ``PluginHost`` does.
    """
    join_overlay(user_root(agent_dir(environ)))
    new_host = partial(
        PluginHost,
        disabled=disabled,
        on_load=on_load,
        builtins=early.extensions,
        no_builtins=early.no_extensions,
    )

    def host(trust: ProjectTrust | Literal[False] | None) -> PluginHost:
        settings = Settings.load(cwd, environ=environ, trust=trust)
        _use_proxy(settings)
        return new_host(settings)

    def with_packages(opened: PluginHost) -> PluginHost:
        """Let the plugins that a trusted project has installed be imported, too; install those that are missing."""
        settings = opened.settings
        if settings.get("packages") and not (early.help or early.version or is_subcommand(word, opened)):
            from pi_cli.packages import install_missing  # most users have no packages

            if install_missing(settings, cwd, environ, wait=not interactive):
                leave_overlay(user_root(settings.agent_dir))
                opened = new_host(settings)
        join_packages(settings, cwd)
        opened.joins_packages = True
        return opened

    if early.approve is not None:
        why = "--approve was given" if early.approve else "--no-approve was given"
        return with_packages(host(ProjectTrust.given(cwd, is_trusted=early.approve, why=why)))
    opened = host(None)
    trust = opened.settings.project_trust
    if not trust.resources or early.help or early.version:
        return with_packages(opened)
    # Plugins are asked before the project's own settings can enable or disable any.
    without = host(trust=False) if trust.is_trusted else opened
    may_ask = interactive and not trust.decided and not is_subcommand(word, without)
    if _joins_own(without, cwd, early, environ) or _has_opinions(without) or may_ask:
        import asyncio  # takes longer than all that was needed so far

        opened = host(asyncio.run(_ask(without, trust, may_ask=may_ask)))
    return with_packages(opened)


def _has_opinions(host: PluginHost) -> bool:
    """Whether a plugin implements the hook, according to the index, without importing it."""
    enabled = (record for name, record in host.records.items() if name not in host.disabled)
    return any("project_trust" in record.hooks for record in enabled)


def _joins_own(host: PluginHost, cwd: Path, early: Options, environ: Mapping[str, str]) -> bool:
    """Load the user's own extensions if one of them implements the hook, by the text of its files."""
    from pi_cli.extensions import find_sources, load_extensions

    try:
        if not any(map(_mentions_trust, find_sources(host, cwd, early, environ))):
            return False
        load_extensions(host, cwd, early, environ)
    except UserError:
        return False  # reported when the extensions are loaded for the session
    return True


def _mentions_trust(source: ExtensionSource) -> bool:
    from pi_core.host.extensions.local import files_of

    if source.path is None or source.program is not None or source.script is not None:
        return False  # programs are not asked: the hook is called before there is a session
    with suppress(OSError):
        return any(b"project_trust" in each.read_bytes() for each in files_of(source))
    return False


async def _ask(host: PluginHost, trust: ProjectTrust, *, may_ask: bool) -> ProjectTrust:
    """Ask plugins, then the user line by line: a full front end may depend on the project and is not loaded yet."""
    from pi_core import ask_for_trust, confirm_trust

    if not may_ask:
        return await ask_for_trust(host, trust, report=warn)
    from pi_cli.line.dialogs import LineUI

    ui = LineUI()
    return await ask_for_trust(host, trust, mode="line", ui=ui, ask=partial(confirm_trust, ui), report=warn)


def _use_proxy(settings: Settings) -> None:
    """Let this process and the programs that it starts use the user's proxy, as if the environment named it."""
    proxy = settings.get_str("httpProxy", None)
    if proxy is not None:
        os.environ.update(HTTP_PROXY=proxy, HTTPS_PROXY=proxy)
