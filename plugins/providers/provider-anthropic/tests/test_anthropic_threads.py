"""Message threads: what is sent, what the server has, and what happens when it has lost it."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from pi_hookspecs import Context, StreamOptions, TextContent, ToolResultMessage, UserMessage
from pi_provider_anthropic.provider import AnthropicMessages
from pi_provider_kit import Http
from pi_testing import asking
from pi_testing.conversation import final_message
from pi_testing.fake_servers.anthropic import FakeAnthropic, error, message, text, thinking, tool_use
from pi_testing.fake_servers.anthropic_threads import ThreadStore

THREADS = {"compat": {"supportsMessageThreads": True}}


class Conversation:
    """A session that asks the fake, message by message."""

    def __init__(self, ask, server, tool, **options):
        self.messages, self.answers = [], 0
        self.system, self.tools = "Be brief.", (tool(),)
        self.options = {"session_id": "s1", **options}
        self._ask, self._server = ask, server

    async def says(self, words, *blocks, scripted=None, fields=THREADS, **options):
        self.messages.append(UserMessage(content=words, timestamp=1))
        return await self.goes_on(*blocks, scripted=scripted, fields=fields, **options)

    async def goes_on(self, *blocks, scripted=None, fields=THREADS, **options):
        self.answers += 1
        self._server.answers(*(scripted or [message(*(blocks or (text("ok"),)), message_id=f"msg_{self.answers}")]))
        context = Context(messages=tuple(self.messages), system_prompt=self.system, tools=self.tools)
        heard = await self._ask(context, fields, **{**self.options, **options})
        if heard.message.stop_reason not in ("error", "aborted"):
            self.messages.append(heard.message)
        return heard.message

    def result_of(self, call_id):
        self.messages.append(
            ToolResultMessage(tool_call_id=call_id, tool_name="read", content=(TextContent("done"),), timestamp=1)
        )


@pytest.fixture
def session(ask, server, tool):
    return Conversation(ask, server, tool)


def sent(server):
    """Return type of thread and number of messages of each request."""
    return [(r.json.get("thread", {}).get("type"), len(r.json["messages"])) for r in server.requests]


def plain(value):
    """Return a body without cache marks, texts as blocks."""
    if isinstance(value, dict):
        body = {k: plain(v) for k, v in value.items() if k != "cache_control"}
        if "role" in body and isinstance(body["content"], str):
            body["content"] = [{"type": "text", "text": body["content"]}]
        return body
    return [plain(each) for each in value] if isinstance(value, list) else value


async def test_only_what_is_new_is_sent_and_the_server_has_the_whole_conversation(session, server):
    await session.says("hi", thinking("Hm.", signature="c2ln"), text("I look."), tool_use("toolu_1", "read", path="a"))
    session.result_of("toolu_1")
    await session.goes_on()
    last = await session.says("and?")

    assert last.stop_reason == "stop", last.error_message
    assert sent(server) == [("create", 1), ("continue", 1), ("continue", 1)]
    assert [r.json["thread"].get("previous_message_id") for r in server.requests] == [None, "msg_1", "msg_2"]
    assert not {"system", "tools"} & {*server.requests[1].json, *server.requests[2].json}
    whole = server.conversations[-1]
    assert [each["role"] for each in whole["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert whole["system"][0]["text"] == "Be brief."
    assert whole["tools"][0]["name"] == "read"
    assert all("message-threads-2026-08-12" in r.headers["anthropic-beta"] for r in server.requests)


async def test_a_thread_that_was_lost_begins_again_with_the_whole_conversation(session, server):
    await session.says("hi")
    server.threads.lose()
    answer = await session.says("and?", text("still here"))
    await session.says("more")

    assert answer.content[0].text == "still here"
    assert sent(server) == [("create", 1), ("continue", 1), ("create", 3), ("continue", 1)]


@pytest.mark.parametrize(
    ("change", "given"),
    [
        ("system", {}),
        ("tools", {}),
        ("message", {}),
        ("", {"headers": {"anthropic-beta": "another-beta"}}),
        ("", {"tool_choice": "none"}),
        ("", {"api_key": "sk-ant-api03-another-0123456789"}),
    ],
    ids=["system prompt", "tools", "earlier message", "beta feature", "tool choice", "another account"],
)
async def test_what_cannot_change_within_a_thread_begins_a_new_one_without_a_rejected_request(
    session, server, change, given
):
    await session.says("hi")
    if change == "system":
        session.system = "Be long."
    elif change == "tools":
        session.tools = ()
    elif change == "message":
        session.messages[0] = UserMessage(content="hello", timestamp=1)
    await session.says("and?", **given)

    assert sent(server) == [("create", 1), ("create", 3)]


async def test_back_at_an_answer_that_was_not_continued_the_thread_goes_on_there(session, server):
    await session.says("hi")
    await session.says("and?", scripted=[error(529, "Overloaded")])
    session.messages = session.messages[:2]
    await session.says("or?")

    assert sent(server) == [("create", 1), ("continue", 1), ("create", 3)]


@pytest.mark.parametrize("code", ["", "thread_unsupported_request"], ids=["field unknown", "unsupported"])
async def test_a_host_that_rejects_threads_gets_whole_requests_from_then_on(session, server, code):
    server.threads = ThreadStore(rejected=code)
    answer = await session.says("hi")
    await session.says("and?")

    assert answer.stop_reason == "stop"
    assert sent(server) == [("create", 1), (None, 1), (None, 3)]


async def test_other_errors_are_answers_and_nothing_is_sent_again(session, server):
    await session.says("hi")
    answer = await session.says("and?", scripted=[error(400, "prompt is too long")])

    assert "prompt is too long" in answer.error_message
    assert sent(server) == [("create", 1), ("continue", 1)]


async def test_after_an_answer_that_broke_off_a_new_thread_begins(session, server):
    await session.says("hi")
    await session.says("and?", scripted=[message(text("half of it"), message_id="msg_2").cut(after=b"half")])
    await session.goes_on()

    assert sent(server) == [("create", 1), ("continue", 1), ("create", 3)]


async def test_an_answer_that_names_the_version_of_its_model_is_continued(session, server):
    await session.says("hi", scripted=[message(text("ok"), message_id="msg_1", model="claude-fake-20260101")])
    await session.says("and?")

    assert sent(server) == [("create", 1), ("continue", 1)]


async def test_a_request_beside_the_conversation_leaves_its_thread_alone(session, server):
    await session.says("hi")
    messages = [*session.messages]
    await session.says("keep this", continues=False)
    session.messages = messages
    await session.says("and?")

    assert sent(server) == [("create", 1), (None, 3), ("continue", 1)]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [({}, {}), (THREADS, {"cache_retention": "none"}), (THREADS, {"session_id": None})],
    ids=["not turned on", "nothing is kept", "no session"],
)
async def test_nothing_is_kept_where_the_user_has_not_turned_it_on(session, server, fields, asked):
    await session.says("hi", fields=fields, **asked)
    await session.says("and?", fields=fields, **asked)

    assert sent(server) == [(None, 1), (None, 3)]
    assert "message-threads" not in server.request.headers.get("anthropic-beta", "")


async def test_a_plugin_that_replaces_the_payload_decides_about_the_thread(session, server):
    async def create(payload, _model):
        return {**payload, "thread": {"type": "create"}}

    await session.says("hi", on_payload=create)
    await session.says("and?", on_payload=create)

    assert sent(server) == [("create", 1), ("create", 3)]


async def test_each_session_has_a_thread_of_its_own(ask, server, tool):
    one, two = (Conversation(ask, server, tool, session_id=name) for name in ("s1", "s2"))
    two.answers = 10
    await one.says("hi")
    await two.says("hi")
    await one.says("and?")
    await two.says("or?")

    assert sent(server) == [("create", 1), ("create", 1), ("continue", 1), ("continue", 1)]
    assert [m["role"] for m in server.conversations[-1]["messages"]] == ["user", "assistant", "user"]


STEPS = st.lists(st.sampled_from(["says", "calls", "edits", "prompt", "lose", "broken", "back", "reject"]), max_size=12)


@hypothesis.given(steps=STEPS)
async def test_whatever_happens_the_server_answers_the_conversation_that_pi_has(steps):
    http = Http()
    async with FakeAnthropic() as server:
        threaded, whole = AnthropicMessages(http), AnthropicMessages(http)
        model = _model(server.url)
        messages, system, number = [], "a", 0
        for step in ["says", *steps]:
            if step == "edits":
                messages = [UserMessage(content=f"edited {number}", timestamp=1), *messages[1:]]
            elif step == "prompt":
                system += "b"
            elif step == "lose":
                server.threads.lose()
            elif step == "reject":
                server.threads = ThreadStore(rejected="")
            elif step == "back":
                messages = messages[: len(messages) // 4 * 2]
            messages.append(UserMessage(content=f"words {number}", timestamp=1))
            number += 1
            blocks = (tool_use(f"toolu_{number}", "read", path="a"),) if step == "calls" else (text("ok"),)
            answer = message(*blocks, message_id=f"msg_{number}")
            context = Context(messages=tuple(messages), system_prompt=system, tools=(asking.read_tool(),))
            bodies = []
            for provider in (threaded, whole):
                session = "s1" if provider is threaded else None
                server.answers(answer.cut(after=b"message_start") if step == "broken" else answer)
                options = StreamOptions(api_key="sk-ant-api03-secret-0123456789", session_id=session)
                events = [event async for event in provider.stream(model, context, options)]
                bodies.append(plain(server.conversations[-1]))
            assert bodies[0] == bodies[1]
            final = final_message(events)
            if final.stop_reason == "error":
                messages.pop()
                continue
            messages.append(final)
            if step == "calls":
                messages.append(
                    ToolResultMessage(
                        tool_call_id=f"toolu_{number}", tool_name="read", content=(TextContent("x"),), timestamp=1
                    )
                )
    await http.aclose()


def _model(url):
    from pi_hookspecs import Model, ModelCost

    known = {"id": "claude-fake", "name": "Fake", "api": "anthropic-messages", "provider": "anthropic"}
    return Model(**known, base_url=url, context_window=200_000, max_tokens=8192, cost=ModelCost(), **THREADS)
