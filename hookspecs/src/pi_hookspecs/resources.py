"""What pi is given to read: skills, prompt templates, themes, context files, and whatever kinds plugins add.

A plugin registers a ``ResourceKind``: which files are of its kind, and what one of them says. Where to look, who may
be believed, which of two wins, reading, caching: that is the ``ResourceLoader``'s, which a plugin finds as
``ctx.resources``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

from pi_hookspecs.values import Shown, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "Resource",
    "ResourceContent",
    "ResourceFile",
    "ResourceKind",
    "ResourceLoader",
    "ResourceProblem",
    "ResourceRequest",
    "ResourceScope",
    "ResourceSet",
    "Shadowed",
]

ResourceScope: TypeAlias = Literal["temporary", "project", "user"]
"""For this run (command line, program), the project's, or the user's own; of two with one name, the earlier wins."""

MAX_BYTES = 1_048_576
"""Largest file that is read as a resource, unless its kind says otherwise: no model's window holds more."""


@frozen(kw_only=True, eq=False, repr=False)
class ResourceFile(Value):
    """A file that may hold a resource.

    Attributes:
        path: Absolute, as it is shown; symbolic links are kept.
        scope: Whose it is.
        source: How it was found: ``auto`` (a standard place), ``settings``, ``cli``, ``sdk`` (the program), or
            ``plugin:NAME``.
        base_dir: The folder that it was found under; of a file that was named itself, the folder that it is in.
    """

    path: str
    scope: ResourceScope
    source: str
    base_dir: str


@frozen(kw_only=True, eq=False, repr=False)
class ResourceProblem(Value):
    """Something that is wrong with a file; what else there is works.

    Attributes:
        path: The file, or folder.
        line: Where in it, counted from 1.
    """

    path: str
    message: str
    line: int | None = None
    kind: str = ""
    level: Literal["warning", "error"] = "warning"

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"


def _problems(problems: Iterable[ResourceProblem]) -> tuple[ResourceProblem, ...]:
    return tuple(problems)


@frozen(kw_only=True, eq=False, repr=False)
class ResourceContent(Shown):
    """What a file says, as its kind reads it.

    Attributes:
        name: What it is called; None when it is not to be used, and a problem says why.
        data: Whatever the plugin will need of it, as plain JSON values: it is kept on disk between starts.
        problems: With their line, where there is one; path and kind are filled in.
    """

    name: str | None
    description: str = ""
    data: Mapping[str, Any] = field(factory=dict)
    problems: tuple[ResourceProblem, ...] = field(default=(), converter=_problems)


@frozen(kw_only=True, eq=False, repr=False)
class Resource(Value):
    """A resource that was found and read; the first five are those of ``ResourceFile`` and ``ResourceContent``."""

    kind: str
    name: str
    path: str
    scope: ResourceScope
    source: str
    base_dir: str
    description: str = ""
    data: Mapping[str, Any] = field(factory=dict, eq=False)

    @property
    def origin(self) -> Literal["top-level", "package"]:
        """Whether a plugin brought it, in the words of the wire (``sourceInfo``)."""
        return "package" if self.source.startswith("plugin:") else "top-level"


@frozen(kw_only=True, eq=False, repr=False)
class Shadowed(Shown):
    """A resource that is not used because another of its name comes first."""

    resource: Resource
    by: Resource


@frozen(kw_only=True, eq=False, repr=False)
class ResourceSet(Shown):
    """Everything of one kind. The same object is answered again for as long as nothing changed.

    Attributes:
        resources: In order; the first loaded of each name.
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
class ResourceRequest(Shown):
    """Where a kind that finds its files itself may look.

    Attributes:
        cwd: The session's working directory, absolute.
        agent_dir: The folder of the user's own files.
        project_trusted: Whether the project's ``.pi`` may be looked into.
        trust_decided: Whether somebody said so, or said no: who did need not be told what is left out.
    """

    cwd: Path
    agent_dir: Path
    project_trusted: bool
    trust_decided: bool = False


def _markdown(name: str, depth: int) -> bool:
    return depth == 0 and name.endswith(".md")


@frozen(eq=False, repr=False)
class ResourceKind(Shown):
    """A kind of resource, and how to tell and read one. Its functions are called in a worker thread.

    Attributes:
        name: ``skill``, ``prompt``, ``theme``, ``context``.
        read: Says what a file says, given the file and its text. It must depend on nothing else: its answer is kept,
            and given again until the file changes.
        folder: Its folder in the agent directory and in the project's ``.pi``, ``skills``; the setting of the
            same name adds paths and patterns. None where there is no such folder.
        shared_folder: The folder is also looked for in ``~/.agents``, and in ``.agents`` of the working directory and
            its ancestors up to the repository's root.
        accepts: Whether a file in such a folder is one: its name, and how many folders deep it lies (0: directly).
        recursive: Whether to look into folders inside; ignore files are honoured, ``node_modules`` is left out.
        find: Finds the files in other ways, most important first; ``folder`` is not looked at then. A file that is
            there and may not be used is told with a problem in its place.
        unique: Of two with one name only the first is used, and the user is told.
        overrides: That is what such files are for: nobody is told.
        keep: Whether answers of ``read`` are kept on disk; False for those that hold the file's text.
        max_bytes: A larger file is refused with its size.
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
        """Return everything of a kind; an empty set where no plugin knows the kind.

        Looks each time, and reads only what changed since: the set is the same object when nothing did.
        """
        ...

    def extend(self, kind: str, paths: Iterable[str], plugin: str) -> None:
        """Look in further paths, which a plugin named (``resources_discover``)."""
        ...

    async def reload(self) -> None:
        """Forget what was read and which paths plugins named."""
        ...
