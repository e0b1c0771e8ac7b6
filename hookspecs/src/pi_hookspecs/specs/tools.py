"""Hooks of a tool call: permission, execution, result; and of commands that the user runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs._markers import Deadline, OnFailure, Rule, answers, hookspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.context import PiContext
    from pi_hookspecs.events.tools import (
        ChildEnvironmentEvent,
        ToolCallEvent,
        ToolCallResult,
        ToolExecutionEndEvent,
        ToolExecutionStartEvent,
        ToolExecutionUpdateEvent,
        ToolResultEvent,
        ToolResultResult,
        UserBashEvent,
        UserBashResult,
    )


@hookspec
@answers(block=Rule.VETO, input=Rule.PIPE, result=Rule.FIRST, on_failure=OnFailure.REFUSE)
async def tool_call(event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
    """Decide whether the model may run this tool call, or change its arguments.

    To stop it, return ``ToolCallResult(block=True, reason=...)``; the reason goes to the model, so write it for
    the model. To change the arguments, return ``ToolCallResult(input=...)``, or change ``event.input`` in place;
    they are not validated again. To answer the call without running the tool, from a recording or a cache, return
    ``ToolCallResult(result=ToolResult.text(...))``. ``event.tool`` says which plugin provides the tool and
    what its author declares about its effects, so that a rule can cover tools whose names it does not know.

    Args:
        event: The call, its arguments already valid against the tool's JSON schema.
        ctx: The session so far, its user interface and the run's abort signal.

    When: after validation and before execution, one call at a time, in the model's order.
    Answers: veto; the first refusal wins and later plugins are not asked. ``input`` is piped, the first ``result``
        counts. ``None`` is no opinion.
    On error: the call is refused. A guard that crashes must not open the gate.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def tool_execution_start(event: ToolExecutionStartEvent, ctx: PiContext) -> None:
    """Called when a tool call is being prepared.

    Args:
        event: The call with the model's own arguments.
        ctx: The session.

    When: before validation, in the model's order.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def tool_execution_update(event: ToolExecutionUpdateEvent, ctx: PiContext) -> None:
    """Called when a running tool reports a partial result.

    Args:
        event: The call and its partial result.
        ctx: The session.

    When: on every partial result.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(content=Rule.PIPE, details=Rule.PIPE, is_error=Rule.PIPE, usage=Rule.PIPE, terminate=Rule.PIPE)
async def tool_result(event: ToolResultEvent, ctx: PiContext) -> ToolResultResult | None:
    """Change a tool's result, before the model and the session see it.

    Args:
        event: The call, its arguments and its result; a failed call is one with ``is_error``.
        ctx: The session without the result.

    When: after execution, one result at a time, in the order in which the tools finish.
    Answers: every field is piped; None leaves it unchanged.
    On error: reported; the result is not changed.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def tool_execution_end(event: ToolExecutionEndEvent, ctx: PiContext) -> None:
    """Called when a tool call has its final result.

    Args:
        event: The call and its result.
        ctx: The session.

    When: after ``tool_result``, in the order in which the tools finish.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.FIRST, on_failure=OnFailure.REFUSE, deadline=Deadline.LONG)
async def user_bash(event: UserBashEvent, ctx: PiContext) -> UserBashResult | None:
    """Run the user's ``!`` command, or return operations that run it elsewhere.

    Args:
        event: The command, and whether the model will see its result.
        ctx: The session.

    When: before a command that the user typed with ``!`` or ``!!`` runs.
    Answers: first; later plugins are not asked. ``None`` is no opinion.
    On error: the command is not run.
    Since: 1.0
    """


@hookspec
@answers(Rule.PIPE, into="env", on_failure=OnFailure.REFUSE)
async def child_environment(event: ChildEnvironmentEvent, ctx: PiContext) -> Mapping[str, str | None] | None:
    """Change the environment of a program that pi starts: of ``bash``, ``!``, ``ctx.exec``, key commands and servers.

    Return the variables to set, and None for those to remove; all others are kept.

    Args:
        event: The environment so far, what the program is for, and its command.
        ctx: The tool's context if a tool starts it, otherwise the session's.

    When: before each start, including commands that run elsewhere; not for programs that plugins start without pi.
    Answers: piped; each plugin gets the environment with the changes of the previous ones. ``None`` changes nothing.
    On error: the program is not started. A plugin that removes secrets must not leak them when it crashes.
    Since: 1.1
    """
