"""Updates pi itself with the program that installed it."""

from __future__ import annotations

import shlex
import site
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.host.installers import find_program, run_program
from pi_hookspecs import UserError
from pi_packages.output import print_lines, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_packages.change import Context

__all__ = ["command_for", "update_pi"]

_NAME = "pluggypi"


def update_pi(context: Context, *, dry_run: bool) -> int:
    """Update pi, or print the command that does; return the exit code.

    Raises:
        UserError: It failed.
    """
    command, may_run = command_for(Path(sys.prefix), context.environ)
    if context.options.offline:
        raise UserError("pi cannot be updated offline")
    if dry_run or not may_run:
        print_lines(shlex.join(command))
        if not may_run:
            say("pi was not installed by a program that pi may run. The command above updates it; then run pi sync")
        return 0 if dry_run else 1
    say(f"Running {shlex.join(command)}")
    done = run_program(command, context.agent_dir, context.environ)
    if done.code != 0:
        raise UserError(f"pi was not updated: {done.last_lines()}")
    print_lines(*(line for line in (*done.output.splitlines(), *done.errors.splitlines()) if line.strip()))
    done = run_program([sys.executable, "-P", "-m", "pi_cli", "sync"], context.agent_dir, context.environ)
    if done.code != 0:
        raise UserError(f"pi was updated, but packages are incompatible with it: {done.last_lines()}. See pi doctor")
    return 0


def command_for(prefix: Path, environ: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return the command that updates pi in an environment, and whether pi may run it.

    Args:
        prefix: The environment's folder.
        environ: The environment variables, for ``PATH``.
    """
    uv = find_program("uv", environ)
    if (prefix / "uv-receipt.toml").is_file():
        return [uv or "uv", "tool", "upgrade", _NAME], uv is not None
    if (prefix / "pipx_metadata.json").is_file():
        pipx = find_program("pipx", environ)
        return [pipx or "pipx", "upgrade", _NAME], pipx is not None
    if _is_editable():
        return ["git", "pull"], False
    install = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    is_own = sys.prefix != sys.base_prefix and not _is_in_user_site()
    return [*install, "--upgrade", _NAME], is_own


def _is_editable() -> bool:
    try:
        text = distribution("pluggypi-core").read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return False
    return '"editable"' in text.replace(" ", "") and '"editable":true' in text.replace(" ", "")


def _is_in_user_site() -> bool:
    user = site.getusersitepackages()
    return bool(user) and Path(__file__).is_relative_to(user)
