"""Programs that want a terminal are run with it, and the model learns how they ended."""

from __future__ import annotations

import asyncio

import pytest

from pi_testing import text

pytestmark = pytest.mark.pi(entry_points=["tools"])


async def test_the_command_runs_and_its_output_reaches_the_model(pi_session, script, tmp_path):
    script.turn(text("I see."))

    result = await pi_session.execute_bash("i touch made; exit 3")
    await pi_session.prompt("What happened?")

    assert (tmp_path / "made").exists()
    assert result.exit_code == 3
    assert "the output was not captured" in script.requests[0].messages[0].text


async def test_known_programs_need_no_word_before_them(pi_session, monkeypatch, tmp_path):
    (tmp_path / "nano").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "nano").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    result = await pi_session.execute_bash("nano notes.md")

    assert (result.exit_code, result.output) == (7, "(interactive: the output was not captured)")


async def test_a_program_that_is_stopped_ends(pi_session, tmp_path):
    running = asyncio.create_task(pi_session.execute_bash("i touch begun && exec sleep 60"))
    while not (tmp_path / "begun").exists() and not running.done():  # noqa: ASYNC110 - the program signals with a file
        await asyncio.sleep(0.01)

    pi_session.abort_bash()

    assert (await running).cancelled


async def test_other_commands_run_as_ever(pi_session):
    result = await pi_session.execute_bash("echo hello")

    assert result.output.strip() == "hello"
