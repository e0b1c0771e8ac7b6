"""``ctx.trace_context()``: the span that a request to another program belongs to."""

from __future__ import annotations

import pytest

from pi_hookspecs import hookimpl, tool
from pi_testing import text, tool_call

CALLER = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "shop=1"}

found: list[dict[str, str]] = []


@tool
async def call_out(ctx) -> str:
    """Call another program."""
    found.append(dict(await ctx.trace_context()))
    return "called"


class Tracer:
    """Returns the same for everyone, or what a test makes of a call."""

    def __init__(self, answer):
        self.answer = answer

    @hookimpl
    def register_services(self):
        return [self]

    async def trace_context(self, ctx):
        return self.answer(ctx)


@pytest.fixture(autouse=True)
def _calls(script):
    found.clear()
    script.turn(tool_call("call_out", call_id="c1")).turn(text("Done."))


@pytest.mark.pi(tools=[call_out])
async def test_without_a_plugin_that_traces_the_context_of_the_caller_is_passed_on(pi_session, script):
    script.turn(tool_call("call_out")).turn(text("Done."))

    await pi_session.prompt("Go", trace_context=CALLER)
    await pi_session.prompt("Again")

    assert found == [CALLER, {}]


@pytest.mark.pi(tools=[call_out], plugins=[Tracer(lambda ctx: {"traceparent": f"of {ctx.call_id}"})])
async def test_the_plugin_that_traces_is_asked_with_the_call(pi_session):
    await pi_session.prompt("Go", trace_context=CALLER)

    assert found == [{"traceparent": "of c1"}]


@pytest.mark.pi(tools=[call_out], plugins=[Tracer(lambda ctx: {})])
async def test_a_plugin_that_does_not_trace_now_leaves_it_to_the_caller(pi_session):
    await pi_session.prompt("Go", trace_context=CALLER)

    assert found == [CALLER]


FAILURES = [Tracer(lambda ctx: 1 / 0), Tracer(lambda ctx: {"traceparent": 7})]


@pytest.mark.parametrize(
    "", [pytest.param(marks=pytest.mark.pi(tools=[call_out], plugins=[each])) for each in FAILURES]
)
async def test_a_plugin_that_fails_is_reported_and_the_call_goes_on(pi_session):
    failures = []
    pi_session.subscribe(lambda event: failures.append(event.event), "extension_error")

    await pi_session.prompt("Go")

    assert found == [{}]
    assert failures == ["TraceContext.trace_context"]


class Starts:
    """Notes what plugins that trace get of a prompt."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def before_agent_start(self, event):
        self.seen.append(event.trace_context)


starts = Starts()


@pytest.mark.pi(tools=[call_out], plugins=[starts])
async def test_a_plugin_gets_the_context_that_came_with_the_prompt(pi_session):
    await pi_session.prompt("Go", trace_context=CALLER)

    assert starts.seen == [CALLER]
