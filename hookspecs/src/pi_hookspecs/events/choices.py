"""The user's input and choices: text, model, thinking level."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from pi_hookspecs.content import ImageContent
    from pi_hookspecs.models import Model, ThinkingLevel

__all__ = [
    "InputEvent",
    "InputResult",
    "ModelSelectEvent",
    "ThinkingLevelSelectEvent",
]


@frozen(kw_only=True, eq=False, repr=False)
class InputEvent(ReprMixin):
    """The user sent a prompt. ``source`` is ``interactive``, ``rpc`` or ``extension``.

    ``streaming_behavior`` is how to queue it when a run is in progress.
    """

    type: ClassVar[Literal["input"]] = "input"
    text: str
    images: tuple[ImageContent, ...] = ()
    source: str = "interactive"
    streaming_behavior: Literal["steer", "followUp"] | None = None


@frozen(kw_only=True, eq=False, repr=False)
class InputResult(Value):
    """Other text or images, or ``handled=True``: the prompt ends here, no model is asked."""

    text: str | None = None
    images: tuple[ImageContent, ...] | None = None
    handled: bool = False

    def problem(self, event: InputEvent) -> str | None:
        """Return what is wrong with the text; None if nothing is."""
        del event
        text: object = self.text
        return None if isinstance(text, str | None) else f"returned text={text!r:.60}, which is not a string"


@frozen(kw_only=True, eq=False, repr=False)
class ModelSelectEvent(ReprMixin):
    """Another model has been selected. ``source`` is ``set``, ``cycle`` or ``restore``."""

    type: ClassVar[Literal["model_select"]] = "model_select"
    model: Model
    previous_model: Model | None = None
    source: Literal["set", "cycle", "restore"] = "set"


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingLevelSelectEvent(ReprMixin):
    """The reasoning effort has changed."""

    type: ClassVar[Literal["thinking_level_select"]] = "thinking_level_select"
    level: ThinkingLevel
    previous_level: ThinkingLevel
