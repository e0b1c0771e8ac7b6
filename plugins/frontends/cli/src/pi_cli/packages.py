"""Installs, at start, packages that the settings name and that are missing, in their locked versions.

``pi sync --missing`` does it in a separate process, which no plugin of this one can disturb. A start never changes a
version, and never fails because of a package.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from pi_cli.report import say, warn
from pi_core import is_offline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_core import Settings

__all__ = ["install_missing"]

_SECONDS = 60.0


def install_missing(settings: Settings, cwd: Path, environ: Mapping[str, str], *, wait: bool) -> bool:
    """Install what is missing; return whether something was installed.

    Args:
        settings: The user's settings, and the project's if it is trusted.
        cwd: The project's folder.
        environ: The environment.
        wait: False installs in the background while the user already works; a reload adds the packages.
    """
    from pi_core.host.package_resources import missing_guards, missing_packages

    missing = missing_packages(settings, str(cwd))
    if missing and (not settings.get_bool("packages.autoInstall", default=True) or is_offline(environ)):
        names = ", ".join(source for sources in missing.values() for source in sources)
        warn(f"Not installed here: {names}. Run pi sync to install what the settings name")
        return False
    wait = wait or bool(missing and missing_guards(settings, str(cwd)))  # no session starts without them
    if "project" in missing and not _is_agreed(settings, cwd, missing["project"], may_ask=not wait):
        del missing["project"]
    done = [_install(scope, sources, cwd, environ, wait=wait) for scope, sources in missing.items()]
    return any(done)


def _is_agreed(settings: Settings, cwd: Path, sources: list[str], *, may_ask: bool) -> bool:
    """Whether the user agrees to the packages of a trusted project, which may have changed since."""
    from pi_core.host.approved import approve_packages, are_packages_approved

    if not are_packages_approved(settings.agent_dir, cwd):
        changed = f"The packages of {cwd} have changed since you agreed to them"
        if not may_ask:
            warn(f"{changed}: {', '.join(sources)} are not installed. Run pi sync -l to install them")
            return False
        if not _is_allowed(sources, changed):
            return False
    approve_packages(settings.agent_dir, cwd)
    return True


def _is_allowed(sources: list[str], changed: str) -> bool:
    from pi_core.plugin_api.approval_lines import approve_on_line
    from pi_hookspecs import Approval, approval_choices

    always = "until the list changes again; pi permissions undoes it"
    why = f"{changed}. A plugin is Python code that runs with all your privileges."
    choices = approval_choices(once=None, always=always)
    approval = Approval("Install these packages?", what="\n".join(sources), why=why, choices=choices)
    return approve_on_line(approval) == "always"


def _install(scope: str, sources: list[str], cwd: Path, environ: Mapping[str, str], *, wait: bool) -> bool:
    names = ", ".join(sources)
    command = [sys.executable, "-P", "-m", "pi_cli", *(["--approve"] if scope == "project" else [])]
    command += ["sync", "--missing", *(["-l"] if scope == "project" else [])]
    process = subprocess.Popen(  # noqa: S603 - pi itself
        command,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if wait else subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=not wait,
    )
    if not wait:
        say(f"Installing {names} in the background; /reload uses what is installed by then")
        return False
    say(f"Installing {names}")
    try:
        _, errors = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        warn(f"{names}: not installed within {_SECONDS:g} s. Run pi sync")
        return False
    if process.returncode != 0:
        reason = " ".join(errors.strip().splitlines()[-1:]) or f"exit code {process.returncode}"
        warn(f"{names}: not installed. {reason.removeprefix('Error: ')}")
    return process.returncode == 0
