"""docs/network.md names everything that pi connects to: its commands are run under an audit hook."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pi_testing.fake_servers.openai import FakeOpenAI, call, completion, text
from pi_testing.patience import PATIENCE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "network.md").read_text(encoding="utf-8")
SILENT = re.search(r"connect to nothing:\n\n```sh\n(?P<commands>.*?)```", PAGE, re.DOTALL)["commands"].splitlines()
LOCAL_SERVERS = {f"127.0.0.1:{port}" for port in re.search(r"\| ports ([\d, and]+)", PAGE)[1].replace("and", ",")
                 .replace(" ", "").split(",") if port}  # fmt: skip

HOOK = """
import os, sys

file = os.open(os.environ["CONNECTIONS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.bind") and isinstance(arguments[1], tuple):
        os.write(file, f"{arguments[1][0]}:{arguments[1][1]}\\n".encode())
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        os.write(file, f"{arguments[0]}\\n".encode())

sys.addaudithook(note)
"""
"""``sitecustomize`` of pi and of every Python program that it starts."""

NETWORK = re.compile(
    r"^(?:aiohttp|boto3|botocore|httpx2?|huggingface_hub|http\.client|requests|urllib\.request|websockets)\b"
)
CONNECTS = {"create_connection", "create_server", "getaddrinfo", "open_connection", "start_server", "start_unix_server"}
ELSEWHERE = {
    "client": "connects to sockets of pi serve, for programs",
    "testing": "has servers for tests",
}
"""Libraries that connect only where the program that uses them says so."""


class Observed:
    """Runs pi in a project of its own, and returns what it and its programs connected to."""

    def __init__(self, folder: Path) -> None:
        (folder / "hook").mkdir()
        (folder / "hook" / "sitecustomize.py").write_text(HOOK)
        self.home = folder / "home"
        self.project = folder / "project"
        self._log = folder / "connections"
        (self.home / ".pi" / "agent").mkdir(parents=True)
        self.project.mkdir()
        (self.project / "README.md").write_text("Low at six.\n")
        self._environ = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(folder / "hook"),
            "CONNECTIONS": str(self._log),
        }
        subprocess.run(["git", "init", "-q"], cwd=self.project, env=self._environ, check=True)

    def of(self, command: str, *, stdin: str | None = None) -> set[str]:
        """Run a line of a shell; return addresses and names of hosts."""
        self._log.write_text("")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.project,
            env=self._environ,
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return {*self._log.read_text().splitlines()}


@pytest.fixture
def observed(tmp_path):
    return Observed(tmp_path)


@pytest.mark.slow
def test_the_commands_that_connect_to_nothing_do_not(observed) -> None:
    assert len(SILENT) > 10
    assert {command: found for command in SILENT if (found := observed.of(command))} == {}


@pytest.mark.slow
def test_without_a_model_only_the_named_ports_are_tried(observed) -> None:
    found = observed.of("pi --list-models sonnet; pi doctor >/dev/null || true")

    assert len(LOCAL_SERVERS) == 4
    assert found == LOCAL_SERVERS


@pytest.mark.slow
async def test_a_prompt_with_tools_connects_to_its_model_alone(observed) -> None:
    import asyncio

    async with FakeOpenAI() as server:
        turns = [completion(call("1", "bash", command="echo ebb > tide.txt")), completion(text("Done."))]
        server.answers(*turns, *turns)
        place = server.base_url.split("/")[2]
        model = {"id": "tide", "contextWindow": 32_000, "maxTokens": 1_000}
        provider = {"baseUrl": server.base_url, "api": "openai-completions", "apiKey": "k", "models": [model]}
        (observed.home / ".pi/agent/models.json").write_text(json.dumps({"providers": {"harbour": provider}}))

        printed = await asyncio.to_thread(observed.of, "pi --model harbour/tide -p 'Write it'")
        as_json = await asyncio.to_thread(observed.of, "pi --model harbour/tide --mode json -p 'Write it' >/dev/null")

        assert (printed, as_json) == ({place}, {place})
        assert (observed.project / "tide.txt").read_text() == "ebb\n"
        assert len(server.requests) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("options", "is_asked"), [("--offline", True), ("--offline --no-mcp", False)])
def test_offline_says_nothing_about_servers_that_the_user_configured(observed, options, is_asked) -> None:
    asked = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers = {"harbour": {"type": "http", "url": f"http://127.0.0.1:{server.server_port}/mcp"}}
        (observed.home / ".pi/agent/mcp.json").write_text(json.dumps({"mcpServers": servers}))

        observed.of(f"pi {options} --model offline/rules -p 'List the files here'")
        server.shutdown()

    assert ("/mcp" in asked) is is_asked
    assert "`--no-mcp`" in PAGE


def test_programs_that_connect_for_pi_are_on_the_page() -> None:
    starting = {
        file.relative_to(ROOT).parts[2]
        for file in ROOT.glob("plugins/*/*/src/**/*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.List) and node.elts and getattr(node.elts[0], "value", None) == "ssh"
    }

    assert starting == {"client"}
    assert [name for name in starting if f"`{name}`" not in PAGE] == []


@pytest.mark.slow
def test_every_part_that_uses_the_network_is_on_the_page() -> None:
    connecting = {
        folder.name
        for folder in (*ROOT.glob("plugins/*/*"), ROOT / "pi_core", ROOT / "hookspecs")
        if any(uses_the_network(file) for file in folder.glob("src/**/*.py"))
    }

    assert {"provider-kit", "packages", "sandbox", "web"} <= connecting
    assert [name for name in connecting if f"`{name}`" not in PAGE and name not in ELSEWHERE] == []


def uses_the_network(file: Path) -> bool:
    """Whether a module imports a library of the network, outside of type checking, or connects by itself."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    nodes = [*ast.walk(tree)]
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    called = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    return any(map(NETWORK.match, imported)) or bool(called & CONNECTS)
