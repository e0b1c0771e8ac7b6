"""The contract of plugins as data: the current one, or an earlier version."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from attrs import frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pi_core import expand_home
from pi_hookspecs import UserError
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Contract", "lowest_version", "read_contract"]

_PARTS = ("names", "classes", "errors", "values", "protocols", "functions")


@frozen(eq=False, repr=False)
class Contract(ReprMixin):
    """The contents of a version of ``pi_hookspecs``.

    Attributes:
        version: The version, for display.
        hooks: The hooks as ``contract.json`` describes them, by name.
        names: The public names of ``pi_hookspecs``.
        deprecated: What to use instead of deprecated members of ``pi`` and ``ctx``, by name.
    """

    version: str
    hooks: dict[str, dict[str, Any]]
    names: frozenset[str]
    deprecated: dict[str, str]


def read_contract(wanted: str | None = None) -> Contract:
    """Return the current contract, the one of a version such as ``1.0``, or one from a file.

    Raises:
        UserError: There is no such version or file.
    """
    folder = files("pi_hookspecs") / "contracts"
    if wanted is None:
        return _read((folder / "contract.json").read_text(encoding="utf-8"), "")
    if wanted.endswith(".json"):
        try:
            return _read(expand_home(wanted).read_text(encoding="utf-8"), "")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{wanted!r} cannot be read as a contract: {error}") from error
    stored = folder / f"contract-{wanted}.json"
    if stored.is_file():
        return _read(stored.read_text(encoding="utf-8"), wanted)
    known = sorted(each.name.removeprefix("contract-").removesuffix(".json") for each in folder.iterdir())
    present = read_contract()
    if wanted in known or not _is_covered(wanted, present):
        others = ", ".join(each for each in known if each != "contract")
        raise UserError(
            f"This pi has no contract {wanted!r}, only {others} and its own. --against also takes the"
            " path of a contract.json"
        )
    version = Version(wanted)
    hooks = {name: each for name, each in present.hooks.items() if Version(each["since"]) <= version}
    return Contract(wanted, hooks, present.names, present.deprecated)


def _is_covered(wanted: str, present: Contract) -> bool:
    """Whether the current contract describes this version: it is no later than the contract's latest hook."""
    try:
        return Version(wanted) <= max(Version(each["since"]) for each in present.hooks.values())
    except InvalidVersion:
        return False


def _read(text: str, version: str) -> Contract:
    read = json.loads(text)
    names = frozenset(name for part in _PARTS for name in read.get(part, {}))
    deprecated = {
        name: member["deprecated"]["use"]
        for protocol in ("PiAPI", "PiContext")
        for name, member in read["protocols"].get(protocol, {}).get("members", {}).items()
        if "deprecated" in member
    }
    return Contract(version or read["version"], read["hooks"], names, deprecated)


def lowest_version(requires: Iterable[str]) -> str | None:
    """Return the lowest version of the contract that a plugin's requirements allow, as in ``1.0``; None if unknown."""
    for text in requires:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            continue
        if canonicalize_name(need.name) == "pluggypi-hookspecs":
            bounds = [
                Version(each.version.removesuffix(".*"))
                for each in need.specifier
                if each.operator in (">=", "==", "~=")
            ]
            lowest = max(bounds, default=None)
            return f"{lowest.major}.{lowest.minor}" if lowest is not None else None
    return None
