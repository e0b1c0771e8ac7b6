"""pi's own tools in the strict form in which OpenAI's models get them."""

from __future__ import annotations

import pytest

from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import Model, ToolCall
from pi_provider_kit import strict_parameters
from pi_tools import create_all_tools

MODEL = Model(id="m", name="M", api="openai-responses", provider="openai")

STRICT_CALLS = {
    "read": ({"path": "a", "offset": None, "limit": None}, {"path": "a"}),
    "bash": ({"command": "ls", "timeout": None}, {"command": "ls"}),
    "edit": (
        {"path": "a", "edits": [{"oldText": "a", "newText": "b"}]},
        {"path": "a", "edits": [{"oldText": "a", "newText": "b"}]},
    ),
    "write": ({"path": "a", "content": "b"}, {"path": "a", "content": "b"}),
}


@pytest.mark.parametrize("name", STRICT_CALLS)
def test_a_strict_call_reaches_the_tool_without_its_nulls(tmp_path, name):
    tool = create_all_tools(tmp_path)[name]
    schema = strict_parameters(tool, MODEL, supported=True)
    sent, received = STRICT_CALLS[name]

    assert schema is not None
    assert sorted(schema["required"]) == sorted(sent)
    assert ArgumentValidator().validate(tool, ToolCall("c", name, sent)) == received


@pytest.mark.parametrize("name", ["grep", "find", "ls"])
def test_the_other_tools_are_free(tmp_path, name):
    assert strict_parameters(create_all_tools(tmp_path)[name], MODEL, supported=True) is None
