"""``-e SOURCE``: a package for one run, such as ``git:HOST/USER/REPO``, ``npm:NAME`` or a wheel.

``pi install`` installs it once, in another process, into a separate folder, where later runs find it. Its plugins and
extensions are then loaded like paths and requirements of ``-e``, its other resources like those of this run's options.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pi_cli.report import say
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RunSource", "is_package_folder", "is_source", "resolve_source"]

_SCHEMES = re.compile(r"(?:git\+|git:|git@|npm:|pypi:|https?://|ssh://)|[^#]+\.whl(?:#|$)")
_KINDS = ("extensions", "skills", "prompts", "themes")
_SECONDS = 600.0


class RunSource(NamedTuple):
    """The plugins and resources that a package adds to a run.

    Attributes:
        given: Names of distributions with plugins, and paths of extensions, for ``-e``.
        resources: Paths of skills, prompts and themes, by kind.
    """

    given: list[str]
    resources: dict[str, list[str]]


def is_source(given: str) -> bool:
    """Whether a value of ``-e`` is the source of a package, and neither a path nor a requirement."""
    return _SCHEMES.match(given) is not None


def is_package_folder(path: Path) -> bool:
    """Whether a folder is a package of resources, and neither a plugin nor a folder of extensions."""
    if not path.is_dir() or any(path.glob("*.py")) or (path / "pi_plugin.json").is_file():
        return False
    texts = {name: path / name for name in ("pyproject.toml", "package.json", "pi.toml") if (path / name).is_file()}
    project = _text(texts["pyproject.toml"]) if "pyproject.toml" in texts else ""
    if "[project]" in project:
        return False
    is_declared = "[tool.pi]" in project or "pi.toml" in texts
    if "package.json" in texts:
        is_declared = is_declared or '"pi"' in _text(texts["package.json"])
    return is_declared or any((path / kind).is_dir() for kind in _KINDS)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def resolve_source(given: str, agent_dir: Path, cwd: Path, environ: Mapping[str, str]) -> RunSource:
    """Install a source for this run, unless that was done before, and return what it brings.

    Raises:
        UserError: It cannot be installed, or has nothing that pi uses.
    """
    from pi_core.host.overlay import current_generation, describe_generation, join_overlay, run_root

    folder = cwd / given
    if is_source(given):
        root = run_root(agent_dir, given)
    else:
        given = str(folder.resolve())
        root = run_root(agent_dir, given)
        _forget_changed(root, Path(given))
    if current_generation(root) is None:
        say(f"Installing {given} for this run")
        _install(given, cwd, environ)
    else:
        os.utime(root / "current")  # it is kept as long as it is used
    described = describe_generation(root, current_generation(root))
    join_overlay(root)
    found = RunSource([], {})
    for package in described.get("packages", ()):
        found.given.extend([package["name"]] if package.get("plugins") else [])
        for kind in _KINDS:
            paths = package.get("resources", {}).get(kind, ())
            located = [str(root / "gen" / str(described["id"]) / path) for path in paths]  # an absolute path stays one
            if kind == "extensions":
                found.given.extend(located)
            elif located:
                found.resources.setdefault(kind, []).extend(located)
    if not (found.given or found.resources):
        raise UserError(f"{given} has no plugins, extensions, skills, prompts or themes")
    return found


def _forget_changed(root: Path, folder: Path) -> None:
    """Delete what is cached about a folder that has changed since: its files are used in place."""
    from shutil import rmtree

    try:
        known = (root / "current").stat().st_mtime_ns
    except OSError:
        return
    watched = [folder, *(folder / each for each in (*_KINDS, "pyproject.toml", "package.json", "pi.toml"))]
    if any(each.exists() and each.stat().st_mtime_ns > known for each in watched):
        rmtree(root, ignore_errors=True)


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
