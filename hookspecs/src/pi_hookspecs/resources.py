"""Resource files: skills, prompt templates, themes, context files, and the kinds that plugins add.

A plugin registers a ``ResourceKind``: which files are of its kind, and how to parse one. The ``ResourceLoader``
(``ctx.resources``) does the rest: search paths, project trust, precedence, reading and caching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pi_hookspecs.resource_files import Resource, ResourceContent, ResourceFile, ResourceProblem, Shadowed

__all__ = ["ResourceKind", "ResourceLoader", "ResourceRequest", "ResourceSet"]

MAX_BYTES = 1_048_576
"""Largest file that is read as a resource, unless its kind says otherwise: no model's window holds more."""


@frozen(kw_only=True, eq=False, repr=False)
class ResourceSet(ReprMixin):
    """All resources of one kind. The same object is returned as long as nothing changed.

    Attributes:
        resources: In order; the first of each name.
        shadowed: The others, each with the one that is used.
    """

    kind: str
    resources: tuple[Resource, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    problems: tuple[ResourceProblem, ...] = ()

    def get(self, name: str) -> Resource | None:
        """Return the resource of this name."""
        return next((each for each in self.resources if each.name == name), None)


@frozen(kw_only=True, eq=False, repr=False)
class ResourceRequest(ReprMixin):
    """Input of ``ResourceKind.find``.

    Attributes:
        cwd: The session's working directory, absolute.
        agent_dir: The folder of the user's own files.
        project_trusted: Whether the project's ``.pi`` may be read.
        trust_decided: Whether that was decided explicitly; then the user need not be notified of ignored files.
    """

    cwd: Path
    agent_dir: Path
    project_trusted: bool
    trust_decided: bool = False


def _markdown(name: str, depth: int) -> bool:
    return depth == 0 and name.endswith(".md")


@frozen(eq=False, repr=False)
class ResourceKind(ReprMixin):
    """A kind of resource: how to recognise and parse its files. Its functions are called in a worker thread.

    Attributes:
        name: ``skill``, ``prompt``, ``theme``, ``context``.
        read: Parses a file, given the file and its text. It must depend on nothing else: its result is cached until the
            file changes.
        folder: Its folder in the agent directory and in the project's ``.pi``, ``skills``; the setting of the
            same name adds paths and patterns. None if there is no such folder.
        shared_folder: The folder is also looked for in ``~/.agents``, and in ``.agents`` of the working directory and
            its ancestors up to the repository's root.
        accepts: Whether a file in such a folder is of this kind, given its name and its depth (0: directly inside).
        recursive: Whether to search subfolders; ignore files are honoured, ``node_modules`` is left out.
        find: Finds the files in another way, most important first; ``folder`` is then ignored. It returns a
            ``ResourceProblem`` in place of a file that exists and may not be used.
        unique: Whether only the first of two with the same name is used, with a notice to the user.
        overrides: Whether that is intended, so that there is no notice.
        keep: Whether results of ``read`` are cached on disk; False if they contain the file's text.
        max_bytes: Size limit; a larger file is a problem.
    """

    name: str
    read: Callable[[ResourceFile, str], ResourceContent] = field(kw_only=True)
    folder: str | None = field(default=None, kw_only=True)
    shared_folder: bool = field(default=False, kw_only=True)
    accepts: Callable[[str, int], bool] = field(default=_markdown, kw_only=True)
    recursive: bool = field(default=False, kw_only=True)
    find: Callable[[ResourceRequest], Iterable[ResourceFile | ResourceProblem]] | None = field(
        default=None, kw_only=True
    )
    unique: bool = field(default=True, kw_only=True)
    overrides: bool = field(default=False, kw_only=True)
    keep: bool = field(default=True, kw_only=True)
    max_bytes: int = field(default=MAX_BYTES, kw_only=True)


@runtime_checkable
class ResourceLoader(Protocol):
    """Finds and reads resources for one session; ``pi_core.DefaultResourceLoader`` is the usual one."""

    def kinds(self) -> Sequence[str]:
        """Return the names of all kinds."""
        ...

    async def load(self, kind: str) -> ResourceSet:
        """Return everything of a kind; an empty set for an unknown kind.

        Checks the files each time and reads only those that changed; returns the same object when none did.
        """
        ...

    def extend(self, kind: str, paths: Iterable[str], plugin: str) -> None:
        """Add search paths that a plugin returned from ``resources_discover``."""
        ...

    async def reload(self) -> None:
        """Clear the cache and the paths of plugins."""
        ...
