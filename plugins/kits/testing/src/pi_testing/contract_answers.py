"""The contract of successful answers: what the API sends arrives, complete and in order."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

import pytest
from attrs import evolve

from pi_core import dumps
from pi_hookspecs import ThinkingContent, ToolCall, Usage, UserMessage
from pi_testing.contract_case import Calls, Says, Thinks, needs
from pi_testing.contract_listen import QUESTION, asking, everything_in, listen
from pi_testing.stand_ins import make_tool
from pi_testing.tables import for_each

if TYPE_CHECKING:
    from typing import Any

    from pi_hookspecs import Model, Tool
    from pi_testing.contract_case import ProviderCase

__all__ = ["AnswersContract"]

MIXED = 'Gr\u00fc\u00dfe \N{SNOWMAN} \N{GRINNING FACE} \u05e9\u05dc\u05d5\u05dd e\u0301 \u2028 \u0085 \\ " \t end\n'
READ = Calls("call_1", "read", {"path": "a.txt"})
WRITE = Calls("call_2", "write", {"path": "\u00e4/\N{SNOWMAN}", "lines": [1, 2.5, None, True], "deep": {"x": {}}})
TOOLS = tuple(make_tool(name) for name in ("read", "write"))

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "ids": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 0}}}},
    },
    "required": ["name"],
}


class AnswersContract:
    """Tests of the conversion of successful answers."""

    async def test_text_comes_in_its_deltas(self, case: ProviderCase) -> None:
        case.text("Hel", "lo", ".")
        reply = await listen(case)

        assert reply.types == ["start", "text_start", *["text_delta"] * 3, "text_end", "done"]
        assert reply.deltas == ["Hel", "lo", "."]
        assert (reply.done.text, reply.done.stop_reason) == ("Hello.", "stop")

    @for_each("deltas", [(MIXED,), tuple(MIXED)])
    async def test_text_of_all_scripts_arrives_as_it_is(self, case: ProviderCase, deltas: tuple[str, ...]) -> None:
        case.text(*deltas)
        reply = await listen(case)

        assert reply.done.text == MIXED

    @needs("thinking")
    async def test_thinking_is_a_block_before_the_text(self, case: ProviderCase) -> None:
        case.answers(Thinks(("Hm, ", MIXED)), Says(("So.",)))
        reply = await listen(case, reasoning="medium")

        assert [block.type for block in reply.done.content] == ["thinking", "text"]
        thought = reply.done.content[0]
        assert isinstance(thought, ThinkingContent)
        assert thought.thinking == f"Hm, {MIXED}"
        assert reply.types.index("thinking_end") < reply.types.index("text_start")

    @for_each("tools", [(), TOOLS])
    async def test_an_answer_may_be_asked_for_in_a_schema(self, case: ProviderCase, tools: tuple[Tool, ...]) -> None:
        case.text('{"name": "Ada"}')
        reply = await listen(case, asking(tools=tools), output_schema=PERSON)

        assert reply.done.text == '{"name": "Ada"}'

    @needs("tools")
    async def test_a_call_has_its_arguments(self, case: ProviderCase) -> None:
        case.tool_calls([WRITE])
        reply = await listen(case, asking(tools=TOOLS))

        assert reply.done.stop_reason == "toolUse"
        assert [(call.name, call.arguments) for call in reply.done.tool_calls] == [("write", WRITE.arguments)]
        assert reply.done.tool_calls[0].arguments_error is None

    @needs("tools")
    async def test_a_call_without_arguments_has_none(self, case: ProviderCase) -> None:
        case.tool_calls([Calls("call_1", "read", {})])
        reply = await listen(case, asking(tools=TOOLS))

        call = reply.done.tool_calls[0]
        assert (call.arguments, call.arguments_error) == ({}, None)

    @needs("tools")
    async def test_parallel_calls_stay_apart_and_in_order(self, case: ProviderCase) -> None:
        case.tool_calls([READ, WRITE, Calls("call_3", "read", {"path": "c"})], "Looking.")
        reply = await listen(case, asking(tools=TOOLS))

        assert [type(block) for block in reply.done.content[1:]] == [ToolCall] * 3
        calls = reply.done.tool_calls
        assert [(call.name, call.arguments.get("path")) for call in calls] == [
            ("read", "a.txt"),
            ("write", "\u00e4/\N{SNOWMAN}"),
            ("read", "c"),
        ]
        assert len({call.id for call in calls}) == len(calls)

    @needs("tools", "broken_arguments")
    async def test_arguments_that_are_no_json_never_look_like_none(self, case: ProviderCase) -> None:
        case.tool_calls([Calls("call_1", "read", {}, raw='{"path": "a.t')])
        reply = await listen(case, asking(tools=TOOLS))

        assert all(call.arguments_error for call in reply.message.tool_calls), reply.message.tool_calls

    @needs("tools", "broken_arguments", "length")
    async def test_half_a_call_of_an_answer_that_was_too_long_never_runs(self, case: ProviderCase) -> None:
        case.answers(Says(("I",)), Calls("call_1", "write", {}, raw='{"path": "a", "content": "ha'), length=True)
        reply = await listen(case, asking(tools=TOOLS))

        assert reply.message.text == "I", reply.message.error_message
        assert reply.message.stop_reason in ("length", "error")
        assert all(call.arguments_error for call in reply.message.tool_calls), reply.message.tool_calls

    @needs("length")
    async def test_an_answer_that_was_too_long_says_so(self, case: ProviderCase) -> None:
        case.answers(Says(("cut o",)), length=True)
        reply = await listen(case)

        assert (reply.done.text, reply.done.stop_reason) == ("cut o", "length")

    async def test_an_empty_answer_is_one(self, case: ProviderCase) -> None:
        case.empty()
        reply = await listen(case)

        assert reply.message.content == (), reply.message.error_message
        assert reply.message.stop_reason in ("stop", "error")

    async def test_an_empty_text_says_nothing(self, case: ProviderCase) -> None:
        case.text("")
        reply = await listen(case)

        assert (reply.message.text, reply.message.tool_calls) == ("", ()), reply.message.error_message

    @needs("usage")
    async def test_tokens_and_their_price_are_counted_once(self, case: ProviderCase) -> None:
        await _check_usage(case, cached=0)

    @needs("usage", "cached_usage")
    async def test_tokens_from_a_cache_are_counted_apart(self, case: ProviderCase) -> None:
        await _check_usage(case, cached=300)

    @needs("bytes", "thinking", "tools")
    @for_each("size", [1, 2, 3, 7])
    async def test_however_the_network_splits_it_the_answer_is_the_same(self, case: ProviderCase, size: int) -> None:
        answer = case.recorded(Thinks(("Hm, ", MIXED)), Says(("So ", MIXED)), READ, WRITE)
        case.sends(answer)
        pieces = (each for piece in answer.in_pieces(size).pieces for each in (piece, _Pause()))
        case.sends(evolve(answer, pieces=tuple(pieces)))
        whole = await listen(case, asking(tools=TOOLS), reasoning="medium")
        split = await listen(case, asking(tools=TOOLS), reasoning="medium")

        assert whole.done.stop_reason == "toolUse"
        assert split.done.content == whole.done.content
        assert (split.types, split.deltas) == (whole.types, whole.deltas)

    @needs("bytes")
    async def test_halves_of_a_character_in_two_deltas_meet(self, case: ProviderCase) -> None:
        answer = case.recorded(Says(("so <high>", "<low>.")))
        body = answer.body.replace(b"<high>", rb"\ud83d").replace(b"<low>", rb"\ude00")
        case.sends(evolve(answer, pieces=(body,)))
        reply = await listen(case)

        assert "so \N{GRINNING FACE}.".encode() in dumps(reply.done)
        assert all(delta.encode() for delta in reply.deltas), "a front end cannot print half a character"

    async def test_two_answers_at_once_do_not_mix(self, case: ProviderCase) -> None:
        case.text("one ", "one")
        case.text("two ", "two")
        reply = await asyncio.gather(listen(case), listen(case))

        assert sorted(each.done.text for each in reply) == ["one one", "two two"]

    @needs("hooks", "requests")
    async def test_what_a_hook_makes_of_the_payload_is_sent(self, case: ProviderCase) -> None:
        seen: list[Any] = []

        async def replace(payload: Any, _model: Model) -> Any:
            seen.append(payload)
            return _replaced(payload, QUESTION, "Another question")

        async def note(status: int, headers: dict[str, str]) -> None:
            seen.append((status, headers))

        case.text("Hello")
        reply = await listen(case, on_payload=replace, on_response=note)

        assert reply.done.text == "Hello"
        assert QUESTION in everything_in(seen[0])
        assert "Another question" in everything_in(case.sent())
        assert QUESTION not in everything_in(case.sent())
        assert seen[1][0] == HTTPStatus.OK

    @needs("hooks")
    @for_each("hook", ["on_payload", "on_response"])
    async def test_a_hook_that_fails_is_an_answer(self, case: ProviderCase, hook: str) -> None:
        async def fail(*_: Any) -> None:
            raise ValueError("the hook's own words")

        options: dict[str, Any] = {hook: fail}
        case.text("Hello")
        reply = await listen(case, **options)

        assert "the hook's own words" in reply.error

    @needs("requests", "tools")
    async def test_prompt_tools_and_question_are_sent(self, case: ProviderCase) -> None:
        case.text("Hello")
        question = UserMessage(content=MIXED, timestamp=1)
        await listen(case, asking(question, system_prompt="Be brief \N{SNOWMAN}.", tools=TOOLS))

        sent = everything_in(case.sent())
        assert all(text in sent for text in ("Be brief \N{SNOWMAN}.", MIXED, "read", "write", case.model.id))


async def _check_usage(case: ProviderCase, cached: int) -> None:
    """Let the API count tokens, and compare what the message reports about them and their price."""
    case.answers(Says(("Hello",)), usage=Usage(input=1000, output=20, cache_read=cached))
    reply = await listen(case)

    usage, cost = reply.done.usage, case.model.cost
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (1000, 20, cached, 0)
    assert usage.total_tokens == 1000 + 20 + cached
    assert cost.input, "the case's model needs prices"
    expected = (1000 * cost.input + 20 * cost.output + cached * cost.cache_read) / 1_000_000
    assert usage.cost.total == pytest.approx(expected)


class _Pause(asyncio.Event):
    """Where the server lets the client read first: what it writes in one go arrives in one piece."""

    async def wait(self) -> Literal[True]:
        for _ in range(4):
            await asyncio.sleep(0)
        return True


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _replaced(item, old, new) for key, item in value.items()}
    return [_replaced(item, old, new) for item in value] if isinstance(value, list) else value
