"""``plugins.watch``: what plugins open, start and connect to, where they do not state it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from pi_core import create_agent_session
from pi_core.host.watch import deed_of, is_stated
from pi_testing import for_each, text, tool_call

SOURCE = """
import asyncio, os, subprocess, sys
from pathlib import Path

async def run(call_id, args, signal, update, ctx):
    for each in args["reads"]:
        await asyncio.to_thread(Path(each).read_text)
    for each in args["writes"]:
        Path(each).write_text("ebb")
    if args["runs"]:
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    if args["execs"]:
        await ctx.exec(sys.executable, ["-S", "-c", ""])
    if args["port"]:
        _, writer = await asyncio.open_connection("localhost", args["port"])
        writer.close()
    return ToolResult.text("turned")

@hookimpl
def register_tools():
    return [Tool(name="tide", description="does", parameters={"type": "object"}, execute=run)]

@hookimpl
async def turn_end(event, ctx):
    if os.environ.get("TIDE_FILE"):
        Path(os.environ["TIDE_FILE"]).write_text("flow")
"""
NOTHING = {"reads": [], "writes": [], "runs": False, "execs": False, "port": 0}


class Tides:
    """A plugin with a tool, in sessions that watch it."""

    def __init__(self, site, script, folder):
        self.site, self.script, self.folder = site, script, folder

    def install(self, grants):
        package = self.site.folder / "tides_plugin"
        package.mkdir()
        (package / "__init__.py").write_text(f"from pi_hookspecs import *\nfrom pi_hookspecs import hookimpl\n{SOURCE}")
        if grants is not None:
            held = {"hooks": True, "tools": True, "ctx": True, **grants}
            (package / "pi_plugin.json").write_text(json.dumps({"grants": held}))
        self.site.metadata("tides", {"tides": "tides_plugin"})

    async def does(self, *, watch=True, **arguments):
        """Let the model call the tool; return the lines of the log, and the notices."""
        self.script.turn(tool_call("tide", **{**NOTHING, **arguments})).turn(text("done"))
        host = self.site.host(plugins={"watch": watch})
        host.add(self.script, "script")
        notices = []
        async with create_agent_session(
            cwd=self.folder, host=host, settings=host.settings, model=self.script.model
        ) as session:
            session.subscribe(lambda event: notices.append(event) if event.type == "extension_error" else None)
            await session.prompt("look")
        log = self.site.agent_dir / "packages" / "log.jsonl"
        rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return rows, [each.error for each in notices]


@pytest.fixture
def tides(site, script, tmp_path):
    """A plugin with a tool that does what its arguments say."""
    return Tides(site, script, tmp_path)


@pytest.fixture
def port():
    """A port of this machine on which something listens."""
    with socket.create_server(("localhost", 0)) as server:
        yield server.getsockname()[1]


async def test_what_a_plugin_does_not_state_is_logged_and_told_once_of_each_kind(tides, tmp_path, port):
    (tmp_path / "moon").write_text("full")
    tides.install({"files": False})

    rows, notices = await tides.does(
        reads=[str(tmp_path / "moon")], writes=[str(tmp_path / "ebb"), str(tmp_path / "flow")], runs=True, port=port
    )

    assert {(each["plugin"], each["kind"], Path(each["what"]).name.partition("3")[0]) for each in rows} == {
        ("tides", "files", "moon"),
        ("tides", "files", "ebb"),
        ("tides", "files", "flow"),
        ("tides", "commands", "python"),
        ("tides", "network", f"localhost:{port}".partition("3")[0]),
    }
    assert len([each for each in notices if "packages/log.jsonl" in each]) == 3
    assert any("connects to 'localhost:" in each and "grants.network" in each for each in notices)


async def test_what_it_states_is_not_logged(tides, tmp_path, port):
    (tmp_path / "moon").write_text("full")
    tides.install({"files": [str(tmp_path)], "commands": ["python*"], "network": ["localhost"]})

    rows, notices = await tides.does(
        reads=[str(tmp_path / "moon")], writes=[str(tmp_path / "ebb")], runs=True, port=port
    )

    assert (rows, notices) == ([], [])


async def test_a_program_that_pi_starts_for_it_is_its_own(tides):
    tides.install({})

    rows, _ = await tides.does(execs=True)

    assert [(each["kind"], each["plugin"]) for each in rows] == [("commands", "tides")]


async def test_a_hook_is_named(tides, tmp_path, monkeypatch):
    monkeypatch.setenv("TIDE_FILE", str(tmp_path / "flow"))
    tides.install({})

    rows, _ = await tides.does()

    assert [(each["kind"], each["hook"]) for each in rows] == [("files", "turn_end")]


async def test_a_plugin_without_a_file_of_grants_states_nothing(tides, tmp_path):
    tides.install(None)

    rows, notices = await tides.does(writes=[str(tmp_path / "ebb")])

    assert [each["stated"] for each in rows] == [None]
    assert "it declares nothing: it has no pi_plugin.json" in notices[0]


async def test_without_the_setting_nothing_is_heard(tides, tmp_path):
    tides.install({})

    rows, notices = await tides.does(watch=False, writes=[str(tmp_path / "ebb")])

    assert (rows, notices) == ([], [])


@for_each(
    ("event", "arguments", "kind", "what"),
    [
        ("open", ("/a/b", "w", 0o1101), "files", "/a/b"),
        ("open", (3, "r", 0), None, None),
        ("os.rename", ("/a", "/b", -1, -1), "files", "/b"),
        ("os.remove", ("a", 5), None, None),
        ("os.truncate", ("/a", 5), "files", "/a"),
        ("sqlite3.connect", (":memory:",), None, None),
        ("subprocess.Popen", ("/bin/sh", ["sh", "-c", "ls"], None, None), "commands", "/bin/sh"),
        ("os.system", (b"ls -l",), "commands", "ls"),
        ("os.posix_spawn", ("/bin/ls", ["ls"], {}), "commands", "/bin/ls"),
        ("os.fork", (), "commands", "fork"),
        ("socket.getaddrinfo", ("moon.example", 443, 0, 0, 0), "network", "moon.example:443"),
        ("socket.getaddrinfo", (None, 443, 0, 0, 0), None, None),
        ("socket.connect", (None, ("::1", 80, 0, 0)), "network", "::1:80"),
        ("socket.connect", (None, "/run/tide.sock"), "files", "/run/tide.sock"),
        ("import", ("os",), None, None),
    ],
)
def test_audit_events_are_understood(event, arguments, kind, what):
    deed = deed_of(event, arguments)

    assert (deed and deed.kind, deed and deed.what) == (kind, what)


@for_each(
    ("stated", "event", "arguments", "expected"),
    [
        (["~/tides"], "open", (str(Path.home() / "tides" / "moon"), "r", 0), True),
        (["~/tides"], "open", (str(Path.home() / "tides-2"), "r", 0), False),
        (["*.log"], "open", ("/var/moon.log", "r", 0), False),
        (["/var/*.log"], "open", ("/var/moon.log", "r", 0), True),
        (["*.example"], "socket.getaddrinfo", ("Moon.example", 443), True),
        (["moon.example:80"], "socket.getaddrinfo", ("moon.example", 443), False),
        (["git"], "os.system", ("git push",), True),
        (True, "os.system", ("git push",), True),
        ([], "os.system", ("git push",), False),
    ],
)
def test_statements_are_paths_programs_and_hosts(stated, event, arguments, expected):
    deed = deed_of(event, arguments)

    assert is_stated({deed.kind: stated}, deed) is expected
