"""The lists of models and of thinking levels: the user chooses one for this session, or also as the default."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.picks import Option, Pick
from pi_tui.selectors.selector import Chosen, Hint, Selector, drawn_keys, selected_row
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_tui.keys.actions import Place
    from pi_tui.keys.bindings import Bindings
    from pi_tui.selectors.selector import Hint, Outcome

__all__ = ["LevelMadeDefault", "MadeDefault", "ModelRow", "ModelSelector", "ThinkingSelector", "model_parts"]


class ModelRow(NamedTuple):
    """An available model.

    Attributes:
        reference: ``provider/id``.
        name: The provider's name for it.
        is_current: Whether the session uses it.
        is_default: Whether new sessions use it.
        is_scoped: Whether it is one of the models to cycle through.
    """

    reference: str
    name: str = ""
    is_current: bool = False
    is_default: bool = False
    is_scoped: bool = False

    @property
    def provider(self) -> str:
        """The id of its provider."""
        return self.reference.partition("/")[0]

    @property
    def id(self) -> str:
        """Its id without the id of the provider."""
        return self.reference.partition("/")[2]

    @property
    def text(self) -> str:
        """The text that is searched."""
        return f"{self.id} {self.provider} {self.reference} {self.name}"


class MadeDefault(NamedTuple):
    """The user chose this model for this session and new ones: the list is closed."""

    value: ModelRow


class ModelSelector(Selector[ModelRow]):
    """The list of models, with the current one first.

    Args:
        models: All available models.
        typed: The initial search.
    """

    place: ClassVar[Place] = "models"
    empty: ClassVar[str] = "No matching models"

    def __init__(self, models: Iterable[ModelRow], typed: str = "") -> None:
        self._all = sorted(models, key=lambda model: not model.is_current)
        self._scoped = [model for model in self._all if model.is_scoped]
        self._in_scope = bool(self._scoped)
        super().__init__(Choices(self._displayed, lambda model: model.text, key=lambda model: model.reference))
        if typed:
            self.paste(typed)

    @property
    def _displayed(self) -> list[ModelRow]:
        return self._scoped if self._in_scope else self._all

    def head(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return a row that says which models are displayed."""
        if not self._scoped:
            return [Line.of(Run("Models of providers you are signed in to; /login adds more", "warning"))]
        tab = drawn_keys(bindings, "tui.input.tab")
        scopes = [
            Run(name, "accent" if chosen else "muted")
            for name, chosen in (("all", not self._in_scope), ("scoped", self._in_scope))
        ]
        hint = [Run(f" · {tab} to change", "dim")] if tab else []
        return [Line.of(Run("Scope: ", "muted"), scopes[0], Run(" | ", "muted"), scopes[1], *hint)]

    def row(self, item: ModelRow, width: int, *, is_selected: bool) -> Line:
        """Return a row such as ``→ ✓ m1 [fake] · default``."""
        mark = Run("✓ ", "success") if item.is_current else Run("  ")
        default = [Run(" · default", "muted")] if item.is_default else []
        parts = [mark, *model_parts(item.id, item.provider, is_selected=is_selected), *default]
        return selected_row(parts, is_selected=is_selected)

    def foot(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the name of the selected model."""
        selected = self.choices.selected
        name = clean_line(selected.name or selected.id) if selected is not None else ""
        return [Line.of(Run(f"  {name}", "muted"))]

    def hints(self) -> Sequence[Hint]:
        """Return the descriptions of keys."""
        return (*super().hints(), ("app.models.save", "to set as default"))

    def act(self, action: str) -> Outcome | None:
        """Change the scope or the default model."""
        if action == "tui.input.tab":
            if self._scoped:
                self._in_scope = not self._in_scope
                self.choices.replace(self._displayed)
            return None
        if action == "app.models.save":
            selected = self.choices.selected
            return MadeDefault(selected) if selected is not None else None
        return NotImplemented

    def confirm(self) -> Outcome | None:
        """Use the selected model."""
        selected = self.choices.selected
        return Chosen(selected) if selected is not None else None


def model_parts(name: str, provider: str, *, is_selected: bool) -> list[Run]:
    """Return the id of a model and its provider in the form that lists display."""
    return [Run(clean_line(name), "accent" if is_selected else "text"), Run(f" [{clean_line(provider)}]", "muted")]


class LevelMadeDefault(NamedTuple):
    """The user chose this level for this session and new ones: the list is closed."""

    value: Option


class ThinkingSelector(Pick):
    """The list of a model's thinking levels.

    Args:
        levels: The available levels, the least effort first.
        current: The current level; None if unknown.
    """

    place: ClassVar[Place] = "thinking"

    def __init__(self, levels: Iterable[str], current: str | None) -> None:
        super().__init__("Thinking level", [Option(each, each, is_current=each == current) for each in levels])

    def hints(self) -> Sequence[Hint]:
        """Return the descriptions of keys."""
        return (*super().hints(), ("app.thinking.save", "to set as default"))

    def act(self, action: str) -> Outcome | None:
        """Choose the selected level as the default, too."""
        if action != "app.thinking.save":
            return super().act(action)
        selected = self.choices.selected
        return LevelMadeDefault(selected) if selected is not None else None
