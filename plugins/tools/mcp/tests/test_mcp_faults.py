"""Servers that die, hang, flood and send garbage."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import pi_mcp
from pi_mcp._link import link_of
from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins={"mcp": pi_mcp})


async def result_of(session: Any, script: Any, name: str, **arguments: Any) -> Any:
    script.turn(tool_call(name, **arguments)).turn(text("ok"))
    await session.prompt("go")
    return script.requests[-1].tool_results[-1]


def offered(script: Any, request: int = 0) -> list[str]:
    return list(script.requests[request].tools)


async def test_a_server_that_dies_is_named_with_what_it_printed_and_comes_back(started, script, fault) -> None:
    session = await started({"fault": fault()})

    died = await result_of(session, script, "mcp__fault__die")
    again = await result_of(session, script, "mcp__fault__echo", text="back")

    assert died.is_error
    assert "it ended with code 3" in died.text
    assert "about to die" in died.text
    assert again.text == "back"


async def test_a_call_without_an_answer_ends_at_its_timeout(started, script, fault) -> None:
    result = await result_of(await started({"fault": fault(timeout=0.3)}), script, "mcp__fault__hang")

    assert result.is_error
    assert "did not answer within 0.3 s" in result.text


async def test_a_line_of_200_megabytes_ends_the_server_and_the_call(started, script, fault) -> None:
    result = await result_of(await started({"fault": fault()}), script, "mcp__fault__huge")

    assert result.is_error
    assert "more than 16 MB" in result.text


async def test_garbage_and_one_invalid_tool_cost_only_themselves(started, script, fault) -> None:
    session = await started({"fault": fault("garbage", "invalid-schema")})

    result = await result_of(session, script, "mcp__fault__echo", text="fine")

    assert result.text == "fine"
    assert not [name for name in offered(script) if "broken" in name]


async def test_a_flood_of_notifications_does_not_stop_the_calls(started, script, fault) -> None:
    result = await result_of(await started({"fault": fault("flood")}), script, "mcp__fault__echo", text="dry")

    assert result.text == "dry"


async def test_everything_that_a_server_started_ends_with_the_session(session_with, script, fault, tmp_path) -> None:
    pids = tmp_path / "pids"
    session = session_with({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await session.start()
    await result_of(session, script, "mcp__fault__echo", text="x")

    await session.dispose()

    assert [pid for pid in pids.read_text().split() if _runs(pid)] == []


def _runs(pid: str) -> bool:
    file = Path(f"/proc/{pid}/stat")
    return file.exists() and file.read_text().rpartition(")")[2].split()[0] != "Z"


async def gone(file: Path) -> None:
    """Return when none of the processes whose ids are in a file runs any more."""
    while any(map(_runs, file.read_text().split())):  # noqa: ASYNC110 - what is ended tells nobody
        await asyncio.sleep(0.02)


async def test_what_a_server_left_in_another_session_ends_with_its_connection(
    started, script, fake_ui, fault, tmp_path
) -> None:
    pids = tmp_path / "pids"
    session = await started({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await result_of(session, script, "mcp__fault__echo", text="x")

    await session.prompt("/mcp disable fault")

    await gone(pids)
    assert len(pids.read_text().split()) == 2


async def test_servers_end_when_the_sidecar_is_killed(started, script, fault, tmp_path) -> None:
    pids = tmp_path / "pids"
    session = await started({"fault": fault("daemon", env={"PID_FILE": str(pids)})})
    await result_of(session, script, "mcp__fault__echo", text="x")

    os.kill(link_of(session.settings.agent_dir).pid or 0, signal.SIGKILL)

    await gone(pids)
    assert len(pids.read_text().split()) == 2
