"""The settings that restrict what may be installed: ``plugins.allow`` and ``packages.deny``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_core import Settings

__all__ = ["check_allowed", "check_denied"]


def check_allowed(settings: Settings, plugins: Sequence[str]) -> None:
    """Refuse plugins that the user, or a project, does not allow.

    Raises:
        UserError: There is one.
    """
    for origin, patterns in settings.each("plugins.allow"):
        left_out = [name for name in plugins if not any(fnmatchcase(name, each) for each in patterns)]
        if left_out:
            raise UserError(f"{', '.join(left_out)}: not among the plugins that {origin} allows (plugins.allow)")


def check_denied(settings: Settings, identities: Iterable[str]) -> None:
    """Refuse packages that are denied by name or by identity.

    Raises:
        UserError: There is one.
    """
    denied = [each for _, patterns in settings.each("packages.deny") for each in patterns]
    for identity in identities:
        name = identity.partition(":")[2]
        match = next((each for each in denied if fnmatchcase(name, each) or fnmatchcase(identity, each)), None)
        if match is not None:
            raise UserError(f"{name} is denied by the setting packages.deny ({match!r})")
