"""Compatibility of plugins: compares what their metadata require of pi's packages with the installed versions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["unmet_among", "unmet_requirement"]

_OURS = "pluggypi-"


def unmet_requirement(name: str) -> str | None:
    """Return the first requirement of a distribution that pi's installed packages do not meet; None if there is none.

    As in ``needs pluggypi-hookspecs>=2, and pluggypi-hookspecs 1.1.0 is installed. Update pi``.

    A package that is not installed is ignored: the error of the import is clearer.

    Args:
        name: The distribution's name.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return unmet_among(found.requires or (), name)


def unmet_among(requirements: Iterable[str], name: str) -> str | None:
    """Return the same for these requirements of a distribution of this name."""
    for requirement in _of_pi(requirements):
        try:
            version = Version(distribution(requirement.name).version)
        except (PackageNotFoundError, InvalidVersion, TypeError):  # TypeError: its metadata names none
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            return _in_words(name, requirement, version)
    return None


def _of_pi(texts: Iterable[str]) -> list[Requirement]:
    requirements = []
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and canonicalize_name(requirement.name).startswith(_OURS):
            requirements.append(requirement)
    return requirements


def _in_words(name: str, requirement: Requirement, version: Version) -> str:
    unmet = [each for each in requirement.specifier if not each.contains(version, prereleases=True)]
    wants_newer = any(each.operator == ">" or _is_newer(each.version, version) for each in unmet)
    remedy = "Update pi" if wants_newer else f"Install a version of {name} for pi {version.major}.{version.minor}"
    package = canonicalize_name(requirement.name)
    return f"needs {package}{requirement.specifier}, and {package} {version} is installed. {remedy}"


def _is_newer(text: str, version: Version) -> bool:
    try:
        return Version(text.removesuffix(".*")) > version
    except InvalidVersion:  # ``===`` takes any text
        return False
