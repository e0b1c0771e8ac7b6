"""Tools under the names that an API accepts, in declarations, calls and results, and back."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import AssistantMessage, Model, TextContent, ToolCall, ToolResultMessage
from pi_provider_kit import RULES, AnswerBuilder, SentTools, transform_messages
from pi_provider_kit.tool_schemas import renames_properties
from pi_testing import for_each
from pi_testing.stand_ins import make_tool

CLAUDE = Model(id="c", name="C", api="anthropic-messages", provider="anthropic")
GEMINI = evolve(CLAUDE, api="google-generative-ai")
UNKNOWN = evolve(CLAUDE, api="acme")


def sent(*names, model=CLAUDE):
    return SentTools([make_tool(name) for name in names], model)


@for_each(
    ("name", "claude", "gemini"),
    [
        ("read", "read", "read"),
        ("browser.tabs.open", "browser_tabs_open", "browser.tabs.open"),
        ("bash<|channel|>commentary", "bash__channel__commentary", "bash__channel__commentary"),
        (" bash ", "_bash_", "_bash_"),
        ("", "_", "_"),
        ("3d", "3d", "_3d"),
        ("Dateien lesen", "Dateien_lesen", "Dateien_lesen"),
        ("x" * 269, "x" * 64, "x" * 64),
        ("a" * 64, "a" * 64, "a" * 64),
    ],
)
def test_a_name_is_made_to_fit_the_api(name, claude, gemini):
    for model, expected in ((CLAUDE, claude), (GEMINI, gemini), (UNKNOWN, name)):
        assert sent(name, model=model).names == [expected]
        assert sent(model=model).sent(name) == expected  # also a tool that is not offered


def test_names_that_would_be_the_same_stay_apart_and_those_that_fit_stay_as_they_are():
    tools = sent("my.tool", "my_tool", "my:tool", "x" * 65, "x" * 64)

    assert tools.names == ["my_tool_2", "my_tool", "my_tool_3", "x" * 59 + "_2", "x" * 64]
    assert [tools.ours(name) for name in tools.names] == tools.tool_names


def test_a_made_up_name_is_not_taken_for_a_tool_that_it_looks_like():
    tools = sent("my_tool")

    assert (tools.sent("my.tool"), tools.sent("my_tool")) == ("my_tool_2", "my_tool")
    assert tools.ours("my.tool") == "my.tool"


def test_of_two_tools_with_one_name_the_first_is_sent():
    first, second = make_tool("read"), evolve(make_tool("read"), description="Another.")

    assert [tool.description for tool in SentTools([first, second], CLAUDE)] == [first.description]


def test_a_schema_is_converted_once_and_again_when_it_was_changed_in_place():
    tool = evolve(make_tool("read"), parameters={"type": "object"})
    first, second = (next(iter(SentTools([tool], CLAUDE))).parameters for _ in range(2))
    tool.parameters["properties"] = {"$.a": {"type": "string"}}
    (changed,) = SentTools([tool], CLAUDE)
    (other,) = SentTools([tool], GEMINI)

    assert first is second
    assert [*changed.parameters["properties"]] == ["_.a"]
    assert [*other.parameters["properties"]] == ["$.a"]


def test_calls_and_results_have_the_names_of_the_tools_as_they_are_sent():
    call = ToolCall("1", "my.tool", {})
    answer = AssistantMessage(content=(call,), api="acme", provider="acme", model="m", timestamp=1)
    result = ToolResultMessage(tool_call_id="1", tool_name="an old name", content=(TextContent("ok"),), timestamp=1)

    one, other = transform_messages([answer, result], CLAUDE, tools=sent("my.tool", "my_tool"), whole=False)

    assert one.tool_calls[0].name == other.tool_name == "my_tool_2"
    assert (call.name, result.tool_name) == ("my.tool", "an old name")


def test_an_api_of_an_id_of_its_own_may_have_the_rules_of_another():
    tools = SentTools([make_tool("my.tool")], UNKNOWN, RULES["anthropic-messages"])
    call = ToolCall("1", "my.tool", {})
    answer = AssistantMessage(content=(call, TextContent("a")), api="x", provider="x", model="m", timestamp=1)

    (_, sent_answer, *_) = transform_messages([answer], UNKNOWN, tools=tools)

    assert tools.names == ["my_tool"]
    assert [block.type for block in sent_answer.content] == ["text", "toolCall"]


def test_a_call_of_the_answer_gets_the_tool_s_own_name_and_arguments():
    tool = evolve(make_tool("my.tool"), parameters={"type": "object", "properties": {"$.a": {"type": "string"}}})
    builder = AnswerBuilder(CLAUDE, SentTools([tool], CLAUDE))
    builder.start()
    start = builder.tool_call_start("1", "my_tool")
    builder.tool_call(start.content_index, '{"_.a": "x", "other": 1}')
    end = builder.tool_call_end(start.content_index)
    done = builder.done()

    assert start.partial.tool_calls[0].name == "my.tool"
    assert end.tool_call == done.message.tool_calls[0] == ToolCall("1", "my.tool", {"$.a": "x", "other": 1})


def test_repaired_arguments_are_the_tool_s_own_too():
    tool = evolve(make_tool("go"), parameters={"type": "object", "properties": {"$.a": {"type": "string"}}})
    builder = AnswerBuilder(CLAUDE, SentTools([tool], CLAUDE))
    start = builder.tool_call_start("1", "go")
    builder.tool_call(start.content_index, '{"_.a": "x",}')
    builder.tool_call_end(start.content_index)

    assert builder.done().message.tool_calls[0].arguments == {"$.a": "x"}


def test_a_tool_is_looked_at_once_however_many_calls_an_answer_has(monkeypatch):
    looked_at = []

    def renames(parameters, rules):
        looked_at.append(parameters)
        return renames_properties(parameters, rules)

    monkeypatch.setattr("pi_provider_kit.sent_tools.renames_properties", renames)
    renamed = evolve(make_tool("b"), parameters={"type": "object", "properties": {"$.a": {"type": "string"}}})
    tools = SentTools([make_tool("a"), renamed], CLAUDE)
    arguments = {"_.a": "x"}

    assert all(tools.arguments("a", arguments) is arguments for _ in range(100))
    assert all(tools.arguments("b", arguments) == {"$.a": "x"} for _ in range(100))
    assert len(looked_at) == 2


NAMES = st.text(max_size=80) | st.sampled_from(["my.tool", "my_tool", "my_tool_2", "_", "x" * 70, "x" * 64])


@pytest.mark.parametrize("api", sorted(RULES))
@given(tools=st.lists(NAMES, max_size=6), others=st.lists(NAMES, max_size=4))
def test_any_names_fit_are_unique_and_find_their_way_back(api, tools, others):
    made = sent(*tools, model=evolve(CLAUDE, api=api))
    rule = RULES[api].tools
    every = [*made.names, *map(made.sent, others)]

    assert all(re.fullmatch(f"[{rule.characters}]{{1,{rule.longest}}}", name) for name in every)
    assert len(set(made.names)) == len(set(tools))
    assert [made.ours(made.sent(name)) for name in tools] == tools
    assert all(made.sent(name) not in made.names for name in others if name not in tools)
