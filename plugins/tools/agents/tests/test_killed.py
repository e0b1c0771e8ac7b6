"""What is left when the program is killed while agents work."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from pi_testing.patience import PATIENCE

PROGRAM = """
import asyncio, sys
import pi_agents, pi_session_jsonl
from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_testing import stall, text, tool_call
from pi_testing.scripted import ScriptedProvider

def answer(request):
    first = request.messages[-1].role == "user"
    return [text("So far."), tool_call("none")] if first else stall()

async def main(cwd, agent_dir):
    settings = Settings.in_memory({"agents": {"enabled": True}}, agent_dir=agent_dir)
    host = PluginHost(settings, installed=False)
    host.add(pi_agents, "agents")
    host.add(pi_session_jsonl, "session-jsonl")
    script = ScriptedProvider()
    script.turn(*(tool_call("task", prompt="Work", isolation="worktree") for _ in range(2)))
    for _ in range(4):
        script.turn(answer)
    async with create_agent_session(
        cwd=cwd, host=host, settings=settings, plugins={"script": script}, model=script.model,
        session_manager=SessionManager.create(cwd, host=host),
    ) as session:
        prompt = asyncio.create_task(session.prompt("begin"))
        while len(script.requests) < 5:
            await asyncio.sleep(0.01)
        print("ready", flush=True)
        await prompt

asyncio.run(main(*sys.argv[1:]))
"""


def git(folder, *arguments):
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "tides"
    folder.mkdir()
    (folder / "tide.py").write_text("high\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "begin")
    return folder


@pytest.mark.slow
def test_sessions_and_worktrees_of_agents_survive_a_kill(repository, pi_agent_dir):
    command = [sys.executable, "-c", PROGRAM, repository, pi_agent_dir]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        ready = program.stdout.readline()
        program.kill()
    files = (pi_agent_dir / "sessions").rglob("*.jsonl")
    stored = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    children = [entries for entries in stored if "parentCall" in entries[0]]
    (parent,) = (entries for entries in stored if "parentCall" not in entries[0])

    assert ready == "ready\n"
    assert len(children) == 2
    assert all(parent[0]["id"] in header["parentSession"] for header, *_ in children)
    assert all("So far." in json.dumps(entries) for entries in children)
    assert git(repository, "worktree", "list").count("[pi/") == 2


RESUME = """
import asyncio, json, sys
import pi_agents, pi_session_jsonl
from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_testing import stall, text, tool_call, usage
from pi_testing.scripted import ScriptedProvider

async def main(step, cwd, agent_dir):
    settings = Settings.in_memory({"agents": {"enabled": True}}, agent_dir=agent_dir)
    host = PluginHost(settings, installed=False)
    host.add(pi_agents, "agents")
    host.add(pi_session_jsonl, "session-jsonl")
    script = ScriptedProvider()
    if step == "begin":
        script.turn(*(tool_call("task", prompt=each) for each in ("one", "two", "wait")))
        for _ in range(3):
            script.turn(lambda request: stall() if "wait" in request.user_text
                        else [usage(input=20, output=10), text(f"Found {request.user_text}.")])
    else:
        script.turn(text("Go on."))
    manager = SessionManager.create if step == "begin" else SessionManager.continue_recent
    async with create_agent_session(
        cwd=cwd, host=host, settings=settings, plugins={"script": script}, model=script.model,
        session_manager=manager(cwd, host=host),
    ) as session:
        if step == "begin":
            session.subscribe(lambda event: print(event.type, flush=True), "child_session_end")
        await session.prompt("begin")
        tokens = session.session_manager.stats().tokens.total
        results = [each.text for each in script.requests[0].tool_results]
        print(json.dumps([results, tokens]))

asyncio.run(main(*sys.argv[1:]))
"""


def stored(agent_dir):
    return "".join(file.read_text() for file in (agent_dir / "sessions").rglob("*.jsonl"))


@pytest.mark.slow
def test_results_and_cost_of_finished_agents_survive_a_kill_of_their_parent(repository, pi_agent_dir):
    with subprocess.Popen(
        [sys.executable, "-c", RESUME, "begin", repository, pi_agent_dir], stdout=subprocess.PIPE, text=True
    ) as program:
        ended = [program.stdout.readline() for _ in range(2)]
        until = time.monotonic() + PATIENCE
        while stored(pi_agent_dir).count('"finished_call"') < 2 and time.monotonic() < until:
            time.sleep(0.02)
        program.kill()
    done = subprocess.run(
        [sys.executable, "-c", RESUME, "resume", repository, pi_agent_dir], capture_output=True, text=True, check=True
    )
    results, tokens = json.loads(done.stdout)

    assert ended == ["child_session_end\n"] * 2
    assert sorted(each.split("\n")[0] for each in results)[:2] == ["Found one.", "Found two."]
    assert tokens >= 60
