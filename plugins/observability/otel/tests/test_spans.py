"""The spans of prompts, requests, tools, hooks and compactions, as a backend sees them."""

from __future__ import annotations

import asyncio
import time

import pytest
from opentelemetry.trace import SpanKind, StatusCode

import pi_otel
from pi_core import create_agent_session
from pi_hookspecs import Context, SideRequest, Tool, ToolResult, UserMessage, hookimpl, tool
from pi_testing import error, failing_hook, raises, slow_hook, stall, text, tool_call, usage

pytestmark = pytest.mark.usefixtures("seen")

RETRY = {"retry": {"baseDelayMs": 1}}


@tool
async def shelf(name: str) -> str:
    """List a shelf."""
    return f"{name}: Odes, Sonnets"


@tool
async def burn(name: str) -> str:
    """Fail."""
    raise ValueError("books do not burn")


class Titles:
    """Asks the model for a title after each run."""

    @hookimpl
    async def agent_end(self, event, ctx):
        if event.will_retry:
            return
        question = Context(system_prompt="Title?", messages=(UserMessage(content="Title?"),))
        await ctx.complete(question, SideRequest(purpose="title"))


@pytest.mark.pi(
    plugins=[pi_otel, Titles(), failing_hook("turn_end", RuntimeError("the sea is rough"))],
    entry_points=["retry", "compaction"],
    settings={**RETRY, "compaction": {"keepRecentTokens": 3}, "otel": {"hookThreshold": 60_000}},
    tools=[shelf, burn],
)
async def test_a_scripted_run_gives_this_tree(pi_session, script, seen):
    script.turn(tool_call("shelf", name="poetry"), tool_call("burn", name="poetry")).turn(error("overloaded"))
    script.turn(text("Two books. " * 100)).turn(text("Books")).turn(text("A summary."))
    await pi_session.prompt("What is there?")
    await pi_session.compact()

    assert await seen.tree() == [
        "invoke_agent pi",
        "  chat model",
        "  execute_tool shelf",
        "  execute_tool burn (tool_error)",
        "  hook turn_end (raised)",
        "  chat model (_OTHER)",
        "  hook turn_end (raised)",
        "  chat model (retry 1)",
        "  hook turn_end (raised)",
        "  chat model (title)",
        "compact",
        "  chat model (compaction)",
    ]


class Compacts:
    """Compacts the conversation before the second prompt has settled."""

    prompts = 0

    @hookimpl
    async def agent_before_settle(self, event, ctx):
        self.prompts += 1
        if self.prompts == 2:
            await ctx.compact()


@pytest.mark.pi(
    plugins=[pi_otel, Compacts()],
    entry_points=["compaction"],
    settings={"compaction": {"keepRecentTokens": 3}, "otel": {"hookThreshold": 60_000}},
)
async def test_a_compaction_in_a_prompt_is_below_it(pi_session, script, seen):
    script.turn(text("A long story. " * 100)).turn(text("Yes.")).turn(text("A summary."))
    await pi_session.prompt("Tell me a story")

    await pi_session.prompt("Is that all?")

    assert (await seen.tree())[2:] == [
        "invoke_agent pi",
        "  chat model",
        "  compact",
        "    chat model (compaction)",
    ]
    assert (await seen.named("compact")).attributes["pi.compaction.reason"] == "manual"


async def test_a_prompt_says_who_answered_and_what_it_used(pi_session, script, seen):
    script.turn(text("Hello."), usage(input=20, output=7, cost=0.5))

    await pi_session.prompt("Hi")

    agent, chat = await seen.named("invoke_agent pi"), await seen.named("chat model")
    assert (agent.kind, chat.kind) == (SpanKind.INTERNAL, SpanKind.CLIENT)
    assert chat.parent.span_id == agent.context.span_id
    assert agent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert agent.attributes["gen_ai.conversation.id"] == pi_session.session_id
    assert (agent.attributes["pi.turns"], agent.attributes["pi.stop_reason"]) == (1, "stop")
    assert [each.attributes["gen_ai.usage.input_tokens"] for each in (agent, chat)] == [20, 20]
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert chat.attributes["gen_ai.response.time_to_first_chunk"] >= 0
    assert agent.status.status_code is chat.status.status_code is StatusCode.UNSET
    assert not any("message" in name or "argument" in name for each in (agent, chat) for name in each.attributes)


@pytest.mark.pi(tools=[shelf])
async def test_parallel_tools_are_siblings(pi_session, script, seen):
    script.turn(tool_call("shelf", name="a", call_id="1"), tool_call("shelf", name="b", call_id="2")).turn(
        text("Done.")
    )

    await pi_session.prompt("What is there?")

    agent = await seen.named("invoke_agent pi")
    calls = [each for each in await seen.spans() if each.name == "execute_tool shelf"]
    assert {each.attributes["gen_ai.tool.call.id"] for each in calls} == {"1", "2"}
    assert {each.parent.span_id for each in calls} == {agent.context.span_id}


async def test_an_abort_ends_the_spans_without_an_error(pi_session, script, seen):
    script.turn(text("Well"), stall())
    prompt = asyncio.create_task(pi_session.prompt("Hi"))
    await script.stalled()

    await pi_session.abort()
    await prompt

    agent, chat = await seen.named("invoke_agent pi"), await seen.named("chat model")
    assert agent.attributes["pi.aborted"] is chat.attributes["pi.aborted"] is True
    assert agent.status.status_code is chat.status.status_code is StatusCode.UNSET


async def test_a_prompt_that_fails_says_so(pi_session, script, seen):
    script.turn(raises(ValueError("no such tide")))

    await pi_session.prompt("Hi")

    agent = await seen.named("invoke_agent pi")
    assert (agent.status.status_code, agent.attributes["error.type"]) == (StatusCode.ERROR, "_OTHER")
    assert agent.attributes["pi.stop_reason"] == "error"


async def mcp__tides__depth(call_id, params, signal, on_update, ctx):
    details = {"server": "tides", "tool": "depth", "transport": "stdio", "protocol": "2025-11-25"}
    return ToolResult.text("6 m", details=details)


DEPTH = Tool(name="mcp__tides__depth", description="Depth", parameters={"type": "object"}, execute=mcp__tides__depth)


@pytest.mark.pi(tools=[DEPTH])
async def test_a_call_to_an_mcp_server_says_how_it_was_made(pi_session, script, seen):
    script.turn(tool_call("mcp__tides__depth")).turn(text("Six."))

    await pi_session.prompt("How deep is it?")

    call = (await seen.named("execute_tool mcp__tides__depth")).attributes
    assert call["mcp.method.name"] == "tools/call"
    assert (call["mcp.protocol.version"], call["network.transport"]) == ("2025-11-25", "pipe")


class Refuses:
    @hookimpl
    def before_model_request(self, event):
        from pi_hookspecs import BeforeModelRequestResult

        return BeforeModelRequestResult(block=True, reason="Too expensive")


@pytest.mark.pi(plugins=[pi_otel, Refuses()])
async def test_a_refused_request_leaves_no_span_open(pi_session, seen):
    answer = await pi_session.prompt("Hi")

    assert answer.error_message == "Too expensive"
    agent = await seen.named("invoke_agent pi")
    assert agent.status.status_code is StatusCode.ERROR
    hook = await seen.named("hook before_model_request")
    assert hook.attributes["pi.hook.outcome"] == "vetoed"


@pytest.mark.pi(plugins=[pi_otel, slow_hook("tool_call", 0.02)], tools=[shelf])
async def test_a_slow_hook_hangs_below_the_tool_that_waits_for_it(pi_session, script, seen):
    script.turn(tool_call("shelf", name="a")).turn(text("Done."))

    await pi_session.prompt("What is there?")

    hook, call = await seen.named("hook tool_call"), await seen.named("execute_tool shelf")
    assert hook.parent.span_id == call.context.span_id
    assert hook.end_time - hook.start_time >= 15_000_000


class Early:
    """Is activated before the plugin under test, and takes its time."""

    @hookimpl
    def activate(self, pi):
        time.sleep(0.02)


class Late:
    """Is activated after it, and fails."""

    @hookimpl
    def activate(self, pi):
        raise RuntimeError("no wind")


@pytest.mark.pi(plugins=[Early(), pi_otel, Late()])
async def test_slow_and_failed_activations_have_spans(pi_session, script, seen):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    activations = [each for each in await seen.spans() if each.name == "plugin activate"]
    (failed,) = [each for each in activations if each.status.status_code is StatusCode.ERROR]
    others = [each for each in activations if each.attributes["pi.plugin"] != failed.attributes["pi.plugin"]]
    slow = max(others, key=lambda each: each.end_time - each.start_time)
    assert slow.end_time - slow.start_time >= 15_000_000
    assert slow.end_time <= (await seen.named("invoke_agent pi")).start_time


@pytest.mark.pi(plugins=[Early(), pi_otel], settings={"otel": {"enabled": True}})
async def test_activations_are_recorded_where_a_setting_switches_it_on(pi_session, script, seen, monkeypatch):
    monkeypatch.delenv("OTEL_TRACES_EXPORTER")
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert any(each.name == "plugin activate" for each in await seen.spans())


@pytest.mark.pi(plugins=[pi_otel, slow_hook("turn_end", 0.02)], settings={"otel": {"hookThreshold": 60_000}})
async def test_the_threshold_of_hooks_is_a_setting(pi_session, script, seen):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert await seen.tree() == ["invoke_agent pi", "  chat model"]


@tool
async def scout(ctx) -> str:
    """Send a scout."""
    async with ctx.create_session(label="scout", tools=[]) as child:
        return (await child.prompt("Look around")).text


@pytest.mark.pi(tools=[scout], settings={"otel": {"hookThreshold": 60_000}})
async def test_a_child_session_hangs_below_the_tool_that_made_it(pi_session, script, seen):
    script.turn(tool_call("scout")).turn(text("Nothing there.")).turn(text("Nothing."))

    await pi_session.prompt("What is there?")

    assert await seen.tree() == [
        "invoke_agent pi",
        "  chat model",
        "  execute_tool scout",
        "    invoke_agent pi",
        "      chat model",
        "  chat model",
    ]


async def test_two_sessions_of_a_process_do_not_mix(pi_session, pi_host, script, seen, tmp_path):
    script.turn(text("One.")).turn(text("Two."))
    options = {"host": pi_session.host, "settings": pi_session.settings, "model_registry": pi_session.models}
    async with create_agent_session(cwd=tmp_path, model=pi_session.model, **options) as other:
        await asyncio.gather(pi_session.prompt("Hi"), other.prompt("Hi"))

    agents = [each for each in await seen.spans() if each.name == "invoke_agent pi"]
    chats = [each for each in await seen.spans() if each.name == "chat model"]
    assert {each.attributes["gen_ai.conversation.id"] for each in agents} == {pi_session.session_id, other.session_id}
    assert {each.parent.span_id for each in chats} == {each.context.span_id for each in agents}
    assert len({each.context.trace_id for each in agents}) == 2


@pytest.mark.pi(settings={"otel": {"propagateToProviders": True}})
async def test_requests_carry_the_span_only_where_the_user_wants_it(pi_session, script, seen):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    chat = await seen.named("chat model")
    trace_id, span_id = f"{chat.context.trace_id:032x}", f"{chat.context.span_id:016x}"
    assert script.requests[0].options.headers["traceparent"].startswith(f"00-{trace_id}-{span_id}-")


async def test_requests_carry_no_span_by_default(pi_session, script, seen):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert not script.requests[0].options.headers


@tool
async def call_out(ctx) -> str:
    """Return the context for a request to another program, and for a program that is started."""
    started = await ctx.child_environment({}, purpose="exec", command="true")
    return f"{(await ctx.trace_context())['traceparent']} {started['TRACEPARENT']}"


@pytest.mark.pi(tools=[call_out])
async def test_requests_of_a_tool_to_other_programs_are_below_its_span(pi_session, script, seen):
    calls = [tool_call("call_out", call_id="1"), tool_call("call_out", call_id="2")]
    script.turn(*calls).turn(text("Done."))

    await pi_session.prompt("Call both")

    spans = {each.attributes["gen_ai.tool.call.id"]: each for each in await seen.spans() if "call_out" in each.name}
    results = [each for each in pi_session.messages if each.role == "toolResult"]
    parents = {each.tool_call_id: {header.split("-")[2] for header in each.text.split()} for each in results}
    assert parents == {call_id: {f"{span.context.span_id:016x}"} for call_id, span in spans.items()}


async def test_a_prompt_is_below_the_span_that_came_with_it(pi_session, script, seen):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi", trace_context={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})

    agent = await seen.named("invoke_agent pi")
    assert (f"{agent.context.trace_id:x}", f"{agent.parent.span_id:x}") == ("a" * 32, "b" * 16)


async def test_a_context_that_is_not_valid_is_ignored(pi_session, script, seen):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi", trace_context={"traceparent": "00-xyz"})

    assert (await seen.named("invoke_agent pi")).parent is None
