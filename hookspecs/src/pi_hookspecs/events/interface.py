"""Events of the user interface: dialogs of plugins, and completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.completions import Completion

__all__ = ["CompleteMentionEvent", "CompleteMentionResult", "UIPromptEndEvent", "UIPromptKind", "UIPromptStartEvent"]

UIPromptKind: TypeAlias = Literal["select", "confirm", "input", "editor", "form", "custom", "approve"]


@frozen(kw_only=True, eq=False, repr=False)
class UIPromptStartEvent(ReprMixin):
    """pi begins to wait for the user, in a dialog of a plugin.

    Attributes:
        kind: The method of ``ctx.ui`` that opened the dialog.
        title: The dialog's title; None for a component.
    """

    type: ClassVar[Literal["ui_prompt_start"]] = "ui_prompt_start"
    on_wire: ClassVar[bool] = False
    reason: Literal["ui_prompt"] = "ui_prompt"
    kind: UIPromptKind
    title: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class UIPromptEndEvent(ReprMixin):
    """pi no longer waits for the user: the dialog was answered or dismissed, or has timed out.

    Attributes:
        kind: As in the ``ui_prompt_start`` before it; likewise ``title``.
    """

    type: ClassVar[Literal["ui_prompt_end"]] = "ui_prompt_end"
    on_wire: ClassVar[bool] = False
    reason: Literal["ui_prompt"] = "ui_prompt"
    kind: UIPromptKind
    title: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CompleteMentionEvent(ReprMixin):
    """The user types a mention.

    Attributes:
        text: What is typed after the ``@``, so far.
    """

    type: ClassVar[Literal["complete_mention"]] = "complete_mention"
    text: str


def _completions(offered: Iterable[str | Completion]) -> tuple[Completion, ...]:
    from pi_hookspecs.completions import Completion

    values = listed(offered, "CompleteMentionResult.completions", '["docs:tides"]')
    return tuple(each if isinstance(each, Completion) else Completion(each) for each in values)


@frozen(kw_only=True, eq=False, repr=False)
class CompleteMentionResult(Value):
    """Completions of the mention, without the ``@``, best first: texts, or ``Completion`` values."""

    completions: tuple[Completion, ...] = field(default=(), converter=_completions)
