"""The server, the commands and the files on the page docs/mcp.md work as written there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pi_mcp.config import read_servers
from pi_mcp.entries import _KEYS

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
PI = Path(sys.executable).with_name("pi")


def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    (server,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (console,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "tides.py").write_text(server)
    folders = f"{PI.parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "HOME": str(tmp_path), "PATH": folders}
    environ = {name: value for name, value in environ.items() if not name.startswith("PI_")}
    printed = []

    for command in re.findall(r"^\$ (.*)$", console, re.MULTILINE):
        done = subprocess.run(
            shlex.split(command), cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
        )
        printed.append(f"$ {command}\n{done.stdout.replace(str(tmp_path), '~')}")

    assert "".join(printed) == console


def test_the_example_of_a_file_is_valid_and_every_key_is_explained() -> None:
    example, _ = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    found = read_servers(example, "mcp.json", "user")

    assert (list(found.servers), found.problems, found.notices) == (list(json.loads(example)["mcpServers"]), [], [])
    assert [key for key in _KEYS if f"`{key}`" not in PAGE and f"`{key}:" not in PAGE] == ["disabled"]


async def test_the_example_of_pi_as_a_server_is_one(tmp_path: Path) -> None:
    _, example = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (server,) = read_servers(example, "mcp.json", "user").servers.values()
    environ = {**os.environ, "HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
    program = StdioServerParameters(command=str(PI), args=server.config["args"], env=environ, cwd=tmp_path)

    async with Client(program) as client:
        tools = [each.name for each in (await client.list_tools()).tools]

    assert re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE) == tools
