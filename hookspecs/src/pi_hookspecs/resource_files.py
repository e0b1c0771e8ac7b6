"""The files of resources and their parsed content; a run without such files does not import these classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Resource", "ResourceContent", "ResourceFile", "ResourceProblem", "ResourceScope", "Shadowed"]

ResourceScope: TypeAlias = Literal["temporary", "project", "user"]
"""For this run (command line, program), the project's, or the user's own: in this order of precedence."""


@frozen(kw_only=True, eq=False, repr=False)
class ResourceFile(Value):
    """A file that may hold a resource.

    Attributes:
        path: Absolute; symbolic links are not resolved.
        scope: For this run, the project's or the user's.
        source: How it was found: ``auto`` (a standard place), ``settings``, ``cli``, ``sdk`` (the program), or
            ``plugin:NAME``.
        base_dir: The folder that it was found under; for a file given by its path, the folder that contains it.
    """

    path: str
    scope: ResourceScope
    source: str
    base_dir: str


@frozen(kw_only=True, eq=False, repr=False)
class ResourceProblem(Value):
    """A problem with a file; other files are not affected.

    Attributes:
        path: The file, or folder.
        line: Line number, counted from 1.
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
class ResourceContent(ReprMixin):
    """Content of a file, as parsed by its kind.

    Attributes:
        name: The resource's name; None when it is not to be used, for the reason in ``problems``.
        data: The data that the plugin needs, as plain JSON values, because it is cached on disk.
        problems: With a line number, where there is one; the loader fills in path and kind.
    """

    name: str | None
    description: str = ""
    data: Mapping[str, Any] = field(factory=dict)
    problems: tuple[ResourceProblem, ...] = field(default=(), converter=_problems)


@frozen(kw_only=True, eq=False, repr=False)
class Resource(Value):
    """A resource that was found and read; the first five fields come from ``ResourceFile`` and ``ResourceContent``."""

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
        """``package`` if a plugin provides it; the form on the wire (``sourceInfo``)."""
        return "package" if self.source.startswith("plugin:") else "top-level"


@frozen(kw_only=True, eq=False, repr=False)
class Shadowed(ReprMixin):
    """A resource that is not used because another of its name comes first."""

    resource: Resource
    by: Resource
