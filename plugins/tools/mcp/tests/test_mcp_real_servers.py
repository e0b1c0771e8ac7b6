"""Servers of other people, of both generations of the protocol; ``tools/install_mcp_servers.py`` installs them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

import pi_mcp
from pi_mcp.link import link_of

FOLDER = Path(__file__).parents[4] / ".mcp-servers"
NODE, PYTHON = FOLDER / "node" / "node_modules" / ".bin", FOLDER / "python" / "bin"
FAST = """\
from fastmcp import FastMCP
server = FastMCP("fast")
@server.tool
def double(number: int) -> int:
    "Double a number."
    return 2 * number
server.run(show_banner=False)
"""

pytestmark = [pytest.mark.pi(plugins={"mcp": pi_mcp}), pytest.mark.slow]  # each starts programs that take seconds


def program(file: Path) -> str:
    if not file.exists():
        pytest.skip(f"{file.name} is not installed; run tools/install_mcp_servers.py")
    return str(file)


def protocol(session: Any) -> str:
    (remote,) = link_of(session.settings.agent_dir).remotes.values()
    return str(remote.about["protocol"])


async def test_everything_answers_over_stdio_with_images_resources_and_progress(started, script, result_of) -> None:
    session = await started({"all": {"command": program(NODE / "mcp-server-everything"), "args": ["stdio"]}})

    echoed = await result_of(session, script, "mcp__all__echo", message="hello")
    picture = await result_of(session, script, "mcp__all__get-tiny-image")
    resources = await result_of(session, script, "list_mcp_resources")

    assert protocol(session) == "2025-11-25"
    assert "hello" in echoed.text
    assert [each.mime_type for each in picture.content if each.type == "image"] == ["image/png"]
    assert "\nall  " in resources.text


def everything_over_http(port: int) -> subprocess.Popen[bytes]:
    command = [program(NODE / "mcp-server-everything"), "streamableHttp"]
    environ = {**os.environ, "PORT": str(port)}
    return subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


async def test_everything_answers_over_http(started, script, tmp_path, result_of) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with everything_over_http(port) as server:
        try:
            assert server.stderr is not None
            for line in server.stderr:
                if str(port).encode() in line:
                    break
            session = await started({"web": {"url": f"http://127.0.0.1:{port}/mcp"}})
            result = await result_of(session, script, "mcp__web__echo", message="over HTTP")
        finally:
            server.terminate()

    assert "over HTTP" in result.text


async def test_memory_keeps_what_the_model_says(started, script, tmp_path, result_of) -> None:
    environ = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    session = await started({"memory": {"command": program(NODE / "mcp-server-memory"), "env": environ}})
    entity = {"name": "Brest", "entityType": "port", "observations": ["six metres"]}

    await result_of(session, script, "mcp__memory__create_entities", entities=[entity])
    graph = await result_of(session, script, "mcp__memory__read_graph")

    assert [each["name"] for each in json.loads(graph.text)["entities"]] == ["Brest"]
    assert graph.details["structured"]["entities"][0]["observations"] == ["six metres"]


async def test_the_time_server_speaks_the_newest_protocol(started, script, result_of) -> None:
    session = await started(
        {"time": {"command": program(PYTHON / "mcp-server-time"), "args": ["--local-timezone", "UTC"]}}
    )

    result = await result_of(session, script, "mcp__time__get_current_time", timezone="UTC")

    assert protocol(session) == "2026-07-28"
    assert "UTC" in result.text


async def test_a_server_of_fastmcp_answers(started, script, tmp_path, result_of) -> None:
    (tmp_path / "fast.py").write_text(FAST)
    program(PYTHON / "fastmcp")
    session = await started({"fast": {"command": str(PYTHON / "python"), "args": [str(tmp_path / "fast.py")]}})

    result = await result_of(session, script, "mcp__fast__double", number=21)

    assert "42" in result.text
