"""Which tools are strict, and where ``strict`` is said at all."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_testing.fake_servers.openai import FakeOpenAI, completion, response, text

STRICT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"anyOf": [{"type": "integer", "description": "Lines"}, {"type": "null"}]},
    },
    "required": ["path", "limit"],
    "additionalProperties": False,
}

OPENAI = "https://api.openai.com/v1"


@pytest.fixture
def tools(read_tool):
    """One tool of each kind: asks for strictness, does not, asks in vain."""
    free = evolve(read_tool, name="grep")
    asking = evolve(read_tool, constrained_sampling="prefer")
    odd = evolve(asking, name="odd", parameters={"type": "object", "additionalProperties": True})
    return [asking, free, odd]


def declared(body):
    """Name to what is said of strictness, and whether the schema is the strict one."""
    functions = [tool.get("function", tool) for tool in body["tools"]]
    return {each["name"]: (each.get("strict", "nothing"), each["parameters"] == STRICT) for each in functions}


ALL_FLAGGED = {"read": (True, True), "grep": (False, False), "odd": (False, False)}
NOT_A_WORD = dict.fromkeys(ALL_FLAGGED, ("nothing", False))


@pytest.mark.parametrize(
    ("api", "fields", "expected"),
    [
        ("openai-completions", {}, NOT_A_WORD),
        ("openai-completions", {"base_url": OPENAI}, NOT_A_WORD),
        ("openai-completions", {"compat": {"supportsStrictMode": True}}, ALL_FLAGGED),
        ("openai-responses", {}, NOT_A_WORD),
        ("openai-responses", {"base_url": OPENAI}, ALL_FLAGGED),
        ("openai-responses", {"base_url": OPENAI, "compat": {"supportsStrictMode": False}}, NOT_A_WORD),
        ("openai-responses", {"base_url": "https://notapi.openai.com.test/v1"}, NOT_A_WORD),
        ("openai-responses", {"compat": {"supportsStrictMode": True}}, ALL_FLAGGED),
        ("azure-openai-responses", {}, ALL_FLAGGED),
        ("azure-openai-responses", {"compat": {"supportsStrictMode": False}}, NOT_A_WORD),
        ("openai-codex-responses", {}, dict.fromkeys(ALL_FLAGGED, (None, False))),
    ],
)
async def test_tools_that_ask_are_strict_where_the_host_knows_the_word(
    make_model, chat, payload_of, tools, api, fields, expected
):
    body = await payload_of(make_model(api, **fields), chat.user("a"), tools=tools)

    assert declared(body) == expected


@pytest.mark.parametrize(("api", "answer"), [("openai-completions", completion), ("openai-responses", response)])
async def test_the_api_takes_them(make_model, chat, reply, tools, api, answer):
    async with FakeOpenAI() as server:
        server.answers(answer(text("Hi")))
        model = make_model(api, base_url=server.base_url, compat={"supportsStrictMode": True})
        message = await reply(model, chat.user("a"), tools=tools)

    assert (message.text, message.error_message) == ("Hi", None)


@pytest.mark.parametrize("api", ["openai-completions", "openai-responses", "openai-codex-responses"])
async def test_a_tool_that_requires_it_in_vain_is_named(make_model, chat, reply, read_tool, api):
    message = await reply(make_model(api), chat.user("a"), tools=[evolve(read_tool, constrained_sampling="require")])

    assert message.error_message.startswith("Tool 'read' requires constrained sampling, but API")
    assert "'fake/gpt-fake'" in message.error_message
