"""Servers that die, hang, flood and send garbage."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pi_mcp
from pi_mcp.link import link_of
from pi_testing import text
from pi_testing.patience import PATIENCE

pytestmark = [pytest.mark.pi(plugins={"mcp": pi_mcp}), pytest.mark.slow]  # each starts programs that take seconds


async def test_a_server_that_dies_is_named_with_what_it_printed_and_comes_back(
    started, script, fault, result_of
) -> None:
    session = await started({"fault": fault()})

    died = await result_of(session, script, "mcp__fault__die")
    again = await result_of(session, script, "mcp__fault__echo", text="back")

    assert died.is_error
    assert "it ended with code 3" in died.text
    assert "about to die" in died.text
    assert again.text == "back"


async def test_a_call_without_an_answer_ends_at_its_timeout(started, script, fault, result_of) -> None:
    result = await result_of(await started({"fault": fault(timeout=0.3)}), script, "mcp__fault__hang")

    assert result.is_error
    assert "did not answer within 0.3 s" in result.text


async def test_a_line_of_200_megabytes_ends_the_server_and_the_call(started, script, fault, result_of) -> None:
    result = await result_of(await started({"fault": fault()}), script, "mcp__fault__huge")

    assert result.is_error
    assert "more than 16 MB" in result.text


async def test_garbage_and_one_invalid_tool_cost_only_themselves(started, script, fault, result_of, offered) -> None:
    session = await started({"fault": fault("garbage", "invalid-schema")})

    result = await result_of(session, script, "mcp__fault__echo", text="fine")

    assert result.text == "fine"
    assert not [name for name in offered(script) if "broken" in name]


async def test_what_is_only_read_is_asked_for_again_when_the_server_dies(started, script, result_of, fault) -> None:
    session = await started({"fault": fault()})

    read = await result_of(session, script, "read_mcp_resource", server="fault", uri="tide://once")

    assert read.text == "High water at noon"


async def test_characters_of_several_bytes_are_never_cut_in_two(started, script, result_of, fault) -> None:
    sea = "a" + "\U0001f30a" * 40_000
    session = await started({"fault": fault()})

    result = await result_of(session, script, "mcp__fault__echo", text=sea)
    path = Path(result.details["path"])

    assert path.read_text(encoding="utf-8") == sea
    path.unlink()


async def test_odd_names_are_names_that_a_model_can_call(started, script, fault, result_of, offered) -> None:
    session = await started({"fault": fault("odd-names", exposure="direct")})
    script.turn(text("ok"))
    await session.prompt("go")
    (spaced,) = [each for each in session.toolbox.all() if each.label == "fault/with space"]

    result = await result_of(session, script, spaced.name)

    assert result.text == "no tool with space"  # the server got the name that it had given
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in offered(script))
    assert len([name for name in offered(script) if name.startswith("mcp__fault__with_space")]) == 2


async def test_a_list_without_an_end_is_read_up_to_a_limit(started, script, fault) -> None:
    session = await started({"fault": fault("endless-pages", exposure="deferred")})
    script.turn(text("ok"))
    await session.prompt("go")

    assert len([each for each in session.toolbox.all() if each.name.startswith("mcp__fault__page")]) == 100


async def test_a_question_without_a_user_is_cancelled(started, script, fault, result_of) -> None:
    session = await started({"fault": fault()}, ui=None)

    asked = await result_of(session, script, "mcp__fault__ask")
    sampled = await result_of(session, script, "mcp__fault__sample")

    assert "not supported" in asked.text
    assert "not supported" in sampled.text


async def test_a_flood_of_notifications_does_not_stop_the_calls(started, script, fault, result_of) -> None:
    result = await result_of(await started({"fault": fault("flood")}), script, "mcp__fault__echo", text="dry")

    assert result.text == "dry"


async def test_everything_that_a_server_started_ends_with_the_session(
    session_with, script, fault, tmp_path, result_of
) -> None:
    pids = tmp_path / "pids"
    session = session_with({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await session.start()
    await result_of(session, script, "mcp__fault__echo", text="x")

    await session.dispose()

    async with asyncio.timeout(PATIENCE):
        await gone(pids)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # it may end at any time
        return False


async def gone(file: Path) -> None:
    """Return when none of the processes whose ids are in a file runs any more."""
    while any(map(_runs, file.read_text().split())):  # noqa: ASYNC110 - a process that ends sends nothing
        await asyncio.sleep(0.02)


async def test_what_a_server_left_in_another_session_ends_with_its_connection(
    started, script, fake_ui, fault, tmp_path, result_of
) -> None:
    pids = tmp_path / "pids"
    session = await started({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await result_of(session, script, "mcp__fault__echo", text="x")

    await session.prompt("/mcp disable fault")

    await gone(pids)
    assert len(pids.read_text().split()) == 2


@pytest.mark.slow
async def test_servers_end_when_the_sidecar_is_killed(own_sidecar, started, script, fault, tmp_path, result_of) -> None:
    pids = tmp_path / "pids"
    session = await started({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await result_of(session, script, "mcp__fault__echo", text="x")

    os.kill(link_of(session.settings.agent_dir).pid or 0, signal.SIGKILL)

    await gone(pids)
    assert len(pids.read_text().split()) == 2


async def test_a_server_ends_when_its_entry_is_changed_and_reloaded(
    started, script, fault, tmp_path, result_of
) -> None:
    pids = tmp_path / "pids"
    session = await started({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await result_of(session, script, "mcp__fault__echo", text="x")
    (session.settings.agent_dir / "mcp.json").write_text("{}")

    await session.reload()

    await gone(pids)
    assert len(pids.read_text().split()) == 2


ENDINGS = {"end of input": None, **{each: getattr(signal, each) for each in ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")}}
SLOW = [pytest.param(each, marks=pytest.mark.slow) for each in ENDINGS if each != "SIGKILL"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [*SLOW, "SIGKILL"])
async def test_a_deaf_server_and_its_daemon_end_with_pi(fault, tmp_path, ending) -> None:
    pids = tmp_path / "pids"
    entry = fault("daemon", "deaf", start="eager", env={"PID_FILE": str(pids)})
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"fault": entry}}))
    command = [Path(sys.executable).with_name("pi"), "--mode", "rpc", "--model", "offline/rules"]
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(tmp_path)}
    pi = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs in the loop
        command, env=environ, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    while not pids.exists() or len(pids.read_text().split()) < 2:  # noqa: ASYNC110 - a file
        await asyncio.sleep(0.02)

    assert pi.stdin is not None
    if ENDINGS[ending] is None:
        pi.stdin.close()
    else:
        pi.send_signal(ENDINGS[ending])

    await gone(pids)
    pi.stdin.close()
    pi.wait()


IMPATIENT = """
import asyncio, sys
from mcp.client import session
from pi_mcp.sidecar import connection as _connection

# The question for the newer protocol must be given up clearly before the connection is, also on a busy machine.
session.DISCOVER_TIMEOUT_SECONDS, _connection._READ_TIMEOUT = 0.1, 2
spawn = {"argv": sys.argv[1:], "cwd": "/", "env": {}}
spec = {"server": "s", "name": "s", "transport": "stdio", "spawn": spawn}

async def main():
    try:
        await _connection.Connection(spec, None, None).client()
    except _connection.Lost as error:
        print(error)

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_server_that_never_answers_is_reported_as_such_and_not_by_its_end(fault) -> None:
    server = fault("silent")
    command = [sys.executable, "-c", IMPATIENT, server["command"], *server["args"]]

    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert printed == "it did not answer: Request 'initialize' timed out\n"
