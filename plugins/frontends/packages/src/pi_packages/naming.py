"""The names of packages: which one a word means, and which sources are the same distribution."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_packages.contents import folder_name
from pi_packages.entries import read_entries, written_sources
from pi_packages.sources import OUR_PREFIX, parse
from pi_packages.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_packages.entries import Entry, Scope
    from pi_packages.material import Material
    from pi_packages.sources import Source

__all__ = ["find_identity", "without_replaced"]


def find_identity(text: str, scope: Scope) -> str:
    """Return the identity of the package that a word means, or a source as written whose path is gone.

    It may be the source in any form, the name of the distribution with or without ``pluggypi-``, the name of one of its
    plugins, or the last part of a path or an address if only one package ends so.

    Raises:
        UserError: No package has this name, or several have.
    """
    entries, _ = read_entries(scope)
    packages = {each["identity"]: each for each in Store(scope.root).current().get("packages", ())}
    written = {each.source.identity: (each.source.text, each.written) for each in entries}
    for identity, forms in written.items():
        if text in (identity, identity.partition(":")[2], *forms):
            return identity
    try:
        identity = parse(text, Path.cwd(), scope.home).identity
    except UserError:
        identity = text
    if identity in written:
        return identity
    if text in written_sources(scope):  # a path that is gone
        return text
    named = {
        each.source.identity: _distribution_of(each.source, packages.get(each.source.identity)) for each in entries
    }
    found = [each for each, name in named.items() if name is not None and text in (name, name.removeprefix(OUR_PREFIX))]
    found = found or [each for each in written if text in packages.get(each, {}).get("plugins", ())]
    found = found or [each for each in written if PurePosixPath(each.partition(":")[2].partition("#")[0]).name == text]
    if len(found) > 1:
        raise UserError(
            f"{text!r} matches several packages: {', '.join(written[each][0] for each in found)}. Specify one"
        )
    if not found:
        raise UserError(f"{text!r} is not among the {scope.name}'s packages. pi list names them")
    return found[0]


def without_replaced(
    entries: Sequence[Entry],
    fetched: Mapping[str, Material],
    packages: Mapping[str, Mapping[str, Any]],
    say: Callable[[str], object],
) -> tuple[list[Entry], list[str]]:
    """Return the entries without those that other sources of the same distribution replace, and what settings drop.

    Args:
        entries: All entries, those of the command among them.
        fetched: What the command adds, by identity.
        packages: What is installed, by identity.
        say: Called with a line for each replaced source.

    Raises:
        UserError: The command, or the settings, name one distribution twice.
    """
    new = {material.name: material.source for material in fetched.values() if material.name is not None}
    kept: dict[str, Entry] = {}
    drop: list[str] = []
    for entry in entries:
        source = entry.source
        material = fetched.get(source.identity)
        name = material.name if material is not None else _distribution_of(source, packages.get(source.identity))
        if name is not None and name in new and material is None:
            say(f"{new[name].text} replaces {source.text}: both are {name}")
            drop.append(source.identity)
            continue
        other = kept.setdefault(source.identity if name is None else name, entry)
        if other is not entry:
            raise UserError(f"{source.text} and {other.source.text} are both {name}. Choose one of them")
    # The folder of an installed one can be gone, and its entry then has no identity.
    gone = [each for each in packages.values() if each.get("name") in new and each["identity"] not in fetched]
    return [*kept.values()], [*drop, *(text for each in gone for text in (each["identity"], each["written"]))]


def _distribution_of(source: Source, package: Mapping[str, Any] | None) -> str | None:
    """Return the canonical name of a package's distribution, without fetching; None if unknown or if there is none.

    Args:
        source: The source.
        package: What the active generation stores about it.
    """
    if package is not None:
        name: str | None = package.get("name")
        return name
    if source.kind in ("index", "wheel"):
        return source.identity.removeprefix("pypi:")
    try:
        return folder_name(Path(source.location)) if source.kind == "folder" else None
    except UserError:
        return None
