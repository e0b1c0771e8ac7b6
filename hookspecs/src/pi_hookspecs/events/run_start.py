"""The point before a run at which plugins may change the system prompt and add messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.content import ImageContent
    from pi_hookspecs.rare_messages import CustomMessage

__all__ = ["BeforeAgentStartEvent", "BeforeAgentStartResult"]


def _no_message(value: object) -> bool:
    return not isinstance(getattr(value, "role", None), str)


def _messages(messages: Iterable[CustomMessage]) -> tuple[CustomMessage, ...]:
    return listed(messages, "messages", "[CustomMessage(...)]")


@frozen(kw_only=True, eq=False, repr=False)
class BeforeAgentStartEvent(ReprMixin):
    """A prompt is about to run, with this system prompt.

    Attributes:
        prompt: The user's text; empty for a run that a plugin's message starts.
        changes: For an implementation marked ``observe=True``: which plugins changed the system prompt, in order, as
            ``("haste", "system_prompt")``.
        trace_context: ``traceparent`` and ``tracestate``, if the program that sent the prompt provided them.
        message: The plugin's message that starts the run; None if the user does.
    """

    type: ClassVar[Literal["before_agent_start"]] = "before_agent_start"
    prompt: str
    images: tuple[ImageContent, ...] = ()
    system_prompt: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    trace_context: dict[str, str] = field(factory=dict)
    message: CustomMessage | None = None


@frozen(kw_only=True, eq=False, repr=False)
class BeforeAgentStartResult(Value):
    """Messages to add after the user's, and another system prompt, for this run."""

    messages: tuple[CustomMessage, ...] = field(default=(), converter=_messages)
    system_prompt: str | None = None

    def problem(self, event: BeforeAgentStartEvent) -> str | None:
        """Return what is wrong with messages or prompt; None if nothing is."""
        del event
        prompt: object = self.system_prompt
        if not isinstance(prompt, str | None):
            return f"returned system_prompt={prompt!r:.60}, which is not a string"
        return next(
            (f"returned {each!r:.60}, which is not a message" for each in self.messages if _no_message(each)), None
        )
