"""Which plugins of a package decide what may be done, as it is found when the package is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.host.gates import guarded_hooks, hooks_named_in
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["guards_of"]

_SOURCES = (".py", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")


def guards_of(package: Mapping[str, Any], described: Mapping[str, Any], draft: Path) -> dict[str, list[str]]:
    """Return the hooks whose failure refuses, by plugin; without those that have none.

    A plugin that was tried has said which hooks it implements, a program in a process of its own has at most those that
    its grants name, and of extensions the text of their files is searched.
    """
    tried = described["plugins"]
    found = {name: guarded_hooks(tried.get(name, {}).get("hooks", ())) for name in package.get("plugins", ())}
    if package.get("isolated"):
        found = dict.fromkeys(package.get("plugins", ()), _granted(package.get("grants")))
    else:
        for path in package.get("resources", {}).get("extensions", ()):
            place = draft / path
            found[place.stem] = hooks_named_in(_files(place))
    return {name: hooks for name, hooks in found.items() if hooks}


def _granted(grants: Mapping[str, Any] | None) -> list[str]:
    stated = True if grants is None else grants.get("hooks", False)
    return guarded_hooks(all_hookspecs() if stated is True else stated or ())


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from (
            each for each in sorted(place.rglob("*")) if each.suffix in _SOURCES and "node_modules" not in each.parts
        )
    elif place.exists():
        yield place
