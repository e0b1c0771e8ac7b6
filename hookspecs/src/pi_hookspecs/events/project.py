"""What a project brings along: whether it is trusted, and where else to look for resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import field, frozen

from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import Shown, Value

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = [
    "ProjectTrustEvent",
    "ProjectTrustResult",
    "ResourcesDiscoverEvent",
    "ResourcesDiscoverResult",
]


@frozen(kw_only=True, eq=False, repr=False)
class ProjectTrustEvent(Shown):
    """A project has files of its own, and nobody on the command line said whether they count.

    Attributes:
        cwd: The project's folder, without symbolic links.
        resources: Paths of what needs trust: settings, extensions, skills, prompts ...
    """

    type: ClassVar[Literal["project_trust"]] = "project_trust"
    cwd: str
    resources: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class ProjectTrustResult(Value):
    """Whether a project's own files count; ``remember=True`` keeps the decision for this folder and all below it."""

    trusted: Literal["yes", "no", "undecided"]
    remember: bool = False

    @property
    def abstains(self) -> bool:
        """Whether this is no opinion: the next plugin is asked."""
        return self.trusted == "undecided"

    def problem(self, event: ProjectTrustEvent) -> str | None:
        """Return what is wrong with the answer."""
        known = self.trusted in ("yes", "no", "undecided")
        return None if known else f"answered trusted={self.trusted!r}, which is none of yes, no and undecided"


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    return listed(paths, "this field", "['/a/path']")


@frozen(kw_only=True, eq=False, repr=False)
class ResourcesDiscoverEvent(Shown):
    """Skills, prompts and themes are being looked for."""

    type: ClassVar[Literal["resources_discover"]] = "resources_discover"
    cwd: str
    reason: Literal["startup", "reload"] = "startup"


@frozen(kw_only=True, eq=False, repr=False)
class ResourcesDiscoverResult(Value):
    """Further paths to look in."""

    skill_paths: tuple[str, ...] = field(default=(), converter=_paths)
    prompt_paths: tuple[str, ...] = field(default=(), converter=_paths)
    theme_paths: tuple[str, ...] = field(default=(), converter=_paths)
