"""What plugin authors and programs write passes mypy --strict, and their mistakes do not. Checked, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

from pi_core import create_agent_session
from pi_hookspecs import (
    BeforeAgentStartResult,
    Completion,
    ContextResult,
    CustomEntry,
    CustomMessage,
    ExecResult,
    Flag,
    FormField,
    InputResult,
    NewEntry,
    ResourcesDiscoverResult,
    SessionChange,
    TextContent,
    Tool,
    ToolCallResult,
    ToolContext,
    ToolInfo,
    ToolRenderer,
    ToolResult,
    ToolResultResult,
    TurnEndResult,
    hookimpl,
    tool,
)
from pi_hookspecs.specs import agent as agent_specs
from pi_hookspecs.specs import tools as tool_specs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import HookDispatcher
    from pi_hookspecs import (
        AgentEvent,
        BeforeAgentStartEvent,
        ContextEvent,
        InputEvent,
        PiAPI,
        PiContext,
        ToolCallEvent,
        ToolResultEvent,
        TurnEndEvent,
    )


@tool
async def word_count(path: str, ctx: ToolContext) -> str:
    """Count the words of a text file."""
    ctx.signal.raise_if_aborted()
    ctx.update("counting")
    return f"{len((ctx.cwd / path).read_text().split())} words"


@tool(name="dice", label="Roll dice", execution_mode="sequential", prompt_snippet="dice", prompt_guidelines=["be fair"])
def roll(sides: int = 6) -> ToolResult:
    """Roll dice."""
    return ToolResult.text(str(sides))


def a_decorated_function_is_a_tool() -> None:
    assert_type(word_count, Tool)
    assert_type(roll, Tool)


@hookimpl
def register_tools() -> Sequence[Tool]:
    return [word_count, roll]


@hookimpl(tryfirst=True, before="policy", after=["audit"])
async def tool_call(event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
    if event.tool_name == "write" and not await ctx.ui.confirm("Write?", event.input["path"]):
        return ToolCallResult(block=True, reason="The user said no.")
    return None


async def a_marked_function_keeps_its_type(event: ToolCallEvent, ctx: PiContext) -> None:
    assert_type(await tool_call(event, ctx), ToolCallResult | None)
    await tool_call(event)  # type: ignore[call-arg]


@hookimpl
def context(event: ContextEvent) -> ContextResult:
    kept = [each for each in event.messages if not (isinstance(each, CustomMessage) and each.custom_type == "stale")]
    return ContextResult(messages=kept)


@hookimpl
def before_agent_start(event: BeforeAgentStartEvent) -> BeforeAgentStartResult:
    note = CustomMessage(custom_type="note", content="Answer like a pirate.")
    return BeforeAgentStartResult(messages=[note], system_prompt=event.system_prompt + "\nArr.")


@hookimpl
def tool_result(event: ToolResultEvent) -> ToolResultResult:
    return ToolResultResult(content=[*event.content, TextContent("(checked)")])


@hookimpl
def turn_end(event: TurnEndEvent) -> TurnEndResult:
    return TurnEndResult(entries=(NewEntry(custom_type="turn", data=index) for index in range(event.turn_index)))


@hookimpl
def resources_discover() -> ResourcesDiscoverResult:
    return ResourcesDiscoverResult(skill_paths=["skills"])


def answers_of_a_wrong_type_are_told() -> None:
    BeforeAgentStartResult(messages=["text"])  # type: ignore[list-item]
    ToolCallResult(block=True, input="text")  # type: ignore[arg-type]
    Flag(name="speed", type="number")  # type: ignore[arg-type]


@hookimpl
def activate(pi: PiAPI) -> None:
    todos: list[str] = []

    @pi.on("session_start")
    @pi.on("session_tree")
    def rebuild(event: Any, ctx: PiContext) -> None:
        stored = (each for each in reversed(ctx.session.branch()) if isinstance(each, CustomEntry))
        todos[:] = next((each.data for each in stored if each.custom_type == "todo"), [])

    stop = pi.on("turn_end", rebuild)
    assert_type(pi.append_entry("todo", list(todos)), str)
    take_away = pi.register_tool(word_count)
    take_away()
    stop()

    @pi.register_command("todo", description="Add or list to-dos", complete=lambda typed: [typed])
    async def todo(args: str, ctx: PiContext) -> None:
        ctx.ui.notify(args)
        assert_type(await ctx.exec("git", ["status"], timeout=5), ExecResult)
        assert_type(await ctx.new_session(), SessionChange)

    async def complete(typed: str) -> list[Completion]:
        return [Completion(typed, description="As it is")]

    @pi.register_command("due", complete=complete)
    async def due(args: str, ctx: PiContext) -> None:
        assert_type(await ctx.ui.form([FormField("day", "integer", minimum=1)], title=args), dict[str, Any] | None)
        assert_type(ctx.ui.open_url("https://todo.example"), bool)

    @pi.register_tool(label="Dice", renderer=ToolRenderer("dice"))
    def dice(sides: int = 6) -> str:
        """Roll dice."""
        return str(sides)

    assert_type(dice, Tool)
    pi.register_tool(roll)()
    pi.register_command("again", todo)()
    pi.register_shortcut("ctrl+t", lambda ctx: ctx.abort())
    pi.register_flag("todo-file", type=str, description="Start from this file")
    pi.register_flag("loud", type=int)  # type: ignore[arg-type]
    assert_type(pi.get_flag("todo-file"), bool | str | None)
    pi.register_message_renderer("todo", lambda value, *, width, expanded: [str(value)[:width]])
    pi.register_provider("acme", {"baseUrl": "http://127.0.0.1:1", "api": "openai-completions"})
    pi.send_user_message("Go on", deliver_as="followUp")
    pi.events.on("todo:changed", print)
    pi.events.emit("todo:changed", {"open": 3})
    assert_type(pi.get_active_tools(), list[str])
    assert_type(pi.get_all_tools(), list[ToolInfo])


@tool(label="Ask a helper")
async def helper(task: str, ctx: ToolContext) -> ToolResult:
    """Give a task to a fresh agent."""
    async with ctx.create_session(read_only_tools=True, model=ctx.model) as session:
        session.subscribe(ctx.relay)
        answer = await session.prompt(task)
        return ToolResult.text(answer.text, usage=session.usage)


async def a_hook_is_called_with_its_own_event(
    hooks: HookDispatcher, call: ToolCallEvent, message: InputEvent, ctx: PiContext
) -> None:
    assert_type(await hooks.call(tool_specs.tool_call, call, ctx), ToolCallResult | None)
    assert_type(await hooks.call(agent_specs.input, message, ctx), InputResult | None)
    await hooks.call(tool_specs.tool_call, message, ctx)  # type: ignore[arg-type]
    await hooks.call(tool_specs.tool_call, call)  # type: ignore[call-arg]


def show(event: AgentEvent) -> None:
    if event.type == "message_update" and event.assistant_message_event.type == "text_delta":
        assert_type(event.assistant_message_event.delta, str)


async def a_program_runs_a_session() -> None:
    async with create_agent_session(model="offline/rules", tools=["read", "grep"], custom_tools=[roll]) as session:
        session.subscribe(show)
        session.subscribe(print, "text_delta")
        answer = await session.prompt("Where is the retry logic?")
        if answer is not None:
            assert_type(answer.text, str)
