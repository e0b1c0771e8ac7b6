"""New versions of local extensions, between their loading and the moment at which they replace the old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_core.host.extensions.places import ExtensionSource

__all__ = ["Staged"]


@define(eq=False, repr=False)
class Staged(ReprMixin):
    """New versions, loaded but not yet in place.

    Attributes:
        replaced: After ``commit``: the objects before, by plugin, of those that have a new version.
    """

    _put: Callable[[Sequence[ExtensionSource], Mapping[Any, object], dict[str, object]], list[tuple[str, str]]]
    _sources: list[ExtensionSource]
    _modules: dict[Any, object]
    _failed: list[tuple[str, str]]
    replaced: dict[str, object] = field(factory=dict, init=False)

    def commit(self) -> list[tuple[str, str]]:
        """Put the new versions in place; returns what went wrong, by plugin."""
        return self._put(self._sources, self._modules, self.replaced) + self._failed
