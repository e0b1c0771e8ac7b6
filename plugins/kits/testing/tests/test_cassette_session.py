"""A whole session on a cassette: what a request says of this run and this folder is not a difference."""

from __future__ import annotations

from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_hookspecs import Model, ProviderInfo, hookimpl
from pi_provider_anthropic.provider import AnthropicMessages
from pi_testing.cassettes import Cassette
from pi_testing.fake_servers.anthropic import FakeAnthropic, message, text, tool_use
from pi_testing.stand_ins import make_tool

KEY = "sk-ant-a-key-that-nobody-may-see"


class Plugin:
    def __init__(self, model):
        self.model = model

    @hookimpl
    def register_providers(self):
        return [AnthropicMessages()]

    @hookimpl
    def register_models(self):
        known = {"key_variables": ("ACME_API_KEY",), "models": (self.model,)}
        return [ProviderInfo(id="acme", name="Acme", api=self.model.api, base_url=self.model.base_url, **known)]


async def converse(folder, mode, file, url):
    """Prompt a session twice in a folder; return its answers and what its tool was called with."""
    folder.mkdir()
    cassette = Cassette(file, mode, replace={"{tmp_path}": str(folder)}, environ={"ACME_API_KEY": KEY})
    model = Model(id="m", name="M", api="anthropic-messages", provider="acme", base_url=url, max_tokens=1000)
    model = await cassette.model(model)
    read = make_tool("read", "three small words")
    host = PluginHost(Settings.in_memory(agent_dir=folder / "agent"), installed=False)
    async with create_agent_session(
        cwd=folder,
        host=host,
        settings=host.settings,
        model=model,
        plugins={"acme": Plugin(model)},
        custom_tools=[read],
        session_manager=SessionManager.in_memory(folder),
        environ={"ACME_API_KEY": cassette.key("ACME_API_KEY")},
    ) as session:
        answers = [(await session.prompt(each)).text for each in ("What is in a.txt?", "Thanks")]
    await cassette.close()
    cassette.check()
    return answers, read.calls


async def test_a_session_is_replayed_in_another_folder(tmp_path):
    file = tmp_path / "tape.json"
    async with FakeAnthropic() as server:
        call = message(tool_use("toolu_1", "read", path="a.txt"))
        server.answers(call, message(text("Three words.")), message(text("Welcome.")))
        recorded, calls = await converse(tmp_path / "first", "once", file, server.url)
        url = server.url
    replayed, calls_again = await converse(tmp_path / "again", "none", file, url)

    assert recorded == replayed == ["Three words.", "Welcome."]
    assert calls == calls_again == [{"path": "a.txt"}]
    assert KEY not in file.read_text()
