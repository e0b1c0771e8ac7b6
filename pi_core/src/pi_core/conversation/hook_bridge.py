"""Implements the loop's callbacks with hooks: builds the events and applies the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar, cast

from attrs import evolve

from pi_core.conversation.event_copies import Copies, copy_event
from pi_core.conversation.request_hooks import RequestHooks
from pi_core.session.copies import copy_data, copy_message
from pi_hookspecs import AssistantMessage
from pi_hookspecs.specs import agent as agent_specs
from pi_hookspecs.specs import request as request_specs
from pi_hookspecs.specs import tools as tool_specs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pi_core.agent.types import AfterToolCall, BeforeToolCall
    from pi_core.conversation.admission import Admission
    from pi_core.conversation.plugin_scope import PluginScope
    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_hookspecs import (
        AbortSignal,
        AgentMessage,
        NewEntry,
        Tool,
        ToolCallResult,
        ToolInfo,
        ToolResult,
        ToolResultMessage,
    )

__all__ = ["HookBridge"]

M = TypeVar("M", bound="AgentMessage")


class HookBridge:
    """Calls hooks for the loop. A hook without an implementation costs one lookup and builds no event.

    Attributes:
        requests: Calls the hooks of the conversation's requests.

    Args:
        hooks: The session's dispatcher.
        plugins: Provides the ``ctx`` for implementations.
        append_entries: Appends the entries that plugins requested at a boundary.
        tool_info: Describes a tool to plugins.
        admission: Admits messages in the form that plugins gave them.
        report: Reports a problem of a plugin: its name, the step and a message.
    """

    def __init__(
        self,
        hooks: HookDispatcher,
        plugins: PluginScope,
        append_entries: Callable[[Iterable[NewEntry]], Awaitable[None]],
        tool_info: Callable[[Tool], ToolInfo],
        admission: Admission,
        *,
        report: Callable[[str, str, str], None],
    ) -> None:
        self._report = report
        self._reported: set[str] = set()
        self._admission = admission
        self._hooks = hooks
        self._plugins = plugins
        self._append_entries = append_entries
        self._tool_info = tool_info
        self._copies = Copies()
        self.requests = RequestHooks(hooks, plugins)

    async def transform_context(self, messages: Sequence[AgentMessage], _signal: AbortSignal) -> Sequence[AgentMessage]:
        """Call ``context`` with copies of all mutable data.

        Raises:
            PiError: A plugin refuses the request.
        """
        requests = self.requests
        requests.request_id, requests.refused = "", False
        if "context" not in self._hooks.implemented:
            return messages
        from pi_hookspecs import ContextEvent

        event = ContextEvent(messages=self._copies.of(messages))
        answer = await self._hooks.call(request_specs.context, event, self._plugins.ctx)
        if answer is not None and answer.block:
            requests.refuse(answer.reason, answer.exit_code)
        return answer.messages if answer is not None and answer.messages is not None else event.messages

    async def before_tool_call(self, question: BeforeToolCall, _signal: AbortSignal) -> ToolCallResult | None:
        """Call ``tool_call``; a ``HookRefused`` propagates, and its message is the reason."""
        if self._hooks.has_broken_plugins:
            from pi_hookspecs import ToolCallResult

            refusal = self._hooks.refusal_of(self._tool_info(question.tool).plugin)
            if refusal is not None:
                return ToolCallResult(block=True, reason=refusal)
        if "tool_call" not in self._hooks.implemented:
            return None
        from pi_hookspecs import ToolCallEvent, ToolCallResult

        call = question.tool_call
        event = ToolCallEvent(
            tool_call_id=call.id,
            tool_name=call.name,
            input=question.args,
            tool=self._tool_info(question.tool),
        )
        answer = await self._hooks.call(tool_specs.tool_call, event, self._plugins.ctx)
        if answer is None:
            return ToolCallResult(input=event.input)  # plugins may have changed it in place
        return answer if answer.block or answer.input is not None else evolve(answer, input=event.input)

    async def review_result(self, done: AfterToolCall, signal: AbortSignal) -> ToolResult | None:
        """Limit the text of a call's result, then call ``tool_result``; return the result if it differs."""
        from pi_core.conversation.result_limit import limited

        def owner() -> str | None:
            name = done.tool_call.name
            found = next((each for each in done.context.tools if each.name == name), None)
            return self._tool_info(found).plugin if found is not None else None

        name, result = done.tool_call.name, done.result
        within = self._with_details(await limited(result, name, owner), name, owner)
        done = done if within is result else evolve(done, result=within)
        changed = await self.after_tool_call(done, signal)
        if changed is not None:
            return self._with_details(await limited(changed, name, owner), name, owner)
        return None if within is result else within

    def _with_details(self, result: ToolResult, tool: str, owner: Callable[[], str | None]) -> ToolResult:
        """Return a result whose details can be stored; report those that lose something by that, once for each tool."""
        if result.details is None:
            return result
        from pi_core.wire import lost_on_wire, to_wire

        lost = lost_on_wire(result.details)
        if lost is None:
            return result
        plugin = owner()
        if tool not in self._reported:
            self._reported.add(tool)
            whose = f"Plugin {plugin!r}: tool" if plugin is not None else "Tool"
            problem = f"{whose} {tool!r} returned details that are not JSON: {lost}. They are stored as text"
            self._report(plugin or "(session)", f"tool {tool}", problem)
        return evolve(result, details=to_wire(result.details))

    async def after_tool_call(self, done: AfterToolCall, _signal: AbortSignal) -> ToolResult | None:
        """Call ``tool_result`` and return the possibly replaced result."""
        if "tool_result" not in self._hooks.implemented:
            return None
        from pi_hookspecs import ToolResultEvent

        call, result = done.tool_call, done.result
        event = ToolResultEvent(
            tool_call_id=call.id,
            tool_name=call.name,
            input=copy_data(done.args),
            content=result.content,
            details=copy_data(result.details),
            is_error=result.is_error,
            usage=result.usage,
            terminate=result.terminate,
        )
        answer = await self._hooks.call(tool_specs.tool_result, event, self._plugins.ctx)
        if answer is None:
            return None
        fields = ("content", "details", "is_error", "usage", "terminate")
        changes = {name: value for name in fields if (value := getattr(answer, name)) is not None}
        return evolve(result, **changes)

    async def finish_message(self, message: M) -> M:
        """Call ``message_end``, which may replace the message, after the last delta was handled."""
        await self._hooks.deltas_settled()
        if "message_end" not in self._hooks.implemented:
            return message
        from pi_hookspecs import MessageEndEvent

        request_id = ""
        if isinstance(message, AssistantMessage):  # its request is over; the next answer may make none
            request_id, self.requests.request_id = self.requests.request_id, ""
        event = MessageEndEvent(message=copy_message(message), request_id=request_id)
        answer = await self._hooks.call(agent_specs.message_end, event, self._plugins.ctx)
        if answer is None or answer.message is None:
            return message
        return await self._admission.admit(cast("M", answer.message))

    async def finish_turn(
        self, message: AssistantMessage, tool_results: tuple[ToolResultMessage, ...], turn_index: int
    ) -> Literal["continue"] | None:
        """Call ``turn_end``, append the entries of its result, and return whether the loop must continue."""
        if "turn_end" not in self._hooks.implemented:
            return None
        from pi_hookspecs import TurnEndEvent

        event = copy_event(TurnEndEvent(message=message, tool_results=tool_results, turn_index=turn_index))
        answer = await self._hooks.call(agent_specs.turn_end, event, self._plugins.ctx)
        if answer is None:
            return None
        await self._append_entries(answer.entries)
        return "continue" if answer.continue_ else None
