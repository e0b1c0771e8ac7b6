"""The result of examining a source: a requirement to solve, or a folder of resources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pi_core.host.extensions.manifests import is_program
from pi_hookspecs import UserError
from pi_hookspecs.values import Value
from pi_packages.contents import folder_name
from pi_packages.manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_packages.change import Context
    from pi_packages.sources import Source

__all__ = ["Material", "check_builds", "fetch"]


@frozen(kw_only=True, eq=False, repr=False)
class Material(Value):
    """A source that was fetched.

    Attributes:
        source: The source.
        requirement: A line for the solver; None for a package of resources.
        name: The canonical name of the distribution; None for a package of resources.
        folder: The files of a folder or a repository.
        facts: Other stored data: revision, tree, resources, notes.
    """

    source: Source
    requirement: str | None = None
    name: str | None = None
    folder: Path | None = None
    facts: Mapping[str, Any] = {}

    def describe(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**({"name": self.name} if self.name is not None else {}), **self.facts}


def fetch(source: Source, context: Context, known: Mapping[str, Any] | None) -> Material:
    """Examine a source; repositories and npm packages are fetched, unless they are known.

    Args:
        source: The source.
        context: The settings and the environment.
        known: What the active generation stores about it; None to look for a newer version.

    Raises:
        UserError: It cannot be fetched, or has nothing that pi can use.
    """
    if source.kind == "index":
        return Material(
            source=source, requirement=source.location, name=canonicalize_name(Requirement(source.location).name)
        )
    if source.kind == "wheel":
        return Material(source=source, requirement=source.location, name=source.identity.removeprefix("pypi:"))
    if source.kind == "file":
        return Material(source=source, facts={"resources": {"extensions": [source.location]}})
    if source.kind == "folder":
        return of_folder(source, Path(source.location), editable=True)
    if source.kind == "git":
        from pi_packages.git import fetch_git

        return of_folder(source, *fetch_git(source, context, known), editable=False)
    from pi_packages.npm import fetch_npm

    folder, facts = fetch_npm(source, context, known)
    return Material(source=source, facts={**facts, **read_manifest(folder, source.text)})


def of_folder(source: Source, folder: Path, facts: Mapping[str, Any] | None = None, *, editable: bool) -> Material:
    """Classify a folder: a plugin's program, a Python project, or a package of resources.

    Raises:
        UserError: It is neither.
    """
    name = folder_name(folder) if not is_program(folder) else None
    if name is not None:
        line = f"-e {folder}" if editable else f"{name} @ {folder.as_uri()}"
        return Material(source=source, requirement=line, name=name, folder=folder, facts=facts or {})
    return Material(source=source, facts={**(facts or {}), **read_manifest(folder, source.text)})


def check_builds(
    materials: Sequence[Material], installed: Mapping[str, Mapping[str, Any]], agree: Callable[[str], bool]
) -> None:
    """Ask before code of repositories runs to build them; what is installed at the same commit was built before.

    Args:
        materials: What will be installed.
        installed: What is installed, by identity.
        agree: Called with the source; returns whether it may be built.

    Raises:
        UserError: The user does not agree.
    """
    for each in materials:
        revision = each.facts.get("revision")
        is_built = installed.get(each.source.identity, {}).get("revision") == revision
        if each.requirement is None or each.source.kind != "git" or is_built:
            continue
        if not agree(f"{each.source.text} at {str(revision)[:12]}"):
            raise UserError(f"nothing was changed: {each.source.text} was not built")
