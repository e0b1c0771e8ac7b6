"""Events around a tool call and a user's command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from attrs import evolve

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_hookspecs.actions import ToolInfo
    from pi_hookspecs.content import ImageContent, TextContent
    from pi_hookspecs.messages import Usage
    from pi_hookspecs.rare_messages import BashExecutionMessage
    from pi_hookspecs.tools import ToolResult

__all__ = [
    "ChildEnvironmentEvent",
    "ToolCallEvent",
    "ToolCallResult",
    "ToolExecutionEndEvent",
    "ToolExecutionStartEvent",
    "ToolExecutionUpdateEvent",
    "ToolResultEvent",
    "ToolResultResult",
    "UserBashEvent",
    "UserBashResult",
]


@frozen(kw_only=True, eq=False, repr=False)
class ToolExecutionStartEvent(ReprMixin):
    """A call is being prepared. ``args`` come from the model and are not validated yet."""

    type: ClassVar[Literal["tool_execution_start"]] = "tool_execution_start"
    tool_call_id: str
    tool_name: str
    args: dict[str, Any]


@frozen(kw_only=True, eq=False, repr=False)
class ToolExecutionUpdateEvent(ReprMixin):
    """A running tool has reported a partial result."""

    type: ClassVar[Literal["tool_execution_update"]] = "tool_execution_update"
    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    partial_result: ToolResult


@frozen(kw_only=True, eq=False, repr=False)
class ToolExecutionEndEvent(ReprMixin):
    """A call has its result, after every ``tool_result`` hook."""

    type: ClassVar[Literal["tool_execution_end"]] = "tool_execution_end"
    tool_call_id: str
    tool_name: str
    result: ToolResult
    is_error: bool
    duration_ms: int | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ToolCallEvent(ReprMixin):
    """A tool call requested by the model.

    Attributes:
        input: A copy of the validated arguments.
        tool: The tool that will run, with the plugin that provides it and what its author declares about its effects;
            None only in events that were made without a session.
    """

    type: ClassVar[Literal["tool_call"]] = "tool_call"
    tool_call_id: str
    tool_name: str
    input: dict[str, Any]
    tool: ToolInfo | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ToolCallResult(Value):
    """A refusal (``block`` with a ``reason`` written for the model), other arguments, or the result.

    ``terminate`` with a refusal asks the agent to stop after this batch. With a ``result`` the tool does not run:
    this takes the place of its result, and ``tool_result`` follows.
    """

    block: bool = False
    reason: str | None = None
    input: dict[str, Any] | None = None
    terminate: bool = False
    result: ToolResult | None = None

    def problem(self, event: ToolCallEvent) -> str | None:
        """Return what is wrong with the arguments, the reason or the result; None if nothing is."""
        del event
        reason: object = self.reason
        if not isinstance(reason, str | None):
            return f"returned reason={reason!r:.60}, which is not a string"
        from pi_hookspecs.tools import ToolResult

        result: object = self.result
        if result is not None and not isinstance(result, ToolResult):
            return f"returned result={result!r:.60}, which is not of type ToolResult"
        arguments: object = self.input
        return None if isinstance(arguments, dict | None) else f"returned input={arguments!r:.60}, which is not a dict"


@frozen(kw_only=True, eq=False, repr=False)
class ToolResultEvent(ReprMixin):
    """A tool has returned; its result is not yet visible to the model or the session."""

    type: ClassVar[Literal["tool_result"]] = "tool_result"
    tool_call_id: str
    tool_name: str
    input: dict[str, Any]
    content: tuple[TextContent | ImageContent, ...]
    details: Any = None
    is_error: bool = False
    usage: Usage | None = None
    terminate: bool = False


def _blocks(blocks: Iterable[TextContent | ImageContent] | None) -> tuple[TextContent | ImageContent, ...] | None:
    return None if blocks is None else listed(blocks, "content", "[TextContent('...')]")


@frozen(kw_only=True, eq=False, repr=False)
class ToolResultResult(Value):
    """Replaces parts of the result; None keeps a part unchanged."""

    content: tuple[TextContent | ImageContent, ...] | None = field(default=None, converter=_blocks)
    details: Any = None
    is_error: bool | None = None
    usage: Usage | None = None
    terminate: bool | None = None

    def problem(self, event: ToolResultEvent) -> str | None:
        """Return what is wrong with the content; None if nothing is."""
        del event
        for block in self.content or ():
            if getattr(block, "type", None) not in ("text", "image"):
                return f"returned {block!r:.60} in the content, which is neither text nor image"
        return None


@frozen(kw_only=True, eq=False, repr=False)
class UserBashEvent(ReprMixin):
    """The user runs a command with ``!``, or with ``!!`` outside the model's context."""

    type: ClassVar[Literal["user_bash"]] = "user_bash"
    command: str
    exclude_from_context: bool
    cwd: str


@frozen(kw_only=True, eq=False, repr=False)
class UserBashResult(Value):
    """The command's result, when a plugin ran it, or ``operations`` that run it elsewhere."""

    result: BashExecutionMessage | None = None
    operations: Any = None


@frozen(kw_only=True, eq=False, repr=False)
class ChildEnvironmentEvent(ReprMixin):
    """A program is about to be started.

    Attributes:
        env: Its environment so far: all variables, including changes by previous plugins.
        purpose: What starts it: ``bash``, ``user_bash``, ``exec``, ``key``, ``mcp``, ``lsp`` or ``process``.
        command: What runs, as a user would type it.
    """

    type: ClassVar[Literal["child_environment"]] = "child_environment"
    env: dict[str, str] = field(repr=False)
    purpose: str
    command: str

    def problem_of(self, changes: Mapping[str, str | None]) -> str | None:
        """Return what is wrong with an answer; None if nothing is."""
        for name, value in changes.items():
            key: object = name
            if not isinstance(key, str) or not key or "=" in key or "\0" in key:
                return f"returned the variable {name!r:.60}, which is not a valid name"
            text: object = value
            if text is not None and (not isinstance(text, str) or "\0" in text):
                return f"returned a value of {name!r:.60} that is neither None nor a string without NUL characters"
        return None

    def changed_by(self, changes: Mapping[str, str | None]) -> ChildEnvironmentEvent:
        """Return the event after an answer: variables set, those with None removed."""
        merged = {**self.env, **changes}
        return evolve(self, env={name: value for name, value in merged.items() if value is not None})
