"""New versions of local extensions that are loaded but have not yet replaced the old versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import define, field
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_core.host.extensions.places import ExtensionSource

__all__ = ["Staged"]


@define(eq=False, repr=False)
class Staged(ReprMixin):
    """New versions that are loaded but not yet in use.

    Attributes:
        replaced: After ``commit``, the previous objects of the plugins that were replaced, by plugin.
    """

    _put: Callable[[Sequence[ExtensionSource], Mapping[Any, object], dict[str, object]], list[tuple[str, str]]]
    _sources: list[ExtensionSource]
    _modules: dict[Any, object]
    _failed: list[tuple[str, str]]
    replaced: dict[str, object] = field(factory=dict, init=False)

    def commit(self) -> list[tuple[str, str]]:
        """Start to use the new versions; return problems by plugin."""
        return self._put(self._sources, self._modules, self.replaced) + self._failed
