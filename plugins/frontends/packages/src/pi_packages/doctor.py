"""The checks of ``pi doctor``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.base.paths import NO_HOME, access_problem, user_name
from pi_core.host.installers import find_program
from pi_core.host.overlay import platform_tag
from pi_core.host.requirements import unmet_requirement
from pi_hookspecs import PiError
from pi_packages.base import Base
from pi_packages.checks import check_row
from pi_packages.contents import changed_files, check_modules, find_distributions
from pi_packages.entries import read_entries
from pi_packages.installers import find_installer
from pi_packages.isolated import FOLDER as ISOLATED
from pi_packages.listing import scopes_of
from pi_packages.lock import read_lock
from pi_packages.settings import INSTALLER
from pi_packages.store import Store
from pi_packages.surroundings import surroundings
from pi_packages.syncing import disagreements, is_complete
from pi_packages.trees import fetched_folder, tree_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.host import PluginHost
    from pi_packages.checks import Row
    from pi_packages.entries import Scope

__all__ = ["checks"]

_NAMED = 3
"""Changed files of a distribution that are named."""


def checks(host: PluginHost) -> Iterator[Row]:
    """Yield rows of ``check``, ``state`` (``ok``, ``note``, ``warning``, ``error``), ``message`` and ``remedy``."""
    yield from _agent_folder(host.settings.agent_dir)
    yield _installer(host)
    for scope in scopes_of(host):
        yield from _contained(scope.name, _scope(scope))
    yield from _contained("plugins", _plugins(host))
    yield from _contained("other programs", _other_programs())
    yield from _contained("orphans", _orphans(host))
    yield from _contained("surroundings", surroundings(host))


def _contained(check: str, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows, the last about what kept the check from going on: each check helps, whatever is broken elsewhere."""
    try:
        yield from rows
    except (PiError, OSError) as error:
        yield check_row(check, "error", str(error), "Repair or remove the file that is named")


def _agent_folder(folder: Path) -> Iterator[Row]:
    if str(folder).startswith(NO_HOME):
        message = f"HOME is not set, and user {user_name()} has no entry in the list of users: nothing is stored"
        yield check_row("agent folder", "error", message, "Set HOME, or PI_CODING_AGENT_DIR to a folder for settings")
        return
    problem = access_problem(folder)
    if problem is not None:
        yield check_row("agent folder", "error", *problem)
    elif folder.is_dir() and not os.access(folder, os.W_OK):
        message = f"{folder} cannot be written: sessions, keys and settings are not stored"
        yield check_row("agent folder", "warning", message, "Make it writable, or set PI_CODING_AGENT_DIR")


def _installer(host: PluginHost) -> Row:
    folder = host.settings.agent_dir.absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = find_installer(INSTALLER.read(host.settings), folder, os.environ)
    except (PiError, OSError) as error:
        return check_row("installer", "error", str(error), "Install uv")
    if found.name != "uv":
        return check_row("installer", "note", "pip installs packages", "uv is faster; install it, and pi uses it")
    return check_row("installer", "ok", f"{found.name} installs packages")


def _scope(scope: Scope) -> Iterator[Row]:
    name = f"{scope.name} packages"
    entries, problems = read_entries(scope)
    for problem in problems:
        yield check_row(name, "warning", problem, "Correct the entry, or remove it with pi remove")
    before = Store(scope.root).current()
    if not entries and not before:
        return
    lock = read_lock(scope.lock_file)
    wrong = disagreements(entries, lock)
    if wrong:
        yield check_row(name, "error", f"settings and lock disagree: {'; '.join(wrong)}", "Run pi sync")
    if not is_complete(entries, before):
        yield check_row(name, "error", "not everything in the settings is installed", "Run pi sync")
    yield from _generation(scope, before, name)


def _generation(scope: Scope, before: dict[str, Any], name: str) -> Iterator[Row]:
    if not before:
        return
    folder = Store(scope.root).folder(before["id"])
    base = Base(scope.agent_dir)
    found = find_distributions(folder)
    try:
        check_modules(folder, found, base)
    except PiError as error:
        yield check_row(name, "error", str(error), "Remove the package")
    yield from _changed(scope, before, name)
    locked = before.get("distributions", {})
    for each, distribution in found.items():
        if locked.get(each, {}).get("version") != distribution.version:
            yield check_row(name, "error", f"{each} {distribution.version} is not what was installed", "Run pi sync")
        unmet = unmet_requirement(each) if str(folder) in sys.path else None
        if unmet is not None:
            yield check_row(name, "error", f"{each} {unmet}", "Run pi update, or remove the package")
    for line in before.get("ignored", ()):
        yield check_row(name, "note", f"not run at start: {line}", "")
    moved = [each for each, version in before.get("base", {}).items() if base.versions.get(each) != version]
    if moved:
        yield check_row(name, "note", f"pi's environment has changed since ({len(moved)} distributions)", "Run pi sync")
    yield check_row(name, "ok", f"installed: {', '.join(sorted(found)) or 'no distributions'}")


def _changed(scope: Scope, before: dict[str, Any], name: str) -> Iterator[Row]:
    """Yield files that differ from what was installed: hashes bind a package only while it is installed."""
    folder = Store(scope.root).folder(before["id"])
    changed = list(changed_files(folder))
    for apart in sorted(folder.glob(f"{ISOLATED}/*/lib")):
        changed += changed_files(apart)
    for each in dict.fromkeys(each for each, _ in changed):
        files = [file for owner, file in changed if owner == each]
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        message = f"files of {each} were changed since it was installed: {', '.join(files[:_NAMED])}{more}"
        yield check_row(name, "error", message, "Run pi sync, which installs it again")
    for package in before.get("packages", ()):
        stored = package.get("tree") and fetched_folder(scope.agent_dir, package)
        if stored and stored.is_dir() and tree_hash(stored) != package["tree"]:
            message = f"files of {package['source']} in {stored} were changed since they were fetched"
            yield check_row(name, "error", message, "Remove that folder, and run pi sync")


def _plugins(host: PluginHost) -> Iterator[Row]:
    for problem in (
        record for record in host.records.values() if not record.loads and record.name not in host.disabled
    ):
        reasons = "; ".join(each.message for each in problem.problems) or "it cannot be loaded"
        yield check_row(
            f"plugin {problem.name}",
            "error",
            reasons,
            f"Fix it, or run pi remove; --disable {problem.name} runs pi without it",
        )
    for name in host.settings.get_str_list("plugins.required"):
        if name not in host.records:
            yield check_row(
                f"plugin {name}",
                "error",
                "it is required, and not installed",
                f"pi install {name}, or --disable {name}",
            )


def _other_programs() -> Iterator[Row]:
    first = find_program("pi", os.environ)
    own = Path(sys.executable).parent
    linked = first is not None and Path(first).resolve() == (own / "pi").resolve()  # by uv tool, pipx
    if first is not None and Path(first).parent != own and (own / "pi").exists() and not linked:
        yield check_row(
            "command", "note", f"{first} comes before {own / 'pi'} on PATH", "The command pluggypi is this one, too"
        )


def _orphans(host: PluginHost) -> Iterator[Row]:
    packages = host.settings.agent_dir / "packages"
    if not packages.is_dir():
        return
    own = {platform_tag(), "projects", "res", "runs", "work", "catalogues"}
    for entry in sorted(packages.iterdir()):
        if entry.is_dir() and entry.name not in own:
            yield check_row(
                "folders",
                "note",
                f"{entry} belongs to another Python",
                "Remove the folder if that Python no longer exists",
            )
