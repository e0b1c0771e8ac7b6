"""What the hooks of a request to a model are given: which request it is, who makes it, and what they add to it."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.wire import to_wire
from pi_hookspecs import (
    Command,
    Compaction,
    Context,
    MessageStartEvent,
    RetryDecision,
    SideRequest,
    UserMessage,
    hookimpl,
    tool,
)
from pi_testing import error, text, tool_call

QUESTION = Context(messages=(UserMessage(content="sum up"),))


class Watches:
    """Keeps the events of requests."""

    def __init__(self):
        self.payloads = []
        self.responses = []

    @hookimpl
    def before_provider_request(self, event):
        self.payloads.append(event)

    @hookimpl
    def after_provider_response(self, event):
        self.responses.append(event)


@pytest.fixture
def watches():
    return Watches()


def facts(event):
    return event.request_id, event.purpose, event.plugin, event.attempt, event.base_url


class Asks:
    """A plugin that asks the model from a hook, a command and a tool, and as a compactor."""

    @hookimpl
    async def turn_end(self, event, ctx):
        if event.message.text == "one title, please":
            await ctx.complete(QUESTION, SideRequest(purpose="title"))

    @hookimpl
    def register_commands(self):
        async def ask(_arguments, ctx):
            await ctx.complete(QUESTION, SideRequest(purpose="command"))

        return [Command(name="ask", handler=ask)]

    @hookimpl
    def register_tools(self):
        @tool
        async def look(ctx) -> str:
            """Look."""
            return (await ctx.complete(QUESTION, SideRequest(purpose="tool"))).text

        return [look]

    @hookimpl
    def register_services(self):
        class Summary:
            async def compact(self, request, ctx):
                answer = await ctx.complete(QUESTION, SideRequest(purpose="compaction"))
                return Compaction(
                    summary=answer.text, first_kept_entry_id=request.entries[-1].id, tokens_before=1, usage=answer.usage
                )

        return [Summary()]


class Repeats:
    """Repeats each failed request once."""

    @hookimpl
    def register_services(self):
        class Policy:
            def decide(self, answer, attempt, ctx):
                return RetryDecision(attempt=attempt, max_attempts=1, delay_ms=0) if attempt == 1 else None

        return [Policy()]


@pytest.fixture
def pi_plugins(watches):
    return {"watches": watches, "asks": Asks(), "repeats": Repeats()}


async def test_the_events_of_one_request_have_the_same_facts(pi_session, script, watches):
    script.turn(text("one")).turn(text("two"))
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    assert [facts(each) for each in watches.payloads] == [facts(each) for each in watches.responses]
    assert [facts(each)[1:4] for each in watches.payloads] == [("conversation", None, 1)] * 2
    assert len({each.request_id for each in watches.payloads}) == 2


async def test_a_request_that_is_repeated_counts_its_attempts(pi_session, script, watches):
    script.turn(error("overloaded")).turn(text("done")).turn(text("more"))
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    assert [each.attempt for each in watches.payloads] == [1, 2, 1]
    assert len({each.request_id for each in watches.payloads}) == 3


async def test_a_repeated_request_of_a_plugin_counts_its_attempts(pi_session, script, watches):
    script.turn(error("overloaded")).turn(text("done"))
    await pi_session.prompt("/ask")

    assert [facts(each)[1:4] for each in watches.payloads] == [("command", "asks", 1), ("command", "asks", 2)]


async def test_a_request_names_the_plugin_whose_tool_makes_it(pi_session, script, watches):
    script.turn(tool_call("look")).turn(text("inner")).turn(text("done"))
    await pi_session.prompt("look")

    made = [(each.purpose, each.plugin) for each in watches.payloads]
    assert made == [("conversation", None), ("tool", "asks"), ("conversation", None)]


async def test_a_request_names_the_plugin_whose_hook_makes_it(pi_session, script, watches):
    script.turn(text("one title, please")).turn(text("a title"))
    await pi_session.prompt("first")

    assert [(each.purpose, each.plugin) for each in watches.payloads] == [("conversation", None), ("title", "asks")]


async def test_a_request_names_the_plugin_that_compacts(pi_session, script, watches):
    script.turn(text("one")).turn(text("a summary"))
    await pi_session.prompt("first")
    await pi_session.compact()

    assert [(each.purpose, each.plugin) for each in watches.payloads][1:] == [("compaction", "asks")]


async def test_a_request_of_the_program_names_no_plugin(pi_session, script, watches):
    script.turn(text("a summary"))
    await pi_session.start()
    await pi_session.complete(QUESTION, SideRequest(purpose="report"))

    assert [(each.purpose, each.plugin) for each in watches.payloads] == [("report", None)]


async def test_concurrent_requests_can_be_distinguished(pi_session, script, watches):
    script.turn(text("one")).turn(text("two"))
    await pi_session.start()
    await asyncio.gather(*(pi_session.complete(QUESTION, SideRequest(purpose=each)) for each in ("one", "two")))

    assert {each.purpose: each.request_id for each in watches.payloads} == {
        each.purpose: each.request_id for each in watches.responses
    }
    assert len({each.request_id for each in watches.payloads}) == 2


async def test_message_events_have_the_id_of_their_request(pi_session, script, watches, recorder):
    pi_session.subscribe(recorder)
    script.turn(text("one"))
    await pi_session.prompt("first")

    ids = [(each.type, each.request_id) for each in recorder.events if each.type.startswith("message")]
    sent = watches.payloads[0].request_id
    assert ids[:2] == [("message_start", ""), ("message_end", "")]  # the user's
    assert {each for _, each in ids[2:]} == {sent}
    assert {kind for kind, _ in ids[2:]} == {"message_start", "message_update", "message_end"}


def test_the_wire_of_message_events_is_as_it_was():
    event = MessageStartEvent(message=UserMessage(content="hi", timestamp=1), request_id="00ff")

    assert set(to_wire(event)) == {"type", "message"}


class Listener:
    """Keeps what the message hook is given."""

    def __init__(self):
        self.ids = []

    @hookimpl
    def message_end(self, event):
        self.ids.append((event.message.role, event.request_id))


@pytest.mark.parametrize("pi_plugins", [{"hears": Listener()}])
async def test_the_message_hook_gets_the_id_of_its_request(pi_session, script, recorder, pi_plugins):
    pi_session.subscribe(recorder, "message_end")
    script.turn(text("one"))
    await pi_session.prompt("first")

    ids = pi_plugins["hears"].ids
    assert ids == [(each.message.role, each.request_id) for each in recorder.events]
    assert ids[1][1]


class Adds:
    @hookimpl
    def before_provider_request(self, event):
        event.headers["traceparent"] = f"00-{event.request_id}"
        event.headers["X-Team"] = "tides"


@pytest.mark.parametrize("pi_plugins", [{"adds": Adds()}])
async def test_headers_are_added_to_the_request(pi_session, script, pi_plugins):
    script.turn(text("one"))
    await pi_session.prompt("first")

    headers = script.requests[0].options.headers
    assert headers["X-Team"] == "tides"
    assert headers["traceparent"].startswith("00-")


class AddsNumber:
    @hookimpl
    def before_provider_request(self, event):
        event.headers["x-count"] = 3


@pytest.mark.parametrize("pi_plugins", [{"adds": AddsNumber()}])
async def test_a_header_that_is_no_text_fails_the_request_with_its_name(pi_session, script, pi_plugins):
    script.turn(text("one"))
    answer = await pi_session.prompt("first")

    assert answer.error_message.startswith("A plugin added the HTTP header 'x-count' in before_provider_request")
