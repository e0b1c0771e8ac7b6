"""A whole session over the fake API: what one turn received is what the next one sends."""

from __future__ import annotations

from attrs import evolve

from pi_core import create_agent_session
from pi_hookspecs import ProviderInfo, ToolResult, hookimpl
from pi_testing.fake_servers.mistral import call, completion, text, thinking


class Served:
    """A plugin that knows the fake's model."""

    def __init__(self, model):
        self.model = model

    @hookimpl
    def register_models(self):
        known = {"id": "mistral", "name": "Fake", "api": self.model.api, "key_variables": ("MISTRAL_API_KEY",)}
        return [ProviderInfo(**known, models=(self.model,))]


async def test_tool_turn_replays_thinking_call_and_result(server, make_model, read_tool, pi_host, tmp_path):
    async def execute(call_id, params, signal, on_update, ctx):
        return ToolResult.text(f"content of {params['path']}")

    server.answers(
        completion(thinking("I should read it."), text("I read it."), call("aB3dE6gH9", "read", path="a.txt")),
        completion(text("Done.")),
    )
    session = create_agent_session(
        cwd=tmp_path,
        host=pi_host,
        settings=pi_host.settings,
        model="mistral/mistral-fake",
        thinking_level="low",
        tools=["read"],
        custom_tools=[evolve(read_tool, execute=execute)],
        plugins={"served": Served(make_model(base_url=server.url, reasoning=True))},
        environ={"MISTRAL_API_KEY": "key-0123456789"},
    )
    async with session:
        answer = await session.prompt("What is in a.txt?")

    assert answer.text == "Done."
    assert server.requests[0].json["prompt_mode"] == "reasoning"
    assert server.requests[0].headers["x-affinity"] == server.requests[1].headers["x-affinity"]
    _, _, called, returned = server.requests[1].json["messages"]
    assert [part["type"] for part in called["content"]] == ["thinking", "text"]
    assert called["tool_calls"][0]["id"] == returned["tool_call_id"] == "aB3dE6gH9"
    assert returned["content"] == [{"type": "text", "text": "content of a.txt"}]
