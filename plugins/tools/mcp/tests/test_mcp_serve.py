"""``pi mcp serve`` with the SDK's client."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.slow  # loads the vendor's SDK

PI = Path(sys.executable).with_name("pi")
SERVE = ["mcp", "serve", "--model", "offline/rules"]


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent")}


@asynccontextmanager
async def served(folder: Path, *options: str) -> AsyncIterator[Client]:
    program = StdioServerParameters(command=str(PI), args=[*SERVE, *options], env=environment(folder), cwd=folder)
    async with Client(program) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    return result.content[0].text, bool(result.is_error)


@pytest.mark.slow
async def test_another_agent_asks_pi_and_goes_on_with_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "tide.txt").write_text("high at noon")
    steps: list[Any] = []

    async def step(number: float, _total: float | None, message: str | None) -> None:
        steps.append((number, message))

    async with served(tmp_path) as client:
        task = {"prompt": 'Write "x" to new.txt', "cwd": str(tmp_path)}
        first = await client.call_tool("ask_pi", task, progress_callback=step)
        answer, _, session = first.content[0].text.rpartition("[session ")
        second, _ = await call(client, "ask_pi", prompt="Show me tide.txt", session=session.rstrip("]"))
        listed, _ = await call(client, "list_sessions")
        read, _ = await call(client, "read_session", session=session.rstrip("]"))
        unknown = await call(client, "read_session", session="none")
        relative = await call(client, "ask_pi", prompt="x", cwd="here")

    assert (tmp_path / "new.txt").read_text() == "x"
    assert "Wrote new.txt" in answer
    assert steps == [(1, "write")]
    assert "high at noon" in second
    assert listed.splitlines() == [listed]
    assert listed.startswith(session.rstrip("]"))
    assert 'user: Write "x" to new.txt' in read
    assert "high at noon" in read
    assert unknown == (
        "Error executing tool read_session: There is no session 'none'; list_sessions lists them.",
        True,
    )
    assert "cwd is 'here'; it must be an absolute path" in relative[0]


@pytest.mark.slow
async def test_an_agent_that_only_reads_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, "--read-only") as client:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        await call(client, "ask_pi", prompt='Write "x" to new.txt and run touch other.txt')

    assert tools["ask_pi"].annotations.read_only_hint
    assert not [*tmp_path.glob("*.txt")]


@pytest.mark.slow
async def test_an_agent_that_only_reads_carries_out_no_command_that_writes(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("mine")
    async with served(tmp_path, "--read-only") as client:
        answer, failed = await call(client, "ask_pi", prompt="Say something.")
        session = re.findall(r"\[session (\S+)\]", answer)[0]
        refusals = [
            await call(client, "ask_pi", prompt=f"/{command}", session=session)
            for command in (f"export {tmp_path / 'AGENTS.md'}", f"export {tmp_path / 'new.html'}", "bug x")
        ]
        done = await call(client, "ask_pi", prompt="/budget", session=session)

    assert not failed
    assert all(failed and "is not available here: it touches files" in why for why, failed in refusals)
    assert done == (f"The command was carried out; the model was not asked.\n\n[session {session}]", False)
    assert ((tmp_path / "AGENTS.md").read_text(), [*tmp_path.glob("*.html")]) == ("mine", [])


CANCEL = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n'


@pytest.mark.slow
@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_signal_or_a_cancelled_call_ends_what_an_agent_started(tmp_path: Path, cancelled: bool) -> None:
    server = await asyncio.create_subprocess_exec(
        *[PI, *SERVE],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    about = '"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}'
    prompt = '"name":"ask_pi","arguments":{"prompt":"Run: echo $$ > pid; sleep 600"}'
    server.stdin.write(f'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{{about}}}}}\n'.encode())
    server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    server.stdin.write(f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{{prompt}}}}}\n'.encode())
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():  # noqa: ASYNC110 - a file
        await asyncio.sleep(0.02)
    pid = (tmp_path / "pid").read_text().strip()

    if cancelled:
        server.stdin.write(CANCEL)
    else:
        server.send_signal(signal.SIGTERM)
    while Path(f"/proc/{pid}").exists():  # noqa: ASYNC110 - a process of another program
        await asyncio.sleep(0.02)
    server.stdin.close()

    assert await server.wait() == (0 if cancelled else 143)
