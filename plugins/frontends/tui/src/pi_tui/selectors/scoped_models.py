"""The list that selects and orders the models to cycle through."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.models import model_parts
from pi_tui.selectors.selector import Hint, Selector, selected_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_tui.keys.actions import Place
    from pi_tui.keys.bindings import Bindings
    from pi_tui.selectors.models import ModelRow
    from pi_tui.selectors.selector import Outcome

__all__ = ["ScopeChanged", "ScopeSaved", "ScopedModelSelector"]


class ScopeChanged(NamedTuple):
    """The user changed the models to cycle through in this session; the list stays open.

    Attributes:
        references: References of the models, in order; None for all.
    """

    references: tuple[str, ...] | None


class ScopeSaved(NamedTuple):
    """The user wants to cycle through these models in new sessions, too; the list stays open."""

    references: tuple[str, ...] | None


class ScopedModelSelector(Selector[str]):
    """The list of models. Those to cycle through are marked and come first, in their order.

    Args:
        models: All available models.
        enabled: References of the models to cycle through; None for all.
    """

    place: ClassVar[Place] = "models"
    empty: ClassVar[str] = "No matching models"

    def __init__(self, models: Iterable[ModelRow], enabled: Iterable[str] | None = None) -> None:
        self._models = {model.reference: model for model in models}
        known = None if enabled is None else [each for each in dict.fromkeys(enabled) if each in self._models]
        self._enabled: list[str] | None = known
        self._is_saved = True
        super().__init__(Choices(self._ordered(), lambda name: self._models[name].text, key=str, ranked=False))

    @property
    def enabled(self) -> tuple[str, ...] | None:
        """The models to cycle through; None for all."""
        return None if self._enabled is None else tuple(self._enabled)

    def head(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the title."""
        return [Line.of(Run("Models to cycle through", "accent", bold=True))]

    def row(self, item: str, width: int, *, is_selected: bool) -> Line:
        """Return a row such as ``→ ✓ m1 [fake]``, without a mark if all models are enabled."""
        model = self._models[item]
        mark = ""
        if self._enabled is not None:
            mark = "✓ " if item in self._enabled else "  "
        parts = model_parts(model.id, model.provider, is_selected=is_selected)
        return selected_row([Run(mark, "success"), *parts] if mark else parts, is_selected=is_selected)

    def foot(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return how many models are enabled."""
        text = "all enabled" if self._enabled is None else f"{len(self._enabled)}/{len(self._models)} enabled"
        unsaved = [] if self._is_saved else [Run(" (unsaved)", "warning")]
        return [Line.of(Run(f"  · {text}", "muted"), *unsaved)]

    def hints(self) -> Sequence[Hint]:
        """Return the descriptions of keys."""
        return (
            ("tui.select.confirm", "toggle"),
            ("app.models.enableAll", "all"),
            ("app.models.clearAll", "clear"),
            ("app.models.toggleProvider", "provider"),
            (("app.models.reorderUp", "app.models.reorderDown"), "reorder"),
            ("app.models.save", "save"),
        )

    def act(self, action: str) -> Outcome | None:
        """Enable, disable, reorder or save models."""
        if action == "app.models.save":
            self._is_saved = True
            return ScopeSaved(self.enabled)
        if action == "app.models.enableAll":
            return self._change(self._with(self._found()))
        if action == "app.models.clearAll":
            return self._change(self._without(self._found()))
        if action == "app.models.toggleProvider":
            return self._toggle_provider()
        if action in _MOVES:
            return self._reorder(_MOVES[action])
        return NotImplemented

    def confirm(self) -> Outcome | None:
        """Enable or disable the selected model; if all are enabled, enable only this one."""
        selected = self.choices.selected
        if selected is None:
            return None
        if self._enabled is None:
            return self._change([selected])
        return self._change(self._without([selected]) if selected in self._enabled else self._with([selected]))

    def _toggle_provider(self) -> Outcome | None:
        selected = self.choices.selected
        if selected is None:
            return None
        provider = self._models[selected].provider
        names = [name for name, model in self._models.items() if model.provider == provider]
        enabled = self._enabled if self._enabled is not None else [*self._models]
        return self._change(self._without(names) if {*names} <= {*enabled} else self._with(names))

    def _reorder(self, by: int) -> Outcome | None:
        selected, enabled = self.choices.selected, [*(self._enabled if self._enabled is not None else self._models)]
        if selected not in enabled or not self.choices.query.is_empty:
            return None
        at = enabled.index(selected)
        if not 0 <= at + by < len(enabled):
            return None
        enabled[at], enabled[at + by] = enabled[at + by], enabled[at]
        return self._change(enabled, ordered=True)

    def _found(self) -> list[str]:
        """Return the displayed models: a search limits which models are enabled or disabled together."""
        return [*self.choices.found]

    def _with(self, names: Iterable[str]) -> list[str] | None:
        return None if self._enabled is None else [*dict.fromkeys([*self._enabled, *names])]

    def _without(self, names: Iterable[str]) -> list[str]:
        left_out = {*names}
        return [each for each in (self._models if self._enabled is None else self._enabled) if each not in left_out]

    def _change(self, enabled: list[str] | None, *, ordered: bool = False) -> Outcome | None:
        if enabled is not None and len(enabled) == len(self._models) and not ordered:
            enabled = None
        if enabled == self._enabled:
            return None
        self._enabled, self._is_saved = enabled, False
        self.choices.replace(self._ordered())
        return ScopeChanged(self.enabled)

    def _ordered(self) -> list[str]:
        return [*dict.fromkeys([*(self._enabled or ()), *self._models])]


_MOVES = {"app.models.reorderUp": -1, "app.models.reorderDown": 1}
