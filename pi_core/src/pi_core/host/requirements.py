"""Checks the compatibility of plugins: compares requirements in their metadata with installed versions.

For a plugin in pi's environment only requirements on pi's own packages are checked, because its installer has checked
the others. For a plugin in an overlay all requirements are checked, because it was installed separately from the
environment, which may have changed since then.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pi_core.host.overlay import stable_path

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import Distribution

__all__ = ["unmet_among", "unmet_requirement"]

_OURS = "pluggypi-"


def unmet_requirement(name: str) -> str | None:
    """Return the first unmet requirement of a distribution as a sentence; None if all are met.

    For example ``needs pluggypi-hookspecs>=2, and pluggypi-hookspecs 1.1.0 is installed. Update pi``.

    A package that is not installed is ignored, unless the distribution is in an overlay, because the error of the
    import is clearer.

    Args:
        name: The distribution's name.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return unmet_among(found.requires or (), name, everything=_is_in_overlay(found))


def unmet_among(requirements: Iterable[str], name: str, *, everything: bool = False) -> str | None:
    """Return the same for the given requirements of a distribution; by default only those on pi's packages count."""
    counted = [each for each in requirements if everything or canonicalize_name(each).startswith(_OURS)]
    for requirement in _that_apply(counted):
        own = canonicalize_name(requirement.name).startswith(_OURS)
        try:
            version = _own_version(requirement.name) if own else _version(requirement.name)
        except PackageNotFoundError:
            if everything:
                return f"needs {requirement}, which is not installed. Run pi sync"
            continue
        except (InvalidVersion, TypeError):  # TypeError: the metadata contains no version
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            return _in_words(name, requirement, version)
    return None


def _version(name: str) -> Version:
    return Version(distribution(name).version)


# Imported packages of pi itself do not change while this process runs, and all plugins require them.
_own_version = cache(_version)


def _is_in_overlay(found: Distribution) -> bool:
    folder = os.path.normpath(str(found.locate_file("")))
    return stable_path(folder) != folder


def _that_apply(texts: Iterable[str]) -> list[Requirement]:
    requirements = []
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            requirements.append(requirement)
    return requirements


def _in_words(name: str, requirement: Requirement, version: Version) -> str:
    unmet = [each for each in requirement.specifier if not each.contains(version, prereleases=True)]
    wants_newer = any(each.operator == ">" or _is_newer(each.version, version) for each in unmet)
    package = canonicalize_name(requirement.name)
    if not package.startswith(_OURS):
        remedy = f"Run pi update {name}"
    elif wants_newer:
        remedy = "Update pi"
    else:
        remedy = f"Install a version of {name} for pi {version.major}.{version.minor}"
    return f"needs {package}{requirement.specifier}, and {package} {version} is installed. {remedy}"


def _is_newer(text: str, version: Version) -> bool:
    try:
        return Version(text.removesuffix(".*")) > version
    except InvalidVersion:  # ``===`` accepts any text
        return False
