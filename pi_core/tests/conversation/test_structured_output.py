"""Answers that are data: asked for, checked, sent back once, and given as values of the type."""

from __future__ import annotations

import asyncio
import collections.abc
import dataclasses
import json
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Literal, TypedDict

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import OutputType, UsageLimits, output_converter
from pi_core.conversation.structured_output import OutputFormat
from pi_hookspecs import (
    Aborted,
    Command,
    InvalidOutput,
    PiError,
    RequestFailed,
    UsageLimitExceeded,
    UserError,
    hookimpl,
)
from pi_testing import error, make_tool, stall, text, tool_call, usage


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


@attrs.frozen
class Cat:
    """A cat.

    Attributes:
        name: As it is called.
        lives: How many are left.
    """

    name: str
    lives: int = attrs.field(default=9, validator=attrs.validators.ge(0))


@dataclasses.dataclass
class Zoo:
    cats: list[Cat]
    mood: Mood = Mood.GOOD


class Place(TypedDict):
    city: str
    zip: str | None


@attrs.frozen
class Trip:
    _to: str
    day: date
    back: date | None = None


DATES = {date: {"type": "string", "format": "date"}}

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("output_type", "reply", "value"),
    [
        (Cat, '{"name": "Tom"}', Cat("Tom")),
        (Zoo, '{"cats": [{"name": "Tom", "lives": 7}], "mood": "bad"}', Zoo([Cat("Tom", 7)], Mood.BAD)),
        (Place, '{"city": "Ulm", "zip": null}', {"city": "Ulm", "zip": None}),
        (SCHEMA, '{"n": 3}', {"n": 3}),
        (int, '{"result": 3}', 3),
        (int, "3", 3),
        (bool, '{"result": true}', True),
        (list[Cat], '{"result": [{"name": "Tom"}]}', [Cat("Tom")]),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Literal["a", "b"], '{"result": "b"}', "b"),
        (int | None, '{"result": null}', None),
        (Cat, 'Here it is:\n```json\n{"name": "Tom"}\n```\nDone.', Cat("Tom")),
        (Cat, 'Sure! {"name": "Tom"} is the cat.', Cat("Tom")),
        (Cat, '{"name": "Tom", "lives": null}', Cat("Tom")),
        (Cat | int, '{"result": {"name": "Tom"}}', Cat("Tom")),
        (list[Cat | str], '{"result": ["Tom", {"name": "Tom"}]}', ["Tom", Cat("Tom")]),
        (str | list[int] | None, '{"result": [1]}', [1]),
        (tuple[Mood, ...], '["bad"]', (Mood.BAD,)),
        (collections.abc.Sequence[Cat], '[{"name": "Tom"}]', [Cat("Tom")]),
        (dict[str, Cat], '{"a": {"name": "Tom"}}', {"a": Cat("Tom")}),
        (Path, '{"result": "a/b"}', Path("a/b")),
        (float, "3", 3.0),
    ],
)
async def test_the_output_is_a_value_of_the_type(session_of, script, output_type, reply, value):
    session = session_of()
    script.turn(text(reply))

    answer = await session.ask("Which cat?", output_type=output_type)

    assert answer.output == value
    assert type(answer.output) is type(value)
    assert answer == reply
    assert len(script.requests) == 1


async def test_the_schema_goes_into_the_prompt_and_the_options_of_every_request(session_of, script):
    session = session_of(tools=[make_tool("look", "a cat")])
    script.turn(tool_call("look")).turn(text('{"name": "Tom"}'))

    await session.ask("Which cat?", output_type=Cat)

    schemas = [request.options.output_schema for request in script.requests]
    assert schemas[0]["properties"]["name"] == {"type": "string", "description": "As it is called."}
    assert schemas == [schemas[0]] * 2
    assert all(json.dumps(schemas[0]) in request.system_prompt for request in script.requests)


async def test_the_next_prompt_is_asked_for_text_again(session_of, script):
    session = session_of()
    script.turn(text('{"name": "Tom"}')).turn(text("Hello."))
    await session.ask("Which cat?", output_type=Cat)

    await session.prompt("Hi")

    assert script.requests[1].options.output_schema is None
    assert "JSON" not in script.requests[1].system_prompt


async def test_a_plugin_that_replaces_the_system_prompt_keeps_the_format(session_of, script):
    from pi_hookspecs import BeforeAgentStartResult

    class Pirate:
        @hookimpl
        def before_agent_start(self, event):
            return BeforeAgentStartResult(system_prompt="Arr.")

    session = session_of(Pirate())
    script.turn(text('{"name": "Tom"}'))

    await session.ask("Which cat?", output_type=Cat)

    assert script.requests[0].system_prompt.startswith("Arr.")
    assert '"lives"' in script.requests[0].system_prompt


async def test_an_answer_that_does_not_fit_is_sent_back_once(session_of, script):
    session = session_of()
    script.turn(text('{"lives": "many"}'), usage(input=10, output=1)).turn(text('{"name": "Tom"}'), usage(input=20))

    answer = await session.ask("Which cat?", output_type=Cat)

    correction = script.requests[1].user_text
    assert answer.output == Cat("Tom")
    assert answer.usage.input == 30
    assert "root: must have required properties name" in correction.replace("name: must", "root: must")
    assert "lives: must be integer" in correction
    assert [message.role for message in answer.messages] == ["user", "assistant"] * 2


async def test_the_message_of_a_types_validator_goes_back_too(session_of, script):
    session = session_of()
    script.turn(text('{"name": "Tom", "lives": -1}')).turn(text('{"name": "Tom", "lives": 1}'))

    answer = await session.ask("Which cat?", output_type=Cat)

    assert answer.output == Cat("Tom", 1)
    assert "'lives' must be >= 0" in script.requests[1].user_text


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("I do not know.", "not a JSON object"),
        ('{"n": 0}', "n: must be >= 1"),
        ('{"n": "1"}', "n: must be integer"),
        ('{"n": null}', "n: must be integer"),
        ('{"n": NaN}', "not a JSON object"),
    ],
)
async def test_an_answer_that_never_fits_is_an_error_that_keeps_the_text(session_of, script, answer, problem):
    session = session_of()
    script.turn(text("No.")).turn(text(answer))

    with pytest.raises(InvalidOutput, match=problem) as caught:
        await session.ask("How many?", output_type=SCHEMA)

    assert caught.value.text == answer
    assert len(script.requests) == 2


async def test_a_correction_is_part_of_the_limits(session_of, script):
    session = session_of()
    script.turn(text("No.")).turn(text('{"n": 1}'))

    with pytest.raises(UsageLimitExceeded):
        await session.ask("How many?", output_type=SCHEMA, limits=UsageLimits(requests=1))

    assert len(script.requests) == 1


@pytest.mark.parametrize("output_type", [str, None])
async def test_without_a_type_the_output_is_the_text(session_of, script, output_type):
    session = session_of()
    script.turn(text("Tom."), usage(input=3, output=1))

    answer = await session.ask("Which cat?", output_type=output_type)

    assert (answer, answer.output, answer.usage.total_tokens) == ("Tom.", "Tom.", 4)
    assert [message.role for message in answer.messages] == ["user", "assistant"]
    assert script.requests[0].options.output_schema is None


async def test_the_messages_are_those_of_this_prompt(session_of, script):
    session = session_of(tools=[make_tool("look", "a cat")])
    script.turn(text("1")).turn(tool_call("look")).turn(text("2"))
    await session.ask("first")

    answer = await session.ask("second")

    assert [message.text for message in answer.messages] == ["second", "", "a cat", "2"]


async def test_a_failed_request_and_an_abort_are_errors(session_of, script):
    session = session_of()
    script.turn(error("400 on fire")).turn(text("half"), stall())

    with pytest.raises(RequestFailed, match="400 on fire"):
        await session.ask("first")
    asking = asyncio.create_task(session.ask("second"))
    await script.stalled()
    await session.abort()
    with pytest.raises(Aborted):
        await asking


async def test_a_command_has_a_text_and_no_data(session_of):
    class Commands:
        @hookimpl
        def register_commands(self):
            return [Command(name="deal", handler=lambda arguments, ctx: None)]

    session = session_of(Commands())

    assert await session.ask("/deal") == ""
    with pytest.raises(PiError, match="no answer to convert to output_type"):
        await session.ask("/deal", output_type=Cat)


@pytest.mark.parametrize("output_type", [object, list[object], complex, tuple[int, str]])
async def test_a_type_without_json_is_refused_before_anything_is_asked(session_of, script, output_type):
    session = session_of()

    with pytest.raises(TypeError, match="output_type is annotated"):
        await session.ask("hi", output_type=output_type)

    assert not script.requests


async def test_a_broken_schema_is_refused_before_anything_is_asked(session_of, script):
    session = session_of()

    with pytest.raises(UserError, match="output_type is not a valid JSON schema: type: 'nonsense'"):
        await session.ask("hi", output_type={"type": "nonsense"})

    assert not script.requests


async def test_a_pydantic_model_is_a_type(session_of, script):
    pydantic = pytest.importorskip("pydantic")

    class Dog(pydantic.BaseModel):
        name: str
        age: int = pydantic.Field(ge=0)

    class Kennel(pydantic.BaseModel):
        dogs: list[Dog]

    session = session_of()
    script.turn(text('{"dogs": [{"name": "Rex", "age": -1}]}')).turn(text('{"dogs": [{"name": "Rex", "age": 3}]}'))

    answer = await session.ask("Which dogs?", output_type=Kennel)

    assert answer.output == Kennel(dogs=[Dog(name="Rex", age=3)])


def dates():
    converter = output_converter(DATES)
    converter.register_structure_hook(date, lambda text, _: date.fromisoformat(text))
    return converter


async def test_a_converter_reads_types_of_the_program(session_of, script):
    session = session_of()
    script.turn(text('{"to": "Ulm", "day": "2026-02-03", "back": "2026-02-04"}'))

    answer = await session.ask("When?", output_type=OutputType(Trip, converter=dates(), schemas=DATES))

    assert answer.output == Trip("Ulm", date(2026, 2, 3), date(2026, 2, 4))
    assert script.requests[0].options.output_schema["properties"]["day"] == {"type": "string", "format": "date"}


def test_what_a_hook_refuses_is_an_invalid_output_with_its_path():
    output = OutputFormat(OutputType(list[Trip], converter=dates(), schemas={date: {"type": "string"}}))

    with pytest.raises(InvalidOutput) as caught:
        output.value_of('[{"to": "Ulm", "day": "2026-02-03"}, {"to": "Ulm", "day": "some day"}]')

    assert str(caught.value) == "- Invalid isoformat string: 'some day' @ $[1].day"


def test_a_schema_without_a_hook_that_reads_the_type_is_refused_at_once():
    with pytest.raises(TypeError, match=r"schema for <class 'datetime.date'>, but nothing converts answers to it"):
        OutputFormat(OutputType(Trip, schemas=DATES))


def test_definitions_stay_where_references_point():
    asked = {"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "integer"}}}

    output = OutputFormat(asked)

    assert output.value_of('{"result": [1, 2]}') == [1, 2]
    with pytest.raises(InvalidOutput, match="must be integer"):
        output.value_of('{"result": ["x"]}')


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=plain, before=st.sampled_from(["", "Here:\n", "I thought. "]), fence=st.booleans())
def test_any_json_is_found_in_what_models_write_around_it(value, before, fence):
    written = json.dumps({"result": value})
    answer = f"{before}```json\n{written}\n```\n" if fence else before + written

    assert OutputFormat({}).value_of(answer) == value


@given(st.text(max_size=60))
def test_any_answer_of_a_model_is_a_value_or_an_invalid_output(answer):
    output = OutputFormat(Cat)
    try:
        assert isinstance(output.value_of(answer), Cat)
    except InvalidOutput as error:
        assert error.text == answer  # noqa: PT017 - either will do
