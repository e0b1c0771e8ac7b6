"""Where resources of a kind may lie, most important first: this run's, the project's, the user's, plugins'.

What belongs to a project that nobody trusts is not even looked for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import frozen

from pi_core.base.paths import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core.base.filters import Filter
    from pi_core.settings import Settings
    from pi_hookspecs.resources import ResourceKind, ResourceScope

__all__ = ["Place", "Situation", "find_places"]


@frozen(eq=False, repr=False)
class Place:
    """A file or folder to look in.

    Attributes:
        named: Somebody named this path: it is a problem when it is not there.
        picks: Which of its files stay; None keeps all.
    """

    path: str
    scope: ResourceScope
    source: str
    named: bool = False
    picks: Filter | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Situation:
    """What the places depend on.

    Attributes:
        home: The user's home folder; its ``.agents`` is the user's, not a project's.
        project_trusted: Whether the project's own files count.
        trust_decided: Whether anybody said so, or said no.
        given: Paths for this run with their source, ``cli`` or ``sdk``.
        extended: Paths that plugins named, with the plugin.
        only_given: Nothing but the paths for this run counts (``--no-skills``).
    """

    cwd: str
    agent_dir: str
    home: str
    project_trusted: bool
    trust_decided: bool
    settings: Settings
    given: Sequence[tuple[str, str]] = ()
    extended: Sequence[tuple[str, str]] = ()
    only_given: bool = False


def find_places(kind: ResourceKind, situation: Situation) -> Iterator[Place]:
    """Go through the places of a kind that has folders."""
    for path, source in situation.given:
        yield Place(absolute(path, situation.cwd, situation.home), "temporary", source, named=True)
    if situation.only_given or kind.folder is None:
        return
    filters = _filters(situation.settings, kind.folder, situation)
    folders_of: dict[ResourceScope, Sequence[str]] = {
        "temporary": (),
        "project": _project_folders(kind, situation) if situation.project_trusted else (),
        "user": _user_folders(kind, situation),
    }
    for scope, folders in folders_of.items():
        picks = filters.get(scope)
        if picks is not None:
            yield from (Place(path, scope, "settings", named=True, picks=picks) for path in picks.named())
        yield from (Place(path, scope, "auto", picks=picks) for path in folders)
    for path, plugin in situation.extended:
        yield Place(absolute(path, situation.cwd, situation.home), "user", f"plugin:{plugin}", named=True)


def _user_folders(kind: ResourceKind, situation: Situation) -> list[str]:
    folders = [os.path.join(situation.agent_dir, str(kind.folder))]
    if kind.shared_folder:
        folders.append(os.path.join(situation.home, ".agents", str(kind.folder)))
    return folders


def _project_folders(kind: ResourceKind, situation: Situation) -> list[str]:
    folders = [os.path.join(situation.cwd, ".pi", str(kind.folder))]
    if kind.shared_folder:
        top = repository_root(situation.cwd)
        folders += [
            os.path.join(folder, ".agents", str(kind.folder))
            for folder in ancestors(situation.cwd, top)
            if folder != situation.home
        ]
    return folders


def ancestors(cwd: str, top: str | None = None) -> Iterator[str]:
    """Go through a folder and those around it, up to ``top`` or the file system's root."""
    folder = cwd
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder in (top, parent):
            return
        folder = parent


def repository_root(cwd: str) -> str | None:
    """Return the folder of the git repository, or worktree, that a folder is in; None where it is in none."""
    return next((folder for folder in ancestors(cwd) if os.path.exists(os.path.join(folder, ".git"))), None)


def _filters(settings: Settings, key: str, situation: Situation) -> dict[ResourceScope, Filter]:
    """Return what each scope's settings say. Files speak for themselves: a project's list does not hide the user's."""
    settings.get_str_list(key)  # tells of a value of a wrong type
    filters: dict[ResourceScope, Filter] = {}
    for origin, entries in settings.each(key):
        scope: ResourceScope
        if not os.path.isabs(origin):  # the command line, or a program
            scope, base_dir = "temporary", situation.cwd
        else:
            base_dir = os.path.dirname(origin)
            scope = "user" if base_dir == situation.agent_dir else "project"
        is_list = isinstance(entries, list | tuple) and all(isinstance(each, str) for each in entries)
        if is_list and (scope != "project" or situation.project_trusted):
            from pi_core.base.filters import Filter  # most settings have no such list

            filters[scope] = Filter.parse(entries, base_dir, situation.home)
    return filters
