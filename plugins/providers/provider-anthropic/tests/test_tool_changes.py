"""Changes of tools and of the thinking level are told within the conversation; what was before it stays."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import AssistantMessage, StreamOptions, TextContent, ToolCall, ToolResultMessage, UserMessage
from pi_provider_anthropic.compat import Compat
from pi_provider_anthropic.identity import ToolNames, is_oauth, to_headers
from pi_provider_anthropic.payload import to_payload
from pi_provider_anthropic.tool_changes import PLACEHOLDER, ToolChanges

FLAGS = {
    "forceAdaptiveThinking": True,
    "supportsMidConvoSystemMessages": True,
    "supportsMidConvoToolChanges": True,
    "supportsMidConvoEffort": True,
}
LEVELS = {"minimal": None, "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}
MARK = {"type": "ephemeral"}
HIGH = {"role": "system", "content": [], "output_config": {"effort": "high"}}


@pytest.fixture
def request_of(model, context, tool):
    """Make the body of a request of a session whose earlier tools are known."""
    changes = ToolChanges()

    def make(*messages, tools=("read",), compat=FLAGS, prompt="", **options):
        asked = model(compat=compat, reasoning=True, thinking_level_map=LEVELS)
        options = StreamOptions(**{"api_key": "k", "session_id": "s", "reasoning": "high", **options})
        offered = tuple(evolve(tool(), name=each) if isinstance(each, str) else each for each in tools)
        names = ToolNames(offered, asked, claude_code=is_oauth(options.api_key))
        asked_context = context(*messages, tools=offered, system_prompt=prompt)
        body = to_payload(asked, asked_context, options, Compat.of(asked), names, changes=changes)
        make.betas = to_headers(asked, (), options, Compat.of(asked), body).get("anthropic-beta", "")
        return body

    return make


def user(content):
    return UserMessage(content=content, timestamp=1)


def answer(*content, level="high", **fields):
    known = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-fake", "timestamp": 2}
    return AssistantMessage(content=content, thinking_level=level, **{**known, **fields})


def names_of(body):
    return [each["name"] for each in body["tools"]]


def test_the_first_request_lists_its_tools_and_a_placeholder_that_never_changes(request_of):
    body = request_of(user("hi"), prompt="Be brief.")

    assert names_of(body) == ["read", PLACEHOLDER["name"]]
    assert [each.get("cache_control") for each in body["tools"]] == [MARK, None]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": MARK}]},
        HIGH,
    ]
    assert body["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    assert body["output_config"] == {"effort": "low"}
    assert "inline-tools-2026-09-15" in request_of.betas
    assert "mid-conversation-output-config-2026-07-01,thinking-binding-controls-2026-08-01" in request_of.betas


def test_a_change_of_tools_follows_the_results_before_it_and_stays_there(request_of):
    call = answer(ToolCall("toolu_1", "read", {}))
    result = ToolResultMessage(
        tool_call_id="toolu_1", tool_name="read", content=(TextContent("done"),), is_error=False, timestamp=3
    )
    request_of(user("go"), tools=("read", "bash"))
    changed = request_of(user("go"), call, result, tools=("read", "write"))
    more = answer(TextContent("ok"), level="max"), user("on")
    later = request_of(user("go"), call, result, *more, tools=("read", "write"))

    (definition,) = [block["tool"]["definition"] for block in changed["messages"][-2]["content"][1:]]
    assert names_of(changed) == names_of(later) == ["read", "bash", PLACEHOLDER["name"]]
    assert definition["name"] == "write"
    assert changed["messages"][-2]["content"] == [
        {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "bash"}},
        {
            "type": "tool_addition",
            "tool": {"type": "tool_definition", "definition": definition},
            "cache_control": MARK,
        },
    ]
    assert [each["role"] for each in later["messages"]] == [
        *("user", "system", "assistant", "user"),
        *("system", "system", "assistant", "user", "system"),
    ]
    assert [each.get("output_config", {}).get("effort") for each in later["messages"] if each["role"] == "system"] == [
        *("high", None, "max", "high")
    ]


def test_a_tool_that_is_declared_differently_is_added_again(request_of, tool):
    other = evolve(tool(), name="read", description="Read two files.")
    request_of(user("go"))

    body = request_of(user("go"), answer(TextContent("ok")), user("on"), tools=(other,))

    (block,) = body["messages"][-2]["content"]
    assert block["tool"]["definition"]["description"] == "Read two files."


def test_after_a_compaction_or_in_another_session_the_tools_are_listed_anew(request_of):
    request_of(user("go"))
    request_of(user("go"), answer(TextContent("ok")), user("on"), tools=("read", "write"))

    others = {"session_id": "other"}, {"continues": False}, {"session_id": None}
    bodies = [request_of(user("go"), answer(TextContent("ok")), user("on"), tools=("bash",), **each) for each in others]
    bodies.append(request_of(user("a summary"), tools=("bash",)))

    for body in bodies:
        assert names_of(body) == ["bash", PLACEHOLDER["name"]]
        assert [each["content"] for each in body["messages"] if each["role"] == "system"] == [[]] * (
            2 if len(body["messages"]) > 2 else 1
        )


def test_without_tools_or_without_system_messages_nothing_is_told(request_of):
    plain = {**FLAGS, "supportsMidConvoSystemMessages": False}

    assert "tools" not in request_of(user("hi"), tools=())
    assert names_of(request_of(user("hi"), compat=plain)) == ["read"]
    assert "inline-tools" not in request_of.betas


@pytest.mark.parametrize(
    ("options", "thinking"),
    [({"reasoning": "off"}, {"type": "disabled"}), ({"tool_choice": "any"}, {"type": "disabled"})],
)
def test_where_a_request_does_not_think_no_effort_is_told(request_of, options, thinking):
    body = request_of(user("go"), answer(TextContent("ok")), user("on"), **options)

    assert body["thinking"] == thinking
    assert "output_config" not in body
    assert [each["role"] for each in body["messages"]] == ["user", "assistant", "user"]


def test_answers_of_others_have_no_effort_that_could_be_told(request_of):
    body = request_of(
        user("go"),
        answer(TextContent("one"), api="openai-responses", provider="openai"),
        user("on"),
        answer(TextContent("two"), level=None),
        user("and on"),
    )

    assert [each["role"] for each in body["messages"]] == ["user", "assistant", "user", "assistant", "user", "system"]
