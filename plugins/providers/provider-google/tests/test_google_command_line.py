"""A run of ``pi -p`` with Google's model: what is asked, and what is not imported for it."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from pi_testing.fake_servers.google import FakeGoogle, answer, call, text

pytestmark = pytest.mark.slow

HEAVY = "google.genai google.auth google.oauth2 requests httpx2 pydantic"

RUN = f"""
import sys, pi_cli
code = pi_cli.main()
print(code, *[name for name in "{HEAVY}".split() if name in sys.modules], file=sys.stderr)
"""


@pytest.fixture
async def server():
    async with FakeGoogle() as server:
        yield server


async def run(tmp_path, server, *arguments, **environ):
    """Run pi in a fresh interpreter and return what it printed, and what it imported for it."""
    agent = tmp_path / "agent"
    agent.mkdir()
    rows = {
        name: {"baseUrl": server.base_url if name == "google" else server.url} for name in ("google", "google-vertex")
    }
    (agent / "models.json").write_text(json.dumps({"providers": rows}), "utf-8")
    inherited = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(agent), **environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", RUN, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env={**inherited, **own},
    )
    out, errors = await process.communicate()
    return out.decode(), errors.decode().splitlines()[-1].split()


async def test_a_run_with_a_tool_call_imports_no_sdk(server, tmp_path):
    (tmp_path / "a.txt").write_text("content of a", "utf-8")
    server.answers(answer(call("read", path="a.txt", signature="c2ln")), answer(text("It says: ", "content of a")))
    arguments = ("-p", "--model", "google/gemini-3-flash-preview", "What does a.txt say?")
    out, errors = await run(tmp_path, server, *arguments, GEMINI_API_KEY="AIza-0123456789")

    assert (out, errors) == ("It says: content of a\n", ["0"])
    parts = [part for content in server.request.json["contents"] for part in content["parts"]]
    assert parts[1]["thoughtSignature"] == "c2ln"
    assert "content of a" in parts[2]["functionResponse"]["response"]["output"]


async def test_vertex_with_a_key_imports_no_sdk(server, tmp_path):
    server.answers(answer(text("Hello")))
    arguments = ("-p", "--model", "google-vertex/gemini-2.5-flash", "Hi")
    out, errors = await run(tmp_path, server, *arguments, GOOGLE_CLOUD_API_KEY="AIza-0123456789")

    assert (out, errors) == ("Hello\n", ["0"])


async def test_google_api_key_is_the_second_variable(server, tmp_path):
    server.answers(answer(text("Hello")))
    await run(tmp_path, server, "-p", "--model", "google/gemini-2.5-flash", "Hi", GOOGLE_API_KEY="AIza-second")

    assert server.request.headers["x-goog-api-key"] == "AIza-second"
