"""The hooks of one session: pi's events become the events of ``hooks.json``, and answers become pi's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pi_hookspecs import UserError, unanswered_reason
from pi_import.hooks.file import FILE, Program, matching, read_programs
from pi_import.hooks.running import Runner
from pi_import.tool_forms import from_claude, to_claude, to_gemini

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import (
        AgentBeforeSettleEvent,
        AgentBeforeSettleResult,
        BeforeAgentStartEvent,
        BeforeAgentStartResult,
        ChildSessionEndEvent,
        ChildSessionStartEvent,
        InputEvent,
        InputResult,
        PiAPI,
        PiContext,
        SessionBeforeCompactEvent,
        SessionBeforeCompactResult,
        SessionCompactEvent,
        SessionShutdownEvent,
        SessionStartEvent,
        ToolCallEvent,
        ToolCallResult,
        ToolResultEvent,
        ToolResultResult,
        UIPromptStartEvent,
    )
    from pi_import.hooks.answer import Answer

__all__ = ["SessionHooks"]

_MOST_CONTINUED = 10
"""How often programs of ``Stop`` can continue one prompt."""

_SOURCES = {"startup": "startup", "new": "clear", "resume": "resume", "fork": "resume"}
_GEMINI_EVENTS = {
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "PostToolUseFailure": "AfterTool",
    "UserPromptSubmit": "BeforeAgent",
    "Stop": "AfterAgent",
    "PreCompact": "PreCompress",
}


class SessionHooks:
    """Runs the programs of one session.

    Args:
        pi: Where the hooks are added.
    """

    _children: ClassVar[set[str]] = set()
    """Ids of running child sessions, in which programs for prompts of the user do not run."""

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._programs: list[Program] = []
        self._runner = Runner()
        self._mistake: str | None = None
        self._source: str | None = None
        self._context: list[str] = []
        self._continued = 0
        self._off: list[Callable[[], None]] = []

    def listen(self) -> None:
        """Add the hook that reads the files, and the guard, which refuses until they have been read."""
        self._mistake = f"{FILE} has not been read"
        self._pi.on("session_start", self.session_start)
        self._pi.on("tool_call", self.tool_call)

    async def session_start(self, event: SessionStartEvent, ctx: PiContext) -> None:
        """Read the files of the user and of a trusted project, and add the hooks that their programs need."""
        while self._off:
            self._off.pop()()
        files = [ctx.settings.agent_dir / FILE]
        if ctx.is_project_trusted():
            files.append(ctx.cwd / ".pi" / FILE)
        try:
            self._programs = [program for file in files for program in read_programs(file)]
            self._mistake = None
        except UserError as error:
            self._mistake = f"{error}. Tools are refused until it is fixed, because it may contain guards"
            ctx.ui.notify(self._mistake, "error")
            return
        self._source = _SOURCES.get(event.reason)
        handlers: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
            "tool_result": (self.tool_result, ("PostToolUse", "PostToolUseFailure")),
            "input": (self.input, ("UserPromptSubmit", "SessionStart")),
            "before_agent_start": (self.before_agent_start, ("UserPromptSubmit", "SessionStart", "Stop")),
            "agent_before_settle": (self.agent_before_settle, ("Stop",)),
            "session_before_compact": (self.session_before_compact, ("PreCompact",)),
            "session_compact": (self.session_compact, ("SessionStart",)),
            "session_shutdown": (self.session_shutdown, tuple({each.event for each in self._programs})),
            "child_session_start": (self.child_session_start, ("UserPromptSubmit", "SessionStart", "Stop")),
            "child_session_end": (self.child_session_end, ("SubagentStop", "UserPromptSubmit", "SessionStart", "Stop")),
            "ui_prompt_start": (self.ui_prompt_start, ("Notification",)),
        }
        used = {each.event for each in self._programs}
        for name, (handler, events) in handlers.items():
            if not used.isdisjoint(events):
                self._off.append(self._pi.on(name, handler))

    # Tools

    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Run the programs of ``PreToolUse``."""
        from pi_hookspecs import ToolCallResult

        if self._mistake is not None:
            return ToolCallResult(block=True, reason=self._mistake)
        answer = await self._tool("PreToolUse", event, {}, ctx)
        if answer is None:
            return None
        if answer.decision == "ask" and not answer.stop and not await self._is_confirmed(event, answer, ctx):
            refused = (unanswered_reason() or "the user refused") if ctx.has_ui else "there is no user to ask"
            return ToolCallResult(block=True, reason=f"{answer.reason or 'A hook asks about this call'}; {refused}.")
        if answer.decision == "deny" or answer.stop:
            return ToolCallResult(block=True, reason=answer.reason or "A hook refused it.", terminate=answer.stop)
        if answer.context:
            self._pi.send_message(_message(answer.context), deliver_as="steer")
        changed = from_claude(to_claude(event.tool_name, {}, "")[0], answer.input)[1] if answer.input else None
        return ToolCallResult(input=changed) if changed is not None else None

    async def _is_confirmed(self, event: ToolCallEvent, answer: Answer, ctx: PiContext) -> bool:
        if not ctx.has_ui:
            return False
        what = str(event.input.get("command", event.input.get("path", "")))[:2000]
        from pi_hookspecs import Approval

        why = answer.reason or "A PreToolUse hook asks about this call."
        approval = Approval(f"Let {event.tool_name} do this?", what=what, why=why)
        return await ctx.ui.approve(approval, signal=ctx.signal) is not None

    async def tool_result(self, event: ToolResultEvent, ctx: PiContext) -> ToolResultResult | None:
        """Run the programs of ``PostToolUse``, or of ``PostToolUseFailure``; the model gets what they say."""
        from pi_hookspecs import TextContent, ToolResultResult, text_of

        text = text_of(event.content)
        name = "PostToolUseFailure" if event.is_error else "PostToolUse"
        more = {"error": text} if event.is_error else {"tool_response": _response(event, text)}
        answer = await self._tool(name, event, more, ctx)
        if answer is None:
            return None
        parts = [answer.reason if answer.decision == "deny" or answer.stop else "", answer.context]
        note = "\n".join(each for each in parts if each)
        if not note and not answer.stop:
            return None
        content = (*event.content, TextContent(f"[A hook says: {note}]")) if note else event.content
        return ToolResultResult(content=content, terminate=True if answer.stop else None)

    async def _tool(
        self, event: str, call: ToolCallEvent | ToolResultEvent, more: dict[str, Any], ctx: PiContext
    ) -> Answer | None:
        """Run the programs of an event of a tool call; None if there are none."""
        forms = {
            "claude": to_claude(call.tool_name, call.input, str(ctx.cwd)),
            "gemini": to_gemini(call.tool_name, call.input, str(ctx.cwd)),
        }
        programs = [
            each
            for agent, (name, _) in forms.items()
            for each in matching(self._programs, event, name)
            if each.agent == agent
        ]
        if not programs:
            return None
        inputs = {
            agent: {
                **_common(event, agent, ctx),
                "tool_name": name,
                "tool_input": arguments,
                "tool_use_id": call.tool_call_id,
                **more,
            }
            for agent, (name, arguments) in forms.items()
        }
        return await self._runner.run(programs, inputs, ctx)

    # Prompts

    async def input(self, event: InputEvent, ctx: PiContext) -> InputResult | None:
        """Run the programs of ``SessionStart`` before the first prompt, and those of ``UserPromptSubmit``."""
        from pi_hookspecs import InputResult

        if self._is_child(ctx):
            return None
        await self._start(ctx)
        answer = await self._event("UserPromptSubmit", "", {"prompt": event.text}, ctx)
        if answer is None:
            return None
        if answer.decision == "deny" or answer.stop:
            ctx.ui.notify(f"A hook refused the prompt: {answer.reason or 'it gave no reason'}", "error")
            return InputResult(handled=True)
        if answer.context and event.streaming_behavior is not None:  # it is queued, so no run begins with it
            return InputResult(text=f"{event.text}\n\n{answer.context}")
        if answer.context:
            self._context.append(answer.context)
        return None

    async def _start(self, ctx: PiContext) -> None:
        source, self._source = self._source, None
        if source is not None:
            answer = await self._event("SessionStart", source, {"source": source}, ctx)
            if answer is not None and answer.context:
                self._context.append(answer.context)

    async def before_agent_start(self, _event: BeforeAgentStartEvent, ctx: PiContext) -> BeforeAgentStartResult | None:
        """Add what programs said about the prompt and the session."""
        from pi_hookspecs import BeforeAgentStartResult

        if self._is_child(ctx):
            return None
        self._continued = 0
        await self._start(ctx)
        context, self._context = self._context, []
        return BeforeAgentStartResult(messages=[_message(each) for each in context]) if context else None

    async def agent_before_settle(
        self, event: AgentBeforeSettleEvent, ctx: PiContext
    ) -> AgentBeforeSettleResult | None:
        """Run the programs of ``Stop``, which can continue the run."""
        from pi_hookspecs import AgentBeforeSettleResult, AssistantMessage, NewEntry

        if event.outcome != "completed" or self._is_child(ctx):
            return None
        last = next((each.text for each in reversed(event.messages) if isinstance(each, AssistantMessage)), "")
        more = {"stop_hook_active": self._continued > 0, "last_assistant_message": last}
        answer = await self._event("Stop", "", more, ctx)
        if answer is None or answer.stop or answer.decision != "deny":
            return None
        self._continued += 1
        if self._continued > _MOST_CONTINUED:
            ctx.ui.notify(f"Stop hooks continued the run {_MOST_CONTINUED} times; it ends now", "warning")
            return None
        reason = answer.reason or "A hook asks you to continue."
        return AgentBeforeSettleResult(entries=[NewEntry(custom_type="hook", content=reason)], continue_=True)

    # The session

    async def session_before_compact(
        self, event: SessionBeforeCompactEvent, ctx: PiContext
    ) -> SessionBeforeCompactResult | None:
        """Run the programs of ``PreCompact``, which can prevent the compaction."""
        from pi_hookspecs import SessionBeforeCompactResult

        trigger = "manual" if event.reason == "manual" else "auto"
        more = {"trigger": trigger, "custom_instructions": event.custom_instructions or ""}
        answer = await self._event("PreCompact", trigger, more, ctx)
        refused = answer is not None and (answer.decision == "deny" or answer.stop)
        return SessionBeforeCompactResult(cancel=True) if refused else None

    async def session_compact(self, _event: SessionCompactEvent, ctx: PiContext) -> None:
        """Run the programs of ``SessionStart`` before the next prompt."""
        if not self._is_child(ctx):
            self._source = "compact"

    async def session_shutdown(self, event: SessionShutdownEvent, ctx: PiContext) -> None:
        """Run the programs of ``SessionEnd``, and end those in the background."""
        if event.reason != "reload" and not self._is_child(ctx):
            reason = {"quit": "prompt_input_exit", "new": "clear", "resume": "resume"}.get(event.reason, "other")
            await self._event("SessionEnd", reason, {"reason": reason}, ctx)
        await self._runner.end()

    def child_session_start(self, event: ChildSessionStartEvent) -> None:
        """Remember a child session, whose prompts are not the user's."""
        self._children.add(event.child.id)

    async def child_session_end(self, event: ChildSessionEndEvent, ctx: PiContext) -> None:
        """Run the programs of ``SubagentStop``."""
        self._children.discard(event.child.id)
        label = event.child.label or "agent"
        await self._event("SubagentStop", label, {"agent_id": event.child.id, "agent_type": label}, ctx)

    async def ui_prompt_start(self, event: UIPromptStartEvent, ctx: PiContext) -> None:
        """Run the programs of ``Notification``."""
        kind = "permission_prompt" if event.kind == "confirm" else "elicitation_dialog"
        more = {"message": event.title or "pi waits for you", "notification_type": kind}
        await self._event("Notification", kind, more, ctx)

    async def _event(self, event: str, source: str, more: dict[str, Any], ctx: PiContext) -> Answer | None:
        """Run the programs of an event; None if there are none."""
        programs = matching(self._programs, event, source)
        if not programs:
            return None
        inputs = {agent: {**_common(event, agent, ctx), **more} for agent in ("claude", "gemini")}
        return await self._runner.run(programs, inputs, ctx)

    def _is_child(self, ctx: PiContext) -> bool:
        return ctx.session.id in self._children


def _common(event: str, agent: str, ctx: PiContext) -> dict[str, Any]:
    return {
        "session_id": ctx.session.id,
        "transcript_path": str(ctx.session.file or ""),
        "cwd": str(ctx.cwd),
        "permission_mode": "default",
        "hook_event_name": _GEMINI_EVENTS.get(event, event) if agent == "gemini" else event,
    }


def _message(text: str) -> Any:
    from pi_hookspecs import CustomMessage

    return CustomMessage(custom_type="hook", content=text)


def _response(event: ToolResultEvent, text: str) -> dict[str, Any]:
    if event.tool_name == "bash":
        return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    if event.tool_name in ("write", "edit"):
        return {"filePath": event.input.get("path", ""), "success": True}
    return {"content": [{"type": "text", "text": text}]}
