"""Events about a project: whether it is trusted, and further paths of resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = [
    "ProjectTrustEvent",
    "ProjectTrustResult",
    "ResourcesDiscoverEvent",
    "ResourcesDiscoverResult",
]


@frozen(kw_only=True, eq=False, repr=False)
class ProjectTrustEvent(ReprMixin):
    """A project has files of its own, and the command line does not say whether to use them.

    Attributes:
        cwd: The project's folder, without symbolic links.
        resources: Paths of what needs trust: settings, extensions, skills, prompts ...
    """

    type: ClassVar[Literal["project_trust"]] = "project_trust"
    cwd: str
    resources: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class ProjectTrustResult(Value):
    """Whether a project's own files may be used; ``remember=True`` stores that for the folder and all below it.

    Attributes:
        of_parent: With ``remember``, trust is stored for the parent folder, and so for all folders in it.
    """

    trusted: Literal["yes", "no", "undecided"]
    remember: bool = False
    of_parent: bool = False

    @property
    def abstains(self) -> bool:
        """Whether this expresses no opinion, so that the next plugin is asked."""
        return self.trusted == "undecided"

    def problem(self, event: ProjectTrustEvent) -> str | None:
        """Return what is wrong with the answer; None if nothing is."""
        known = self.trusted in ("yes", "no", "undecided")
        return None if known else f"returned trusted={self.trusted!r}, which is not 'yes', 'no' or 'undecided'"


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    return listed(paths, "this field", "['/a/path']")


@frozen(kw_only=True, eq=False, repr=False)
class ResourcesDiscoverEvent(ReprMixin):
    """Skills, prompts and themes are being discovered."""

    type: ClassVar[Literal["resources_discover"]] = "resources_discover"
    cwd: str
    reason: Literal["startup", "reload"] = "startup"


@frozen(kw_only=True, eq=False, repr=False)
class ResourcesDiscoverResult(Value):
    """Further paths to search."""

    skill_paths: tuple[str, ...] = field(default=(), converter=_paths)
    prompt_paths: tuple[str, ...] = field(default=(), converter=_paths)
    theme_paths: tuple[str, ...] = field(default=(), converter=_paths)
