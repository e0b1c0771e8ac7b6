"""What is sent of a conversation is the same whether it is encoded anew or joined from what is kept, in every API.

A conversation grows and changes at random; each request is made in both ways, and the bytes of both bodies are equal.
"""

from __future__ import annotations

import asyncio
import re
from copy import deepcopy
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from drawn.histories import ASKED, NAMES, SCHEMAS, histories
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core.conversation.request_hooks import observing
from pi_hookspecs import AssistantMessage, Context, StreamOptions, TextContent, ToolCall, ToolResultMessage, UserMessage
from pi_hookspecs.errors import RequestFailed
from pi_hookspecs.unchanged import first_difference
from pi_provider_kit import exchange, json_values, kept, tokens
from pi_provider_kit import messages as kit_messages
from pi_testing.stand_ins import make_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    kept._kept.clear()
    yield
    kept._kept.clear()


SCHEMA_FIELDS = ("input_schema", "parameters", "parametersJsonSchema")


class Asked:
    """One provider, and the request of the moment.

    Attributes:
        hook: Changes payloads in place.
        seen: The latest payload that the hook has seen.
        observer: Gets payloads as plugins do that only observe.
    """

    def __init__(self, name: str) -> None:
        self.provider, self.model, self.key, _ = ASKED[name]
        self.messages: list[Any] = []
        self.tools: tuple[Any, ...] = (make_tool("read"),)
        self.session = "one"
        self.hook: Callable[[Any], object] | None = None
        self.seen: Any = None
        self.observer: Callable[[Any], object] | None = None

    def arguments(self) -> list[Any]:
        """Return the arguments of all calls."""
        answers = (each for each in self.messages if isinstance(each, AssistantMessage))
        return [call.arguments for each in answers for call in each.tool_calls]

    def bytes(self, *, long: int) -> bytes:
        """Return what is sent, where a conversation of so many messages is kept."""
        sent: list[bytes] = []

        def record(body: Any) -> bytes:
            sent.append(json_values.request_json(body))
            raise RequestFailed("recorded")

        async def hook(payload: Any, _model: Any) -> Any:
            if self.hook is not None:
                self.hook(payload)
                self.seen = payload
            if self.model.api == "llamacpp-embedded":  # which sends no HTTP
                record(payload)
            return payload

        async def observe(payload: Any, _model: Any) -> Any:
            assert self.observer is not None
            self.observer(payload)

        shown = self.hook is not None or self.model.api == "llamacpp-embedded"
        on_payload = hook if shown else observing(observe) if self.observer is not None else None
        options = StreamOptions(api_key=self.key, session_id=self.session, on_payload=on_payload)
        context = Context(system_prompt="Be brief.", messages=tuple(self.messages), tools=self.tools)

        async def ask() -> None:
            async for _ in self.provider.stream(self.model, context, options):
                pass

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exchange, "request_json", record)
            patch.setattr(kit_messages, "LONG", long)
            patch.setattr(json_values, "LONG", long)
            patch.setattr(tokens, "LONG", long)
            asyncio.run(ask())
        return re.sub(rb'"requestId":"[^"]*"', b"", sent[0])


def conversation_of(payload: Any) -> list[Any]:
    """Return the list of the API's messages in a payload."""
    body = payload.get("request", payload)
    found: list[Any] = next(body[name] for name in ("messages", "input", "contents") if name in body)
    return found


def change_payload(number: int) -> Callable[[Any], None]:
    """Return a hook that changes a payload in place: a message, something within it, or the list."""

    def change(payload: Any) -> None:
        listed = conversation_of(payload)
        if not listed:
            return
        if number % 7 == 5:
            listed.insert(number % 2, {"role": "user", "added": number})
            return
        if number % 7 == 6:
            del listed[number % len(listed)]
            return
        message = listed[number % len(listed)]
        content = message.get("content", message.get("parts"))
        if number % 2 and isinstance(content, list) and content and isinstance(content[0], dict):
            content[0]["changed"] = number
        else:
            message["changed"] = [number]

    return change


def grow(asked: Asked, data: st.DataObject, _at: int) -> None:
    asked.messages += data.draw(histories(asked.model))


def replace(asked: Asked, data: st.DataObject, at: int) -> None:
    asked.messages[at : at + 1] = data.draw(histories(asked.model))[:1]


def remove(asked: Asked, _data: st.DataObject, at: int) -> None:
    del asked.messages[at : at + 1]


def rewind(asked: Asked, _data: st.DataObject, at: int) -> None:
    del asked.messages[at:]


def compact(asked: Asked, _data: st.DataObject, at: int) -> None:
    asked.messages[:at] = [UserMessage(content="A summary.", timestamp=1)]


def remake(asked: Asked, _data: st.DataObject, at: int) -> None:
    """Make all messages from one on anew with equal content, as plugins do that get them as JSON."""
    for index in range(at, len(asked.messages)):
        content = asked.messages[index].content
        same = content if isinstance(content, str) else tuple(deepcopy(block) for block in content)
        asked.messages[index] = evolve(asked.messages[index], content=same)


def change_arguments(asked: Asked, data: st.DataObject, at: int) -> None:
    """Change the arguments of a call in place."""
    for arguments in asked.arguments()[at : at + 1]:
        value = data.draw(st.sampled_from([0, "x", ["a"], {"b": [1]}, 2**70]))
        arguments[data.draw(st.sampled_from(["path", "new"]))] = value


def change_to_equal(asked: Asked, _data: st.DataObject, at: int) -> None:
    """Change arguments in place to what is == to them, and sent differently."""
    for arguments in asked.arguments()[at : at + 1]:
        to_equal(arguments)


def use_another_model(asked: Asked, data: st.DataObject, _at: int) -> None:
    names = [asked.model.id, f"{asked.model.id}-b"]
    asked.model = evolve(asked.model, id=data.draw(st.sampled_from(names)))


def close_eyes(asked: Asked, _data: st.DataObject, _at: int) -> None:
    asked.model = evolve(asked.model, input=("text",) if "image" in asked.model.input else ("text", "image"))


def change_compat(asked: Asked, data: st.DataObject, _at: int) -> None:
    """Change what is known of the host; in place, if there is something."""
    flag = data.draw(st.sampled_from(["requiresThinkingAsText", "requiresToolResultName", "allowEmptySignature"]))
    if not asked.model.compat:
        asked.model = evolve(asked.model, compat={})
    asked.model.compat[flag] = data.draw(st.booleans())


def change_tools(asked: Asked, data: st.DataObject, _at: int) -> None:
    named = data.draw(st.lists(NAMES, max_size=3))
    asked.tools = tuple(evolve(make_tool(name), parameters=data.draw(SCHEMAS)) for name in named)


def change_session(asked: Asked, _data: st.DataObject, _at: int) -> None:
    asked.session = "two" if asked.session == "one" else "one"


def add_hook(asked: Asked, _data: st.DataObject, at: int) -> None:
    asked.hook = change_payload(at)


def remove_hook(asked: Asked, _data: st.DataObject, _at: int) -> None:
    asked.hook = None


def change_later(asked: Asked, _data: st.DataObject, at: int) -> None:
    """Change a message of the last payload in place after it was sent, if a plugin has it."""
    if asked.seen is not None:
        change_payload(at)(asked.seen)


def observe(asked: Asked, _data: st.DataObject, _at: int) -> None:
    """Let a plugin see the payloads that changes nothing."""
    asked.observer = None if asked.observer is not None else conversation_of


def nothing(_asked: Asked, _data: st.DataObject, _at: int) -> None:
    """Send the same again."""


CHANGES: tuple[Callable[[Asked, st.DataObject, int], None], ...] = (
    *(grow, grow, grow, nothing, replace, remove, rewind, compact, remake, change_arguments, change_to_equal),
    *(
        use_another_model,
        close_eyes,
        change_compat,
        change_tools,
        change_session,
        add_hook,
        add_hook,
        remove_hook,
        change_later,
        observe,
    ),
)


def to_equal(value: Any) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in [*items]:
        if isinstance(item, dict | list):
            to_equal(item)
        elif isinstance(item, bool):
            value[name] = int(item)
        elif isinstance(item, int):
            value[name] = float(item)


@pytest.mark.parametrize("name", ASKED)
def test_kept_requests_are_those_that_are_made_anew(name: str) -> None:
    @settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
    @given(data=st.data())
    def equal(data: st.DataObject) -> None:
        kept._kept.clear()
        asked = Asked(name)
        asked.messages += data.draw(histories(asked.model))
        for _ in range(data.draw(st.integers(2, 7))):
            change = data.draw(st.sampled_from(CHANGES))
            change(asked, data, data.draw(st.integers(0, max(0, len(asked.messages) - 1))))
            anew = asked.bytes(long=10**9)
            assert asked.bytes(long=1) == anew, change.__name__

    equal()


def grown(asked: Asked, turns: int) -> None:
    """Add turns of a question, a call, its result and an answer."""
    model = asked.model
    known = {"api": model.api, "provider": model.provider, "model": model.id, "timestamp": 1}
    for _ in range(turns):
        number = len(asked.messages)
        asked.messages += [
            UserMessage(content=f"Question {number}", timestamp=1),
            AssistantMessage(
                content=(ToolCall(f"call_{number}", "read", {"path": f"{number}.py"}),), stop_reason="toolUse", **known
            ),
            ToolResultMessage(
                tool_call_id=f"call_{number}", tool_name="read", content=(TextContent(f"Text {number}"),), timestamp=1
            ),
            AssistantMessage(content=(TextContent(f"Answer {number}"),), **known),
        ]


def same_both_ways(asked: Asked) -> bool:
    """Return whether a request is the same in both ways."""
    anew = asked.bytes(long=10**9)
    return asked.bytes(long=12) == anew


@pytest.mark.parametrize("name", ASKED)
def test_a_result_that_comes_later_takes_the_place_of_its_placeholder(name: str) -> None:
    asked = Asked(name)
    grown(asked, 5)
    calls = tuple(ToolCall(f"call_{number}", "read", {"path": "x"}) for number in (100, 200))
    asked.messages.append(evolve(asked.messages[1], content=calls))
    asked.messages.append(evolve(asked.messages[2], tool_call_id="call_100"))

    assert same_both_ways(asked)

    asked.messages.append(evolve(asked.messages[2], tool_call_id="call_200"))

    assert same_both_ways(asked)


@pytest.mark.parametrize("name", ASKED)
def test_arguments_that_were_made_anew_are_watched_like_the_old_ones(name: str) -> None:
    asked = Asked(name)
    grown(asked, 5)

    assert same_both_ways(asked)

    asked.messages = deepcopy(asked.messages)

    assert same_both_ways(asked)

    asked.messages[5].content[0].arguments["path"] = "another.py"

    assert same_both_ways(asked)
    assert b"another.py" in asked.bytes(long=12)


@pytest.mark.parametrize("name", ASKED)
def test_a_tool_that_gets_the_name_of_an_earlier_one_renames_its_calls(name: str) -> None:
    asked = Asked(name)
    asked.tools = (make_tool("my tool"),)
    grown(asked, 5)
    asked.messages[1] = evolve(asked.messages[1], content=(ToolCall("call_1", "my tool", {}),))

    assert same_both_ways(asked)

    asked.tools = (make_tool("my_tool"), make_tool("my tool"))

    assert same_both_ways(asked)


@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3"])
@pytest.mark.parametrize("place", ["a message", "a schema"])
def test_what_cannot_be_sent_fails_the_request_that_a_plugin_put_it_in_and_no_other(name: str, place: str) -> None:
    asked = Asked(name)
    grown(asked, 5)
    usual = asked.bytes(long=12)

    def spoil(payload: Any) -> None:
        body = payload.get("request", payload)
        tool = body["tools"][0]
        tool = tool.get("function", tool.get("functionDeclarations", [tool])[0]) if isinstance(tool, dict) else tool
        schemas = [value for key, value in tool.items() if key in SCHEMA_FIELDS]
        spoilt = conversation_of(payload)[2] if place == "a message" else schemas[0]
        spoilt["changed"] = {1, 2}

    asked.hook = spoil
    with pytest.raises(IndexError):  # nothing was sent
        asked.bytes(long=12)
    asked.hook = None

    assert asked.bytes(long=12) == usual


def test_a_request_of_another_thread_while_one_is_joined_does_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, other = Asked("anthropic"), Asked("anthropic")
    grown(asked, 5)
    other.messages = [
        *asked.messages[:12],
        *(UserMessage(content=f"Other {number}", timestamp=1) for number in range(8)),
    ]
    anew = asked.bytes(long=10**9)
    waiting = [other]

    def interrupted(old: Any, new: Any) -> int:
        found = first_difference(old, new)
        if waiting and len(old) == len(new) == found > 12:  # the items of a request, when it is joined
            thread = Thread(target=waiting.pop().bytes, kwargs={"long": 12})
            thread.start()
            thread.join()
        return found

    monkeypatch.setattr(kept, "first_difference", interrupted)

    assert asked.bytes(long=12) == anew
    assert not waiting


@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3"])
def test_requests_at_the_same_time_have_what_plugins_change_in_place_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(name)
    grown(asked, 5)
    sent: list[bytes] = []

    def record(body: Any) -> bytes:
        sent.append(json_values.request_json(body))
        raise RequestFailed("recorded")

    monkeypatch.setattr(exchange, "request_json", record)

    async def ask_twice() -> None:
        both = asyncio.Barrier(2)

        async def hook(payload: Any, _model: Any) -> None:
            await both.wait()
            message = conversation_of(payload)[2]
            message["changed"] = [*message.get("changed", []), "NOTE"]
            await both.wait()

        async def ask() -> None:
            options = StreamOptions(api_key=asked.key, session_id="one", on_payload=hook)
            context = Context(system_prompt="", messages=tuple(asked.messages), tools=asked.tools)
            async for _ in asked.provider.stream(asked.model, context, options):
                pass

        await asyncio.gather(ask(), ask())

    for _ in range(2):
        asyncio.run(ask_twice())

    assert [each.count(b"NOTE") for each in sent] == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3"])
def test_payloads_that_are_only_observed_are_not_compared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    are_encoded = kept._are_encoded

    def count(items: Any, json: bytes) -> bool:
        compared.append(len(items))
        return are_encoded(items, json)

    monkeypatch.setattr(kept, "_are_encoded", count)
    asked = Asked(name)
    asked.observer = conversation_of
    for _ in range(5):
        grown(asked, 5)
        asked.bytes(long=12)

    assert all(length == 1 for length in compared)

    asked.hook = conversation_of
    asked.bytes(long=12)

    assert sum(compared) > 50


@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3"])
@pytest.mark.parametrize("back", [0, 3, 7, 12])
def test_what_an_observer_changes_by_mistake_is_sent_in_no_later_request(name: str, back: int) -> None:
    asked = Asked(name)
    grown(asked, 5)
    asked.observer = spoil_all
    asked.bytes(long=12)
    asked.observer = conversation_of
    grown(asked, 5)
    asked.bytes(long=12)
    del asked.messages[len(asked.messages) - back :]
    asked.messages.append(UserMessage(content="and now?", timestamp=1))

    assert same_both_ways(asked)


def spoil_all(payload: Any) -> None:
    """Change each message of a payload in place."""
    for message in conversation_of(payload):
        for block in message.get("content", message.get("parts")) or [message]:
            (block if isinstance(block, dict) else message)["changed"] = 1


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each request adds how many messages were encoded."""
    counts: list[int] = []
    kept_messages = kept.kept_messages

    def count(messages: Any, turns: Any, extend: Any, *rest: Any, **more: Any) -> Any:
        counts.append(0)

        def counting(sent: Any, added: Any, number: int) -> None:
            counts[-1] += len(added)
            extend(sent, added, number)

        counting.__module__ = extend.__module__
        return kept_messages(messages, turns, counting, *rest, **more)

    monkeypatch.setattr(kept, "kept_messages", count)
    return counts


@pytest.mark.parametrize("name", ASKED)
def test_a_request_encodes_the_messages_that_are_new(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(name)
    grown(asked, 100)
    asked.messages.append(UserMessage(content="and now?", timestamp=1))
    counts = counted(monkeypatch)
    for _ in range(3):
        asked.bytes(long=12)
        asked.messages.pop()
        grown(asked, 1)
        asked.messages.append(UserMessage(content="and now?", timestamp=1))

    assert counts[0] == 401
    assert all(count <= 6 for count in counts[1:])


@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3", "mistral", "claude at bedrock"])
def test_a_request_after_a_change_encodes_from_the_turn_that_changed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(name)
    grown(asked, 100)
    asked.messages.append(UserMessage(content="and now?", timestamp=1))
    counts = counted(monkeypatch)
    asked.bytes(long=12)
    asked.messages[361].content[0].arguments["path"] = "another.py"
    asked.bytes(long=12)
    del asked.messages[380:]
    asked.messages.append(UserMessage(content="another way", timestamp=1))
    asked.bytes(long=12)

    assert counts == [401, 40, 2]


def test_an_object_in_two_payloads_is_the_same_message_where_it_is_known_as_unchanged() -> None:
    asked = Asked("anthropic")
    grown(asked, 5)
    payloads: list[list[Any]] = []

    def hook(payload: Any) -> None:
        payloads.append(payload["messages"])
        if len(payloads) == 2:
            payload["messages"][6]["content"] = "changed"

    asked.hook = hook
    for _ in range(4):
        asked.messages.append(UserMessage(content="and now?", timestamp=1))
        asked.bytes(long=12)
        asked.messages[-1:] = [UserMessage(content="and?", timestamp=1), asked.messages[3]]
    first, second, third, fourth = payloads

    assert kept.unchanged_elements(first) == range(0)  # it is the last two that are known
    assert kept.unchanged_elements(third).stop >= 20
    assert all(one is other for one, other in zip(third[:20], fourth[:20], strict=True))
    assert second[6]["content"] == "changed"
    assert all(one is not second[6] for one in (*first, *third))


def test_nothing_else_is_kept_than_the_last_conversations() -> None:
    asked = Asked("anthropic")
    for number in range(20):
        asked.session = str(number)
        asked.messages = []
        grown(asked, 4)
        asked.messages.append(UserMessage(content="and now?", timestamp=1))
        asked.bytes(long=12)

    assert [each.key[0] for each in kept._kept] == [str(number) for number in range(4, 20)]


def test_a_conversation_larger_than_the_limit_is_not_kept_and_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_BYTES", 10_000)
    other, asked = Asked("anthropic"), Asked("anthropic")
    grown(other, 4)
    other.bytes(long=12)
    (small,) = kept._kept
    asked.session = "two"
    grown(asked, 4)
    asked.messages.append(UserMessage(content="x" * 10_000, timestamp=1))

    assert asked.bytes(long=12) == asked.bytes(long=10**9)
    assert kept._kept == [small]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3"])
def test_the_longest_histories_are_encoded_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(name)
    grown(asked, 12_500)
    asked.messages.append(UserMessage(content="and now?", timestamp=1))
    counts = counted(monkeypatch)
    asked.bytes(long=12)
    grown(asked, 1)
    joined = asked.bytes(long=12)

    assert counts[0] == 50_001
    assert counts[1] <= 7
    assert joined == asked.bytes(long=10**9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anthropic", "completions", "responses", "gemini 3"])
def test_ten_thousand_calls_in_one_turn_are_encoded_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(name)
    grown(asked, 4)
    _, answer, result, _ = asked.messages[:4]
    calls = tuple(ToolCall(f"call_{number}", "read", {"path": f"{number}.py"}) for number in range(100, 10_100))
    asked.messages.append(evolve(answer, content=calls))
    asked.messages += [evolve(result, tool_call_id=call.id) for call in calls]
    counts = counted(monkeypatch)
    asked.bytes(long=12)
    grown(asked, 1)
    del asked.messages[-4]  # the turn goes on with an answer
    joined = asked.bytes(long=12)

    assert counts[0] == 10_017
    assert counts[1] <= 4
    assert joined == asked.bytes(long=10**9)


@pytest.mark.slow
def test_a_message_of_fifty_megabytes_is_sent_whole() -> None:
    asked = Asked("anthropic")
    grown(asked, 4)
    asked.messages.append(UserMessage(content="line\n" * 10_000_000, timestamp=1))
    for _ in range(2):
        grown(asked, 1)
        joined = asked.bytes(long=12)

        assert len(joined) > 60_000_000
        assert joined == asked.bytes(long=10**9)
