"""Resources of installed packages other than plugins, as listed in ``gen/ID.json`` and filtered by the settings."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pi_core.base.filters import Filter
from pi_core.host.overlay import current_generation, describe_generation, project_root, user_root
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pi_core.settings import Settings

__all__ = [
    "PackageFilter",
    "PackageResource",
    "missing_guards",
    "missing_packages",
    "names_of_missing_guards",
    "package_resources",
]


@frozen(kw_only=True, eq=False, repr=False)
class PackageResource(Value):
    """A file or folder of a package.

    Attributes:
        path: Its path.
        scope: ``user`` or ``project``, depending on whose settings name the package.
        source: The package, as written in the settings.
        picks: Filters the files in it; None keeps all files.
    """

    path: str
    scope: str
    source: str
    picks: Filter | None


@frozen(eq=False, repr=False)
class PackageFilter(Filter):
    """A filter of an entry in ``packages``, which includes only files that its patterns match."""

    def includes(self, path: str) -> bool:
        """Whether a file is included."""
        names = self._names(path)
        if self._has(self.forced, names):
            return not self._has(self.banned, names)
        if self.paths and not any(_matches(name, each.rstrip("/")) for each in self.paths for name in names):
            return False
        return Filter.includes(self, path)


def _matches(name: str, pattern: str) -> bool:
    """Whether the end of a path matches a pattern, in which ``*`` is one name and ``**`` any number of names."""
    return fnmatchcase(name, pattern) if "**" in pattern else PurePath(name).match(pattern)


def package_resources(settings: Settings, kind: str, cwd: str, home: str) -> Iterator[PackageResource]:
    """Yield the resources of a kind in installed packages; a project's entry for a package replaces the user's.

    Args:
        settings: The settings with the lists ``packages`` of the user and of a trusted project. Without such a list no
            file is read.
        kind: ``extensions``, ``skills``, ``prompts`` or ``themes``.
        cwd: The project's folder.
        home: The user's home folder.
    """
    lists = {os.path.dirname(origin): entries for origin, entries in settings.each("packages") if os.path.isabs(origin)}  # noqa: PTH117, PTH120
    if not any(lists.values()):
        return
    taken: set[str] = set()
    is_left_out = _denied(settings)
    for scope, folder, root in _scopes(settings, cwd):
        entries = _by_source(lists.get(folder))
        if not entries:
            continue
        name = current_generation(root)
        for package in describe_generation(root, name).get("packages", ()):
            written = package.get("written", package["source"])
            if package["identity"] in taken or written not in entries:
                continue
            taken.add(package["identity"])
            if is_left_out(package["identity"]):
                continue
            for path in package.get("resources", {}).get(kind, ()):
                where = os.path.join(root, "gen", str(name), path)  # noqa: PTH118 - an absolute path stays one
                picks = _picks(entries[written], kind, os.path.dirname(where), home)  # noqa: PTH120
                yield PackageResource(path=where, scope=scope, source=written, picks=picks)


def _denied(settings: Settings) -> Callable[[str], bool]:
    """Return a function that returns whether the settings deny a package, given its identity."""
    if not settings.each("packages.deny"):
        return lambda _identity: False
    from pi_core.host.policy import denied  # most users deny no package

    return lambda identity: denied(identity, settings) is not None


@frozen(eq=False, repr=False)
class _Nothing(Filter):
    """The filter of an empty list, which includes no file."""

    def includes(self, path: str) -> bool:
        """Return False."""
        return False


def _scopes(settings: Settings, cwd: str) -> Iterator[tuple[str, str, Path]]:
    from pathlib import Path

    if settings.trust_of(cwd).is_trusted:
        yield "project", os.path.join(cwd, ".pi"), project_root(settings.agent_dir, Path(cwd))  # noqa: PTH118
    yield "user", str(settings.agent_dir), user_root(settings.agent_dir)


def _by_source(entries: Any) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a list by their sources, as written."""
    options = (entry if isinstance(entry, dict) else {"source": entry} for entry in entries or ())
    return {each["source"]: each for each in options if isinstance(each.get("source"), str)}


def _picks(options: Mapping[str, Any], kind: str, base_dir: str, home: str) -> Filter | None:
    """Return an entry's filter for a kind; None if the entry has no such filter."""
    entries = options.get(kind, [] if options.get("autoload") is False else None)
    if entries is None:
        return None
    if not isinstance(entries, list) or not entries:
        return _Nothing(base_dir, home)
    return PackageFilter.parse([each for each in entries if isinstance(each, str)], base_dir, home)


def missing_packages(settings: Settings, cwd: str) -> dict[str, list[str]]:
    """Return the sources in the settings that no generation contains, by scope: ``user``, ``project``."""
    found: dict[str, list[str]] = {}
    lists = {os.path.dirname(origin): entries for origin, entries in settings.each("packages")}  # noqa: PTH120 - as above
    for scope, folder, root in _scopes(settings, cwd):
        wanted = _sources(lists.get(folder))
        if wanted:
            installed = _sources(describe_generation(root, current_generation(root)).get("entries"))
            missing = [each for each in wanted if each not in installed]
            if missing:
                found[scope] = missing
    return found


def missing_guards(settings: Settings, cwd: str) -> dict[str, dict[str, list[str]]]:
    """Return the missing packages whose plugins decide what may be done, by source: the hooks of each plugin.

    ``pylock.pi.toml`` next to the settings says so: it was written when they were installed, here or elsewhere. A
    package that the settings deny is not missed.
    """
    missing = missing_packages(settings, cwd)
    if not missing:
        return {}
    import tomllib  # only if something is wrong

    is_left_out = _denied(settings)
    found: dict[str, dict[str, list[str]]] = {}
    for scope, folder, _ in _scopes(settings, cwd):
        try:
            with open(os.path.join(folder, "pylock.pi.toml"), "rb") as file:  # noqa: PTH118, PTH123 - folder is a text
                lock = tomllib.load(file)
            sources = lock["tool"]["pi"]["sources"]
        except (OSError, ValueError, KeyError, TypeError):  # none, or damaged: nothing is known
            continue
        for each in sources if isinstance(sources, list) else ():
            names = {each.get("written"), each.get("source")} if isinstance(each, dict) else set()
            wanted = names & set(missing.get(scope, ()))
            guards = each.get("guards") if wanted else None
            if isinstance(guards, dict) and not is_left_out(str(each.get("identity"))):
                found[str(wanted.pop())] = {str(name): [str(hook) for hook in hooks] for name, hooks in guards.items()}
    return found


def names_of_missing_guards(settings: Settings) -> set[str]:
    """Return the plugins of ``missing_guards`` in the settings' folder, which ``--disable`` accepts."""
    return {name for guards in missing_guards(settings, str(settings.project_trust.cwd)).values() for name in guards}


def _sources(entries: Any) -> list[str]:
    sources = (entry.get("source") if isinstance(entry, dict) else entry for entry in entries or ())
    return [each for each in sources if isinstance(each, str)]
