"""The list of thinking levels: the user chooses one for this session, or also as the default."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pi_tui.selectors.picks import Option, Pick

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_tui.keys.actions import Place
    from pi_tui.selectors.selector import Hint, Outcome

__all__ = ["LevelMadeDefault", "ThinkingSelector"]


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
