"""``pi update --check``: lists newer versions, and plugins that are incompatible with the newest pi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pi_packages.base import Base
from pi_packages.change import Change, apply
from pi_packages.contents import find_distributions
from pi_packages.installers import SolveFailed, Wanted
from pi_packages.output import print_json, print_lines
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pi_packages.change import Context
    from pi_packages.entries import Scope

__all__ = ["check", "misfits"]


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
        print_lines("The newest pi is not known: no index that is configured has it.")
    elif is_newer:
        print_lines(f"pi {pi_version} is there (this is {ours.get('pluggypi', 'another')}).")
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
