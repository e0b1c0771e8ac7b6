"""Why packages cannot be installed together, in terms of pi."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_packages.base import Base
    from pi_packages.installers import Options
    from pi_packages.material import Material

__all__ = ["explain"]


def explain(reason: str, materials: Sequence[Material], changed: set[str], base: Base, options: Options) -> str:
    """Explain in terms of pi why no solution exists, and how to proceed.

    Args:
        reason: The reason of the installer.
        materials: What was to be installed together.
        changed: Identities of the sources that the command named.
        base: pi's environment.
        options: Where distributions come from.
    """
    solved = [each.source for each in materials if each.requirement is not None]
    named = ", ".join(each.label for each in solved if not changed or each.identity in changed)
    text = f"{named} cannot be installed: {reason.rstrip('.')}"
    in_base = [f"{name} {version}" for name, version in base.versions.items() if f"{name}=={version}" in reason]
    if in_base:
        text += (
            f". pi's own environment has {', '.join(in_base)}, which packages cannot change. Update pi (pi update"
            " self), or ask for another version of the package"
        )
    for each in materials:
        if each.source.short and f"{each.source.label} was not found" in reason:
            text += (
                f". A name without a prefix means {each.source.label!r} and nothing else; for the distribution"
                f" of exactly the name you gave, write pypi:{each.source.label.removeprefix('pluggypi-')}"
            )
    if options.offline:
        text += ". Nothing was fetched (--offline): run it once with a network"
    elif not options.allow_builds and "wheel" in reason:
        text += ". Building from sources runs their code; the setting packages.allowBuilds permits it"
    return f"{text} (see pi help packages)"
