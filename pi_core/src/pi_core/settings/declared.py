"""Settings that plugins declare, as plain data: from the plugin index, or from the plugins that are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pi_core.settings.values import steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["DeclaredSetting", "groups_of"]


class DeclaredSetting(NamedTuple):
    """One declaration.

    Attributes:
        name: The setting's dotted name; a step ``*`` is any name.
        schema: The JSON schema of its values, with their default.
        description: What it does, one line.
        may: What a project may do to it, one of ``pi_hookspecs.ProjectMay``.
        protected: Whether other plugins need the user's consent to change it.
        plugin: The plugin that declares it.
        variable: The environment variable that also sets it.
    """

    name: str
    schema: dict[str, Any]
    description: str
    may: Any
    protected: bool
    plugin: str
    variable: str | None = None

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the name."""
        return steps_of(self.name)


def groups_of(declared: Iterable[DeclaredSetting]) -> frozenset[tuple[str, ...]]:
    """Return the steps of everything above a declared setting: a declaration of one of these describes a group."""
    return frozenset(_above(declared))


def _above(declared: Iterable[DeclaredSetting]) -> Iterator[tuple[str, ...]]:
    for each in declared:
        steps = each.steps
        for depth in range(1, len(steps)):
            yield steps[:depth]
