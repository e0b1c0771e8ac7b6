"""``-e SOURCE``: a package for one run, such as ``git:HOST/USER/REPO``, ``npm:NAME`` or a wheel.

It is installed once into a folder of its own, where later runs find it, by ``pi install`` in another process. What it
brings then goes the way of paths and requirements.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from pi_cli._report import say
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["is_source", "resolve_source"]

_SCHEMES = re.compile(r"(?:git\+|git:|git@|npm:|pypi:|https?://|ssh://)|[^#]+\.whl(?:#|$)")
_SECONDS = 600.0


def is_source(given: str) -> bool:
    """Whether a value of ``-e`` is the source of a package, and neither a path nor a requirement."""
    return _SCHEMES.match(given) is not None


def resolve_source(given: str, agent_dir: Path, cwd: Path, environ: Mapping[str, str]) -> list[str]:
    """Install a source for this run, and return the names of its distributions and the paths of its extensions.

    Raises:
        UserError: It cannot be installed, or has neither plugins nor extensions.
    """
    from pi_core.host.overlay import current_generation, describe_generation, join_overlay, run_root

    root = run_root(agent_dir, given)
    if current_generation(root) is None:
        say(f"Installing {given} for this run")
        _install(given, cwd, environ)
    else:
        os.utime(root / "current")  # it is kept as long as it is used
    described = describe_generation(root, current_generation(root))
    join_overlay(root)
    found: list[str] = []
    for package in described.get("packages", ()):
        found += [package["name"]] if package.get("plugins") else []
        found += _extensions(package, root, str(described["id"]))
    if not found:
        raise UserError(f"{given} has neither plugins nor extensions. pi install uses its skills, prompts and themes")
    return found


def _extensions(package: Mapping[str, Any], root: Path, generation: str) -> list[str]:
    paths = package.get("resources", {}).get("extensions", ())
    return [str(root / "gen" / generation / path) for path in paths]


def _install(given: str, cwd: Path, environ: Mapping[str, str]) -> None:
    command = [sys.executable, "-P", "-m", "pi_cli", "install", "--run", "-y", "--", given]
    try:
        done = subprocess.run(  # noqa: S603 - pi itself
            command,
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{given} was not installed within {_SECONDS:g} s") from None
    if done.returncode != 0:
        raise UserError("\n".join(done.stderr.strip().splitlines()[-1:]).removeprefix("Error: "))
