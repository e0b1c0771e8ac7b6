"""Checks a plugin's metadata: names, version bounds, requirements, licence."""

from __future__ import annotations

import re
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pi_cli.checking.findings import Finding
from pi_core.host.discovery import ENTRY_POINT_GROUP, default_plugins
from pi_core.host.requirements import unmet_among

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_cli.checking.findings import Level
    from pi_cli.checking.subject import Subject

__all__ = ["check_metadata"]

_PREFIX = "pluggypi-"
_CONTRACT = "pluggypi-hookspecs"
_LIBRARIES = frozenset(
    {_CONTRACT, "pluggypi-core", "pluggypi-client", "pluggypi-process-kit", "pluggypi-provider-kit"}
    | {"pluggypi-rpc-kit", "pluggypi-terminal-kit", "pluggypi-testing"}
)


def check_metadata(subject: Subject) -> Iterator[Finding]:
    """Yield the problems of a distribution's metadata; a single file has none."""
    if not subject.name:
        return
    yield from _names(subject)
    yield from _requirements(subject)
    yield from _python(subject)
    if not subject.licence:
        yield _found(
            "warning", 'It has no licence, so others may not copy it. Add license = "MIT" or another to [project]'
        )
    if subject.sources and not subject.is_typed:
        yield _found("warning", "It has no py.typed, so type checkers ignore its annotations")
    yield from _modules(subject)


def _names(subject: Subject) -> Iterator[Finding]:
    name = canonicalize_name(subject.name)
    if not name.startswith(_PREFIX):
        yield _found("warning", f"The distribution is named {subject.name!r}: pi install NAME finds only {_PREFIX}NAME")
    if not subject.plugins:
        yield _found(
            "error",
            f"It has no entry point of group {ENTRY_POINT_GROUP!r}, so pi does not find it. Add"
            f' [project.entry-points.{ENTRY_POINT_GROUP}] with {name.removeprefix(_PREFIX)} = "MODULE"',
        )
    expected = name.removeprefix(_PREFIX)
    if (
        subject.plugins
        and name.startswith(_PREFIX)
        and expected not in [str(canonicalize_name(each)) for each in subject.plugins]
    ):
        named = ", ".join(map(repr, subject.plugins))
        yield _found(
            "warning",
            f"Its entry point is named {named}, but the distribution {subject.name!r}: users cannot tell one name "
            f"from the other",
        )
    for plugin in default_plugins().intersection(subject.plugins):
        if name != f"{_PREFIX}{plugin}":
            yield _found(
                "error", f"{plugin!r} is the name of a plugin of pi, which is used instead. Choose another entry point"
            )


def _requirements(subject: Subject) -> Iterator[Finding]:
    needs: list[Requirement] = []
    for text in subject.requires:
        try:
            needs.append(Requirement(text))
        except InvalidRequirement as error:
            yield _found("error", f"The dependency {text!r} cannot be read: {str(error).splitlines()[0]}")
    by_name: dict[str, Requirement] = {canonicalize_name(each.name): each for each in needs}
    contract = by_name.get(_CONTRACT)
    if contract is None:
        yield _found(
            "warning", f'It does not require {_CONTRACT}, so every version of pi loads it. Add "{_CONTRACT}>=1.0,<2"'
        )
    elif not any(each.operator in ("<", "<=", "==", "~=") for each in contract.specifier):
        yield _found("warning", f"{contract} has no upper bound: the next major version may break it. Add <2")
    unmet = unmet_among(map(str, needs), canonicalize_name(subject.name))
    if unmet is not None:
        yield _found("error", f"It {unmet}, so this pi does not load it")
    for name in by_name:
        if name.startswith(_PREFIX) and name not in _LIBRARIES and _is_plugin(name):
            yield _found(
                "warning",
                f"It requires {name}, which is a plugin: users may disable it. Ask for what it registers instead",
            )


def _is_plugin(name: str) -> bool:
    """Whether a distribution is a plugin; one that is not installed is recognised by its prefix."""
    try:
        return bool(distribution(name).entry_points.select(group=ENTRY_POINT_GROUP))
    except PackageNotFoundError:
        return True


def _python(subject: Subject) -> Iterator[Finding]:
    if not subject.requires_python:
        yield _found(
            "warning", 'It has no requires-python: installers offer it to any Python. Add requires-python = ">=3.11"'
        )
    elif re.search(r"<", subject.requires_python):
        yield _found(
            "warning",
            f"requires-python {subject.requires_python!r} excludes later versions of Python, which pi supports",
        )


def _modules(subject: Subject) -> Iterator[Finding]:
    """Yield the modules that pi's environment also contains, which precedes the plugin on the import path."""
    owners = packages_distributions()
    own = canonicalize_name(subject.name)
    for plugin, value in subject.plugins.items():
        module = value.partition(":")[0].partition(".")[0]
        if subject.paths and not any(PathFinder.find_spec(module, [str(path)]) for path in subject.paths):
            yield _found("error", f"The entry point {plugin!r} names the module {module!r}, which does not exist")
        others = {canonicalize_name(each) for each in owners.get(module, ())} - {own}
        if others:
            yield _found(
                "error",
                f"The module {module!r} belongs to {', '.join(sorted(others))}, too, which is imported instead of it",
            )


def _found(level: Level, message: str) -> Finding:
    return Finding("metadata", level, message)
