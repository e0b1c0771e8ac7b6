"""``pi update``: updates packages, lists newer versions with ``--check``, and updates pi itself."""

from __future__ import annotations

import shlex
import site
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pi_core.host.installers import find_program, run_installer
from pi_hookspecs import UserError
from pi_packages.base import Base
from pi_packages.change import Change, apply, finish_pending
from pi_packages.commands import open_context, open_scope, report
from pi_packages.contents import find_distributions
from pi_packages.entries import read_entries
from pi_packages.installers import SolveFailed, Wanted
from pi_packages.lock import lock_text
from pi_packages.log import now
from pi_packages.naming import find_identity
from pi_packages.output import print_json, print_lines, say
from pi_packages.plan import make_plan
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

    from pi_core import PluginHost
    from pi_packages.change import Context
    from pi_packages.entries import Scope

__all__ = ["check", "command_for", "misfits", "update", "update_pi"]

_ITSELF = ("self", "pi")


def update(given: Namespace, host: PluginHost, command: str) -> int:
    """Run the command and return the exit code.

    Raises:
        UserError: It failed.
    """
    scope, context = open_scope(given, host), open_context(given, host)
    if given.models:
        return _update_models(given, scope, context, host)
    if given.rollback:
        return _roll_back(scope, context, given, command)
    if given.check:
        return check(scope, context, given)
    sources = [*given.sources, *given.named]
    named = [each for each in sources if each not in _ITSELF]
    if len(named) == len(sources) and (named or given.extensions):
        return _update_packages(named, scope, context, given, command)

    code = update_pi(context, dry_run=given.dry_run, force=given.force)
    if code == 0 and (given.all or named):
        return _update_packages([] if given.all else named, scope, context, given, command)
    return code


def _update_models(given: Namespace, scope: Scope, context: Context, host: PluginHost) -> int:
    from pi_packages.catalogue import refresh
    from pi_packages.models import roll_back_models, update_models

    if given.rollback:
        return roll_back_models(context, scope)
    if not (given.check or given.dry_run):
        refresh(host.settings, offline=context.options.offline)
    return update_models(given, scope, context, host)


def _update_packages(named: list[str], scope: Scope, context: Context, given: Namespace, command: str) -> int:
    upgrade = frozenset(find_identity(each, scope) for each in named) if named else frozenset("*")
    plan = apply(context, scope, Change(command=command, upgrade=upgrade, dry_run=given.dry_run))
    if not given.json:
        entries, _ = read_entries(scope)
        pinned = [
            each.source for each in entries if each.source.is_pinned and each.source.kind in ("index", "git", "npm")
        ]
        for source in pinned:
            if not named or source.identity in upgrade:
                say(f"{source.label} is pinned; to change its version, install it again")
    return report(plan, given, "Everything is up to date")


def _roll_back(scope: Scope, context: Context, given: Namespace, command: str) -> int:
    """Put the generation before the one in force in force again, with its lock and its entries; nothing is fetched."""
    store = Store(scope.root)
    with store.locked(context.say):
        store.recover(finish_pending(scope))
        current = store.current()
        before = store.describe(current.get("previous"))
        if not before or not store.folder(before["id"]).is_dir():
            raise UserError("There is nothing to restore: no earlier generation is kept. pi list --history lists them")
        plan = make_plan(scope.name, current, before)
        if not given.dry_run:
            entries = before["entries"]
            wanted = {package["identity"] for package in before["packages"]}
            drop = [each["identity"] for each in current["packages"] if each["identity"] not in wanted]
            row = {"time": now(), "command": command, "scope": scope.name, "by": "-y" if given.yes else "asked for"}
            pending: dict[str, Any] = {
                "lock": _lock_of(before) if before["packages"] else "",
                "put": entries,
                "drop": drop,
                "log": [{**row, **each.logged()} for each in plan.rows],
            }
            store.put_in_force(before["id"], pending, finish_pending(scope))
    return report(plan, given, "Nothing changes")


def _lock_of(described: Mapping[str, Any]) -> str:
    """Return the text of the lock of a generation; the first ones have it as an object."""
    lock = described["lock"]
    return lock if isinstance(lock, str) else lock_text(lock)


class _NoBase(Base):
    """An environment without distributions: the solver is to find the newest pi."""

    versions: dict[str, str] = {}  # noqa: RUF012 - in place of a cached property
    distributions: dict[str, Any] = {}  # noqa: RUF012 - as above


def check(scope: Scope, context: Context, given: Namespace) -> int:
    """Print what is newer, and return 0; nothing is changed."""
    plan = apply(context, scope, Change(command="update --check", upgrade=frozenset("*"), dry_run=True))
    newest = _newest_pi(context)
    ours = Base(context.agent_dir).versions
    current = Store(scope.root).current()
    folder = Store(scope.root).folder(current["id"]) if current else None
    unfit = [*misfits(folder, newest)] if folder is not None else []
    is_newer = any(ours.get(name) not in (None, version) for name, version in newest.items())
    pi_version = newest.get("pluggypi")
    if given.json:
        rows = [row.to_plain() for row in plan.rows]
        print_json({"rows": rows, "pi": pi_version, "piIsNewer": is_newer, "misfits": unfit})
        return 0
    print_lines(*([row.line() for row in plan.rows] or ["All packages are up to date."]))
    if not newest:
        print_lines("The newest version of pi is unknown: no configured index has it.")
    elif is_newer:
        print_lines(f"pi {pi_version} is available (this is {ours.get('pluggypi', 'another')}).")
    print_lines(
        *(f"After an update of pi, {each['plugin']} would not be loaded: it needs {each['needs']}" for each in unfit)
    )
    return 0


def _newest_pi(context: Context) -> dict[str, str]:
    """Return the versions of pi's packages in the index; empty if it does not contain pi."""
    base = _NoBase(context.agent_dir)
    try:
        found = context.installer().solve(Wanted(requirements=("pluggypi",)), base, context.options)
    except SolveFailed:
        return {}
    return {each["name"]: each["version"] for each in found if each["name"].startswith("pluggypi")}


def misfits(folder: Path, versions: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the distributions in a folder that are incompatible with these versions of pi's packages."""
    for name, found in find_distributions(folder).items():
        for text in found.requires or ():
            wanted = Requirement(text)
            version = versions.get(canonicalize_name(wanted.name))
            if version is not None and not wanted.specifier.contains(version, prereleases=True):
                yield {"plugin": name, "needs": f"{wanted.name}{wanted.specifier}", "newest": version}


_NAME = "pluggypi"


def update_pi(context: Context, *, dry_run: bool, force: bool = False) -> int:
    """Update pi, or print the command that does; return the exit code.

    Args:
        context: The environment.
        dry_run: Whether to print the command only.
        force: Whether to install pi again, even if no version is newer.

    Raises:
        UserError: It failed.
    """
    command, may_run = command_for(Path(sys.prefix), context.environ, force=force)
    if context.options.offline:
        raise UserError("pi cannot be updated offline")
    if dry_run or not may_run:
        print_lines(shlex.join(command))
        if not may_run:
            say("pi was not installed by a program that pi may run. The command above updates it; then run pi sync")
        return 0 if dry_run else 1
    say(f"Running {shlex.join(command)}")
    done = run_installer(command, context.agent_dir, context.environ)
    if done.code != 0:
        raise UserError(f"pi was not updated: {done.last_lines()}")
    print_lines(*(line for line in (*done.output.splitlines(), *done.errors.splitlines()) if line.strip()))
    done = run_installer([sys.executable, "-P", "-m", "pi_cli", "sync"], context.agent_dir, context.environ)
    if done.code != 0:
        raise UserError(f"pi was updated, but packages are incompatible with it: {done.last_lines()}. See pi doctor")
    return 0


def command_for(prefix: Path, environ: Mapping[str, str], *, force: bool = False) -> tuple[list[str], bool]:
    """Return the command that updates pi in an environment, and whether pi may run it.

    Args:
        prefix: The environment's folder.
        environ: The environment variables, for ``PATH``.
        force: Whether it installs pi again, even if no version is newer.
    """
    uv = find_program("uv", environ)
    if (prefix / "uv-receipt.toml").is_file():
        return [uv or "uv", "tool", "upgrade", *(["--reinstall"] if force else []), _NAME], uv is not None
    if (prefix / "pipx_metadata.json").is_file():
        pipx = find_program("pipx", environ)
        return [pipx or "pipx", "upgrade", *(["--force"] if force else []), _NAME], pipx is not None
    if _is_editable():
        return ["git", "pull"], False
    install = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    is_own = sys.prefix != sys.base_prefix and not _is_in_user_site()
    again = ["--reinstall" if uv else "--force-reinstall"] if force else []
    return [*install, "--upgrade", *again, _NAME], is_own


def _is_editable() -> bool:
    try:
        text = distribution("pluggypi-core").read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return False
    return '"editable"' in text.replace(" ", "") and '"editable":true' in text.replace(" ", "")


def _is_in_user_site() -> bool:
    user = site.getusersitepackages()
    return bool(user) and Path(__file__).is_relative_to(user)
