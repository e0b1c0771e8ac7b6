"""The places to search for resources of a kind, in order: of this run, of the project, of the user and of plugins.

The folders of an untrusted project are not searched at all.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from pi_core.base.paths import absolute
from pi_hookspecs.deferred import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_core.base.filters import Filter
    from pi_core.settings import Settings
    from pi_hookspecs import ResourceKind, ResourceScope

__all__ = ["Place", "SearchContext", "find_places"]


@frozen(eq=False, repr=False)
class Place:
    """A file or folder to search.

    Attributes:
        required: Whether a missing path is a problem, because it was named explicitly.
        picks: Filters the files in it; None keeps all files.
    """

    path: str
    scope: ResourceScope
    source: str
    required: bool = False
    picks: Filter | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SearchContext:
    """The inputs of the search.

    Attributes:
        home: The user's home folder; its ``.agents`` belongs to the user, never to a project.
        project_trusted: Whether the project's own files are used.
        trust_decided: Whether the user has decided whether to trust the project.
        explicit_paths: Paths for this run with their source, ``cli`` or ``sdk``.
        run_paths: Paths from packages of this run (``-e``), by the folder of their kind, each with the package.
        plugin_paths: Paths that plugins added, with the plugin's name.
        only_explicit: Whether only the paths for this run are searched (``--no-skills``).
    """

    cwd: str
    agent_dir: str
    home: str
    project_trusted: bool
    trust_decided: bool
    settings: Settings
    explicit_paths: Sequence[tuple[str, str]] = ()
    run_paths: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({})
    plugin_paths: Sequence[tuple[str, str]] = ()
    only_explicit: bool = False


def find_places(kind: ResourceKind, context: SearchContext) -> Iterator[Place]:
    """Yield the places to search for a kind, in order of precedence."""
    for path, source in context.explicit_paths:
        yield Place(absolute(path, context.cwd, context.home), "temporary", source, required=True)
    for path, package in context.run_paths.get(str(kind.folder), ()):
        yield Place(path, "temporary", f"package:{package}")
    if context.only_explicit or kind.folder is None:
        return
    filters = _filters(context.settings, kind.folder, context)
    folders_of: dict[ResourceScope, Sequence[str]] = {
        "temporary": (),
        "project": _project_folders(kind, context) if context.project_trusted else (),
        "user": _user_folders(kind, context),
    }
    for scope, folders in folders_of.items():
        picks = filters.get(scope)
        if picks is not None:
            yield from (Place(path, scope, "settings", required=True, picks=picks) for path in picks.added_paths())
        yield from (Place(path, scope, "auto", picks=picks) for path in folders)
        yield from _of_packages(kind.folder, scope, context)
    for path, plugin in context.plugin_paths:
        yield Place(absolute(path, context.cwd, context.home), "user", f"plugin:{plugin}", required=True)


def _of_packages(folder: str, scope: ResourceScope, context: SearchContext) -> Iterator[Place]:
    if context.settings.get("packages"):
        from pi_core.host.package_resources import package_resources  # most users have no packages

        for each in package_resources(context.settings, folder, context.cwd, context.home):
            if each.scope == scope:
                yield Place(each.path, scope, f"package:{each.source}", picks=each.picks)


def _user_folders(kind: ResourceKind, context: SearchContext) -> list[str]:
    folders = [os.path.join(context.agent_dir, str(kind.folder))]
    if kind.shared_folder:
        folders.append(os.path.join(context.home, ".agents", str(kind.folder)))
    return folders


def _project_folders(kind: ResourceKind, context: SearchContext) -> list[str]:
    folders = [os.path.join(context.cwd, ".pi", str(kind.folder))]
    if kind.shared_folder:
        top = repository_root(context.cwd)
        folders += [
            os.path.join(folder, ".agents", str(kind.folder))
            for folder in ancestors(context.cwd, top)
            if folder != context.home
        ]
    return folders


def ancestors(cwd: str, top: str | None = None) -> Iterator[str]:
    """Yield a folder and its parents, up to ``top`` or the file system's root."""
    folder = cwd
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder in (top, parent):
            return
        folder = parent


def repository_root(cwd: str) -> str | None:
    """Return the root of the git repository or worktree that contains a folder; None outside of one."""
    return next((folder for folder in ancestors(cwd) if os.path.exists(os.path.join(folder, ".git"))), None)


def _filters(settings: Settings, key: str, context: SearchContext) -> dict[ResourceScope, Filter]:
    """Return the filter of each scope's settings file. Lists are not merged; a project's list applies to its scope."""
    settings.get_str_list(key)  # reports values of a wrong type
    filters: dict[ResourceScope, Filter] = {}
    for origin, entries in settings.each(key):
        scope: ResourceScope
        if not os.path.isabs(origin):  # the command line, or a program
            scope, base_dir = "temporary", context.cwd
        else:
            base_dir = os.path.dirname(origin)
            scope = "user" if base_dir == context.agent_dir else "project"
        is_list = isinstance(entries, list | tuple) and all(isinstance(each, str) for each in entries)
        if is_list and (scope != "project" or context.project_trusted):
            from pi_core.base.filters import Filter  # most settings have no such list

            filters[scope] = Filter.parse(entries, base_dir, context.home)
    return filters
