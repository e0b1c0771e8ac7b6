"""Both ends of the protocol: a server in this process behind real pipes, and the real ``pi --mode rpc``."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from pi_client.lines import LineReader
from pi_core import SessionManager, create_agent_session
from pi_core.plugin_api.clean_lines import CleanLines
from pi_rpc.outbox import Outbox
from pi_rpc.server import Server
from pi_rpc_kit.ui import RpcUI
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path


class Talk:
    """A client that keeps every received line, in order."""

    def __init__(self, server: Server, session: Any, to_server: int, reader: asyncio.StreamReader) -> None:
        self.server = server
        self.session = session
        self.to_server = to_server
        self.lines: list[dict[str, Any]] = []
        self.code: asyncio.Task[int] | None = None
        self._reader = reader

    def send_line(self, line: bytes) -> None:
        os.write(self.to_server, line + b"\n")

    def send(self, **command: Any) -> None:
        self.send_line(json.dumps(command).encode())

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            line = await self._reader.readuntil(b"\n")
        from_server = json.loads(line)
        self.lines.append(from_server)
        return from_server

    async def until(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        while not wanted(from_server := await self.receive()):
            pass
        return from_server

    async def event(self, kind: str) -> dict[str, Any]:
        return await self.until(lambda line: line["type"] == kind)

    async def call(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.send(id=kind, type=kind, **fields)
        return await self.until(lambda line: line["type"] == "response" and line.get("id") == kind)

    async def ended(self) -> int:
        os.close(self.to_server)
        self.to_server = -1
        async with asyncio.timeout(PATIENCE):
            return await self.code


@pytest_asyncio.fixture
async def talk(tmp_path, script, pi_host, pi_options) -> AsyncIterator[Talk]:
    """A client of a session of the scripted model, stored under ``tmp_path``."""
    cwd = tmp_path / "work"
    cwd.mkdir()
    session = create_agent_session(
        cwd=cwd,
        host=pi_host,
        settings=pi_host.settings,
        model=script.model,
        plugins={"script": script},
        session_manager=SessionManager.create(cwd, tmp_path / "sessions", host=pi_host),
        tools=pi_options.tool_names,
        custom_tools=pi_options.custom_tools,
        mode="rpc",
    )
    (server_in, to_server), (from_server, server_out) = os.pipe(), os.pipe()
    reader = asyncio.StreamReader(limit=2**26)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_server, "rb", 0)
    )
    outbox = Outbox(server_out, lambda: server.end(141), CleanLines.asked_for(session))
    session.ui, session.has_ui = RpcUI(outbox), True
    server = Server(session, outbox, session.ui)
    server.reader = LineReader(server_in, server.on_lines, server.on_end_of_input)
    server.reader.start()
    talk = Talk(server, session, to_server, reader)
    talk.code = asyncio.create_task(server.serve())
    yield talk
    server.end(0)
    await asyncio.wait([talk.code], timeout=PATIENCE)
    transport.close()
    if talk.to_server >= 0:
        os.close(talk.to_server)
    os.close(server_out)


FAKE = '''
import asyncio
import os

from pi_hookspecs import Command, MessageBuilder, Model, ProviderInfo, hookimpl


class Fake:
    """Says what the prompt asks: ``flood N``, ``call COMMAND``, ``stall``, else an echo."""

    api = "fake"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        said = context.messages[-1]
        word, _, rest = said.text.partition(" ")
        yield builder.start()
        if word == "call" and said.role == "user":
            start = builder.tool_call_start("call-1", "bash")
            yield start
            import json

            yield builder.tool_call(start.content_index, json.dumps({"command": rest}))
            yield builder.tool_call_end(start.content_index)
        elif word == "stall":
            start = builder.text_start()
            yield start
            yield builder.text(start.content_index, "waiting")
            await options.signal.wait()
            yield builder.abort()
            return
        else:
            start = builder.text_start()
            yield start
            for number in range(int(rest) if word == "flood" else 1):
                yield builder.text(start.content_index, "sixteen letters " if word == "flood" else said.text)
                if number % 64 == 63:
                    await asyncio.sleep(0)
                if options.signal.aborted:
                    yield builder.abort()
                    return
            yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Fake()]


@hookimpl
def register_models():
    models = (Model(id="echo", name="echo", api="fake", provider="fake"),)
    return [ProviderInfo(id="fake", name="Fake", api="fake", keyless=True, models=models)]


@hookimpl
def register_commands():
    return [
        Command(name="loud", handler=loud, description="Print everywhere"),
        Command(name="leave", handler=lambda arguments, ctx: ctx.shutdown(), description="End"),
    ]


def loud(arguments, ctx):
    print("printed", flush=True)
    os.write(1, b"written\\n")
    os.system("echo from a program")
'''

KEPT = {"LANG", "LC_ALL", "PATH", "PYTHONPYCACHEPREFIX", "SYSTEMROOT", "TERM", "TMPDIR", "VIRTUAL_ENV"}


class Rpc:
    """Starts ``pi --mode rpc`` with provider ``fake``."""

    def __init__(self, folder: Path, agent_dir: Path, site: Path) -> None:
        self.cwd = folder
        self.command = [sys.executable, "-P", "-m", "pi_cli"]
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        self.env = {
            **kept,
            "HOME": str(folder),
            "PI_CODING_AGENT_DIR": str(agent_dir),
            "PYTHONPATH": str(site),
            "PYTHONUTF8": "1",
        }

    def start(self, *arguments: str, through: Sequence[str] = (), **streams: Any) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*through, *self.command, "--mode", "rpc", "--model", "fake/echo", "--no-session", *arguments],
            cwd=self.cwd,
            env=self.env,
            **{"stdin": pipe, "stdout": pipe, "stderr": pipe, **streams},
        )

    def run(self, stdin: bytes, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
        """Say everything at once; returns exit code, lines and stderr."""
        with self.start(*arguments) as process:
            out, errors = process.communicate(stdin, timeout=PATIENCE)
        return process.returncode, [json.loads(line) for line in out.splitlines()], errors.decode()


@pytest.fixture(scope="session")
def rpc_agent_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent directory that all real processes share: its index is made once."""
    return tmp_path_factory.mktemp("rpc-agent")


@pytest.fixture(scope="session")
def rpc_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with provider ``fake``, installed as pip would."""
    site = tmp_path_factory.mktemp("rpc-site")
    (site / "fake.py").write_text(dedent(FAKE))
    metadata = site / "fake-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-fake\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[pi]\nfake = fake\n")
    return site


@pytest.fixture
def rpc(tmp_path: Path, rpc_agent_dir: Path, rpc_site: Path) -> Iterator[Rpc]:
    """The real ``pi --mode rpc``."""
    return Rpc(tmp_path, rpc_agent_dir, rpc_site)
