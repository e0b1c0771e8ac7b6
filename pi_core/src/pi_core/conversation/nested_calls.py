"""Runs tools on behalf of other tools, with the same validation, guards and limits as calls of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.agent.safe_text import exception_message
from pi_core.agent.tool_calls import BLOCKED
from pi_core.agent.tool_run import failure, run_tool
from pi_core.agent.types import AfterToolCall, AgentContext, BeforeToolCall
from pi_core.agent.validation import ArgumentValidator
from pi_core.base.process.forks import exit_if_child
from pi_hookspecs import AssistantMessage, PiError, ToolCall, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import AbortSignal, ToolResult

__all__ = ["execute_tool"]

_VALIDATOR = ArgumentValidator()
"""Keeps the schemas that it has read for as long as their tools exist: a script may call one a thousand times."""

MAX_DEPTH = 8
"""Maximum nesting of calls; otherwise a tool that calls itself would recurse endlessly."""


async def execute_tool(
    runtime: Runtime,
    call: ToolCall,
    signal: AbortSignal,
    on_update: Callable[[ToolResult], None],
) -> ToolResult:
    """Return the result of a nested call; a refusal or failure is an error result, as for the model.

    Raises:
        UnknownName: The tool does not exist, is not active, or was excluded by the user.
        PiError: The call would be nested too deeply.
    """
    offered = runtime.toolbox.active()
    tool = runtime.toolbox.for_nested_call(call.name, offered)
    if tool is None:
        raise UnknownName("tool", call.name, [each.name for each in offered])
    call = evolve(call, name=tool.name)  # a guard of ``read`` must also see ``tools:read``
    if call.id.count("/") > MAX_DEPTH:
        raise PiError(f"Tool calls can be nested {MAX_DEPTH} deep, and this call of {call.name!r} would be deeper.")
    answer = runtime.transcript.last_answer()
    assert isinstance(answer, AssistantMessage)  # noqa: S101 - a tool runs because an answer called it
    context = AgentContext(runtime.agent.state.system_prompt, list(runtime.agent.state.messages), offered)
    try:
        args: dict[str, Any] = _VALIDATOR.validate(tool, call)
        question = BeforeToolCall(assistant_message=answer, tool_call=call, tool=tool, args=args, context=context)
        refusal = runtime.gate.call.meter.refuse_nested_call() if runtime.gate.call is not None else None
        decision = refusal or await runtime.bridge.before_tool_call(question, signal)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of a schema or a hook, as in the batch
        return failure(exception_message(error))
    if decision is not None and decision.block:
        return failure(decision.reason or BLOCKED)
    if decision is not None and decision.input is not None:
        args = decision.input
    result = decision.result if decision is not None else None
    if result is None:
        result, _ = await run_tool(
            tool,
            call,
            args,
            signal=signal,
            make_context=lambda call, update: runtime.plugins.for_tool_call(call, update, signal, tool),
            on_update=on_update,
            on_raise=exit_if_child,
        )
    done = AfterToolCall(assistant_message=answer, tool_call=call, args=args, result=result, context=context)
    return await runtime.bridge.after_tool_call(done, signal) or result
