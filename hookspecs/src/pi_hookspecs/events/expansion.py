"""The expansion of prompts."""

from __future__ import annotations

from typing import ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin

__all__ = ["ExpandPromptEvent", "ExpandPromptResult"]


@frozen(kw_only=True, eq=False, repr=False)
class ExpandPromptEvent(ReprMixin):
    """A text of the user that may be expanded: ``/skill:name``, ``/template``."""

    type: ClassVar[Literal["expand_prompt"]] = "expand_prompt"
    text: str


@frozen(kw_only=True, eq=False, repr=False)
class ExpandPromptResult(ReprMixin):
    """The expanded text."""

    text: str

    def problem(self, event: ExpandPromptEvent) -> str | None:
        """Return what is wrong with the text; None if nothing is."""
        del event
        text: object = self.text
        return None if isinstance(text, str) else f"returned text={text!r:.60}, which is not a string"
