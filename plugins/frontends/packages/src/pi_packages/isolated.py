"""Packages with ``"isolated": true``: solved and installed separately, each for its own process.

Such a package may need other versions than pi. Its process imports what is installed for it, followed by pi's own
environment, so both have to be compatible: the solver gets the requirements of the part of pi in that process.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

from pi_core import run_installer
from pi_core.host.guarded import LOAD_SECONDS
from pi_core.host.overlay import read_pth
from pi_hookspecs import UserError
from pi_packages.base import Base
from pi_packages.contents import find_distributions, grants_of, plugins_of, resources_of
from pi_packages.installers import SolveFailed, Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.metadata import Distribution
    from pathlib import Path

    from pi_packages.change import Context
    from pi_packages.entries import Entry
    from pi_packages.material import Material

__all__ = ["describe_isolated", "install_isolated", "is_isolated", "solve_isolated"]

FOLDER = ".isolated"
"""Their folder in a generation, which is not on pi's import path."""
_RUNNER = "pluggypi-isolated"
_CONTRACT = "1.1"
_OURS = "pluggypi-"

_RUN = """\
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"), *{paths!r}]

from pi_isolated.child import main

main({name!r}, {value!r})
"""


_LEFT_OUT = re.compile(r"(\w+) is left out: ")
"""What ``pi_isolated.child`` writes to standard error about a hook that needs pi's own process."""


class _PartOfBase(Base):
    """The part of base that must not be replaced: pi's own distributions."""

    @property
    def versions(self) -> dict[str, str]:
        """The versions of pi's own distributions."""
        return {name: each.version for name, each in sorted(self.distributions.items()) if name.startswith(_OURS)}


def is_isolated(entry: Entry, material: Material) -> bool:
    """Whether a package is a Python distribution that gets its own process."""
    return entry.options.get("isolated") is True and material.name is not None


def solve_isolated(material: Material, context: Context, base: Base) -> list[dict[str, Any]]:
    """Return the distributions to install for a package: as few as possible besides pi's, or else separate versions.

    Raises:
        UserError: There is no solution, or the package that runs it is not installed.
    """
    if _RUNNER not in base.versions:
        raise UserError(f"isolated packages need {_RUNNER}, which is not installed. Install it next to pi")
    wanted = Wanted(requirements=(str(material.requirement), _RUNNER))
    try:
        found = context.installer().solve(wanted, base, context.options)
    except SolveFailed:
        part = _PartOfBase(context.agent_dir)
        try:
            found = context.installer().solve(wanted, part, context.options)
        except SolveFailed as error:
            raise UserError(
                f"{material.source.label} cannot be installed, not even in a separate process: {error}"
            ) from error
    return [each for each in found if base.versions.get(each["name"]) != each.get("version", "")]


def install_isolated(
    material: Material, tables: Sequence[Mapping[str, Any]], draft: Path, context: Context
) -> dict[str, Any]:
    """Install a package in a draft, test its plugins, and return its description.

    Raises:
        UserError: It cannot be installed, is not a plugin, or cannot be run.
    """
    name = str(material.name)
    folder = draft / FOLDER / name
    (folder / "lib").mkdir(parents=True)
    context.installer().install([dict(each) for each in tables], folder / "lib", context.options)
    distribution = find_distributions(folder / "lib").get(name)
    if distribution is None:
        raise UserError(f"{material.source.label} was not installed: pi has it already, or its markers exclude it")
    plugins = plugins_of(distribution)
    if not plugins:
        raise UserError(f"{name} {distribution.version} is not a plugin: it has no entry point in group 'pi'")
    described = describe_isolated(distribution, folder / "lib")
    paths = read_pth(str(folder / "lib"))[0]
    for plugin, value in plugins.items():
        program = folder / plugin
        _write_program(program, plugin, value, paths, described)
        _try_program(program, plugin, context)
        described["resources"].setdefault("extensions", []).append(f"{FOLDER}/{name}/{plugin}")
    return described


def describe_isolated(distribution: Distribution, folder: Path) -> dict[str, Any]:
    """Return the stored description of a package."""
    inside = f"{FOLDER}/{folder.parent.name}/{folder.name}"
    resources = {kind: [f"{inside}/{each}" for each in paths] for kind, paths in resources_of(distribution).items()}
    return {
        "isolated": True,
        "version": distribution.version,
        "plugins": plugins_of(distribution),
        "grants": grants_of(distribution, folder),
        "resources": resources,
    }


def _write_program(program: Path, name: str, value: str, paths: Sequence[str], described: Mapping[str, Any]) -> None:
    """Write a plugin as a program, see ``pi_core.host.extensions.manifests``."""
    manifest = {
        "name": name,
        "command": ["{python}", "-P", "run.py"],
        "contract": _CONTRACT,
        "version": described["version"],
        **({"grants": described["grants"]} if described["grants"] is not None else {}),
    }
    program.mkdir()
    (program / "pi_plugin.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    (program / "run.py").write_text(_RUN.format(paths=list(paths), name=name, value=value), encoding="utf-8")


def _try_program(program: Path, name: str, context: Context) -> None:
    """Start a plugin without requests, so that it ends after announcing what it implements; say what it loses.

    Raises:
        UserError: The announcement is invalid.
    """
    seconds = context.settings.get_number("hooks.timeout", LOAD_SECONDS, minimum=0.001)
    done = run_installer([sys.executable, "-P", "run.py"], program, context.environ, seconds)
    if done.code == 0 and done.output.startswith('{"type":"ready"'):
        lost = [match[1] for line in done.errors.splitlines() if (match := _LEFT_OUT.match(line))]
        if lost:
            context.say(
                f"Warning: the plugin {name!r} loses {', '.join(lost)} in a separate process"
                " (see pi help isolated-plugins)"
            )
        return
    why = done.last_lines(1)
    raise UserError(f"nothing was changed: the plugin {name!r} cannot be run in a separate process: {why}")
