"""Sessions that an older version stored, with all that vendors refuse, go on with every API; so do long mixed ones."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest
from drawn.served import FAKES, KEY, PNG, TOOL, model_at, url_of

from pi_core import SessionManager

if TYPE_CHECKING:
    from pathlib import Path


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
