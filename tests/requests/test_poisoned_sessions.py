"""Sessions that an older version stored, with all that vendors refuse, go on with every API; so do long mixed ones."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

import pi_provider_anthropic
import pi_provider_bedrock
import pi_provider_google
import pi_provider_mistral
import pi_provider_openai
from pi_core import SessionManager, create_agent_session
from pi_hookspecs import Model, ProviderInfo, Tool, ToolResult, hookimpl
from pi_testing.fake_servers import anthropic, bedrock, google, mistral, openai

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

FAKES: dict[str, tuple[Callable[[], Any], str, Callable[..., Any], Callable[..., Any]]] = {
    "anthropic-messages": (
        anthropic.FakeAnthropic,
        "claude-x",
        lambda said: anthropic.message(anthropic.thinking("Hm.", signature="c2ln"), anthropic.text(said)),
        lambda number, name, arguments: anthropic.message(anthropic.tool_use(f"toolu_{number}", name, **arguments)),
    ),
    "openai-completions": (
        openai.FakeOpenAI,
        "gpt-x",
        lambda said: openai.completion(openai.text(said)),
        lambda number, name, arguments: openai.completion(openai.call(f"call_{number}", name, **arguments)),
    ),
    "openai-responses": (
        openai.FakeOpenAI,
        "gpt-y",
        lambda said: openai.response(openai.text(said)),
        lambda number, name, arguments: openai.response(openai.call(f"call_{number}", name, **arguments)),
    ),
    "google-generative-ai": (
        google.FakeGoogle,
        "gemini-3-pro",
        lambda said: google.answer(google.thought("Hm.", signature="c2ln"), google.text(said)),
        lambda number, name, arguments: google.answer(google.call(name, signature="c2ln", **arguments)),
    ),
    "mistral-conversations": (
        mistral.FakeMistral,
        "mistral-x",
        lambda said: mistral.completion(mistral.text(said)),
        lambda number, name, arguments: mistral.completion(mistral.call(f"{number:09d}", name, **arguments)),
    ),
    "bedrock-converse-stream": (
        bedrock.FakeBedrock,
        "anthropic.claude-x",
        lambda said: bedrock.message(bedrock.thinking("Hm."), bedrock.text(said)),
        lambda number, name, arguments: bedrock.message(bedrock.tool_use(f"tooluse_{number}", name, **arguments)),
    ),
}
"""API id to its server, a model, and functions that make an answer with a text and one with a call."""

PROVIDERS = {
    "anthropic": pi_provider_anthropic,
    "bedrock": pi_provider_bedrock,
    "google": pi_provider_google,
    "mistral": pi_provider_mistral,
    "openai": pi_provider_openai,
}

KEY = "$.q"
TOOL = "web_search"


def model_at(api: str, url: str) -> Model:
    """Return the model that the fake of an API serves."""
    known = {"id": FAKES[api][1], "name": "M", "api": api, "provider": f"fake-{api}", "compat": {"transport": "http"}}
    return Model(**known, base_url=url, reasoning=True, input=("text", "image"))


class Served:
    """A plugin that knows the fakes' models."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls

    @hookimpl
    def register_models(self) -> list[ProviderInfo]:
        return [
            ProviderInfo(
                id=f"fake-{api}",
                name="Fake",
                api=api,
                key_variables=("FAKE_KEY",),
                default_model=FAKES[api][1],
                models=(model_at(api, url),),
            )
            for api, url in self.urls.items()
        ]


def search(calls: list[dict[str, Any]]) -> Tool:
    """Return a tool with a schema, and a name of its argument, that only some APIs accept; it prints nothing."""

    async def execute(call_id: str, params: dict[str, Any], *_: Any) -> ToolResult:
        calls.append(params)
        return ToolResult.text("\r\n")

    schema = {"type": "object", "properties": {KEY: {"type": "string"}}, "anyOf": [{"required": [KEY]}]}
    return Tool(name=TOOL, description="Search the web.", parameters=schema, execute=execute)


@pytest.fixture
def session_of(pi_host, tmp_path, monkeypatch):
    """Make a session of a file with these servers."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    registered: list[str] = []

    def make(manager: SessionManager, urls: dict[str, str], calls: list[Any], model: str | None = None) -> Any:
        plugins = {} if registered else {"served": Served(urls), **PROVIDERS}
        registered.extend(plugins)
        return create_agent_session(
            cwd=tmp_path,
            host=pi_host,
            settings=pi_host.settings,
            model=model,
            thinking_level="low",
            tools=[TOOL],
            custom_tools=[search(calls)],
            session_manager=manager,
            plugins=plugins,
            environ={"FAKE_KEY": "key-0123456789"},
        )

    return make


def url_of(server: Any) -> str:
    return getattr(server, "base_url", server.url)


def poisoned(api: str, cwd: Path) -> list[dict[str, Any]]:
    """Return the lines of a session that each vendor refused: from its own model and from others."""
    ours = {"api": api, "provider": f"fake-{api}", "model": FAKES[api][1]}
    other = {"api": "acme", "provider": "acme", "model": "m"}
    rs = json.dumps({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"})

    def user(*content: Any) -> dict[str, Any]:
        return {"role": "user", "content": [*content] or "go on", "timestamp": 1}

    def answer(by: dict[str, str], stop: str, *content: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": [*content], **by, "stopReason": stop, "timestamp": 1}

    def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
        return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}

    def result(call_id: str, name: str, *content: Any, error: bool = False) -> dict[str, Any]:
        known = {"toolCallId": call_id, "toolName": name, "isError": error, "timestamp": 1}
        return {"role": "toolResult", "content": [*content], **known}

    def said(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "text", "text": text, **more}

    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": rs if "responses" in api else "c2ln"}
    image = {"type": "image", "data": PNG, "mimeType": "image/jpeg"}
    messages = [
        answer(other, "stop", said("An answer before any question.")),
        user(),
        answer(ours, "length", thought),
        user(said(" "), image, {"type": "image", "data": "", "mimeType": "image/png"}),
        answer(other, "toolUse", call("a:1", "browser.tabs.open"), said("I will look.")),
        result("a:1", "browser.tabs.open", said("Tool not found"), error=True),
        answer(ours, "toolUse", thought, call("c1", "bash<|channel|>commentary", **{KEY: 1}), call("c1", "")),
        result("c1", "bash<|channel|>commentary", said("\r\n")),
        result("c1", ""),
        result("nobody", "read", said("of no call")),
        answer(ours, "stop", thought, said("A text that lost its signature."), said("")),
        user(said("look"), *[image] * 12),
        answer(ours, "error", call("c2", "read")),
        user(),
        answer(ours, "toolUse", call("c3", "x" * 269)),
    ]
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "0" * 32, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": str(cwd)}
    ]
    for number, message in enumerate(messages):
        parent = f"{number - 1:08x}" if number else None
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "message": message}
        lines.append({**entry, "timestamp": "2026-01-01T00:00:00.000Z"})
    return lines


@pytest.mark.parametrize("api", FAKES)
async def test_a_poisoned_session_opens_and_goes_on(session_of, tmp_path, api):
    make_server, model, says, calls_tool = FAKES[api]
    file = tmp_path / "old.jsonl"
    stored = "".join(f"{json.dumps(line)}\n" for line in poisoned(api, tmp_path))
    file.write_text(stored, encoding="utf-8")
    key = "_.q" if "claude" in model else KEY
    ran: list[Any] = []
    async with make_server() as server:
        server.answers(calls_tool(7, TOOL, {key: "pi"}), says("Found."), says("And on."))
        urls = {api: url_of(server)}
        async with session_of(SessionManager.open(file), urls, ran, f"fake-{api}/{model}") as session:
            first = await session.prompt("Search.")
        async with session_of(SessionManager.open(file), urls, ran, f"fake-{api}/{model}") as session:
            second = await session.prompt("And now?")

    assert (first.text, first.error_message) == ("Found.", None)
    assert (second.text, second.error_message) == ("And on.", None)
    assert ran == [{KEY: "pi"}]
    assert file.read_text(encoding="utf-8").startswith(stored)
    assert KEY in file.read_text(encoding="utf-8").removeprefix(stored)


async def test_a_session_that_switches_between_six_apis_goes_on_after_it_is_resumed(session_of, tmp_path):
    file = None
    ran: list[Any] = []
    turns = [*FAKES] * 3
    async with AsyncExitStack() as stack:
        servers = {api: await stack.enter_async_context(FAKES[api][0]()) for api in FAKES}
        urls = {api: url_of(server) for api, server in servers.items()}
        for resumed in range(3):
            manager = SessionManager.open(file) if file else SessionManager.create(tmp_path)
            async with session_of(manager, urls, ran, f"fake-{turns[0]}/{FAKES[turns[0]][1]}") as session:
                for number, api in enumerate(turns):
                    _, model, says, calls_tool = FAKES[api]
                    key = "_.q" if "claude" in model else KEY
                    if (number + number // len(FAKES)) % 2:
                        servers[api].answers(calls_tool(100 * resumed + number, TOOL, {key: api}))
                    servers[api].answers(says(f"{resumed}.{number}"))
                    await session.set_model(model_at(api, urls[api]))
                    answered = await session.prompt("Go on.")

                    assert (answered.text, answered.error_message) == (f"{resumed}.{number}", None), api
                file = session.session_file

    assert len(ran) == 3 * len(turns) // 2
    assert all([*params] == [KEY] for params in ran)
