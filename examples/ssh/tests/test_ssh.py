"""The tools work where ssh leads: here a program of that name runs commands in another folder."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from pi_testing import text, tool_call, until

pytestmark = pytest.mark.pi(
    entry_points=["tools"],
    tools=["read", "bash", "edit", "write", "grep", "find", "ls"],
    session={"flags": {"ssh": "ann@far:project"}},
)

FAKE_SSH = """#!/bin/sh
echo "$1" >> "{log}"
[ "$1" = ann@far ] || {{ echo "ssh: unknown host $1" >&2; exit 255; }}
cd "{home}" && shift && exec sh -c "$*"
"""


@pytest.fixture(autouse=True)
def far(tmp_path_factory, monkeypatch):
    """The project's folder on the other computer."""
    root = tmp_path_factory.mktemp("far")
    (root / "bin").mkdir()
    ssh = root / "bin" / "ssh"
    ssh.write_text(FAKE_SSH.format(log=root / "hosts", home=root / "home"))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # where ripgrep is installed
    monkeypatch.setenv("PATH", str(root / "bin"), prepend=os.pathsep)
    project = root / "home" / "project"
    project.mkdir(parents=True)
    return project


async def results_of(session, script, *calls):
    """Let the model call tools, and return the results."""
    script.turn(*calls).turn(text("Done."))
    await session.prompt("go")
    return [result.text for result in script.requests[-1].tool_results]


async def test_files_are_written_edited_and_read_there(far, pi_session, script, fake_ui, tmp_path):
    await results_of(pi_session, script, tool_call("write", path="src/it's.txt", content="one\ntwo\n"))
    await results_of(pi_session, script, tool_call("edit", path="src/it's.txt", oldText="two", newText="three"))
    (read,) = await results_of(pi_session, script, tool_call("read", path="src/it's.txt"))

    assert read == "one\nthree\n"
    assert (far / "src" / "it's.txt").read_text() == "one\nthree\n"
    assert [*(far / "src").iterdir()] == [far / "src" / "it's.txt"]
    assert not (tmp_path / "src").exists()
    assert fake_ui.statuses["ssh"] == f"ann@far:{far}"


async def test_commands_run_there(far, pi_session, script):
    (message,) = await results_of(pi_session, script, tool_call("bash", command="pwd; exit 3"))

    assert message == f"{far}\n\n\nCommand exited with code 3"


async def test_command_of_the_user_runs_there(far, pi_session):
    ran = await pi_session.execute_bash("pwd")

    assert ran.output.strip() == str(far)


async def test_searches_look_there(far, pi_session, script):
    (far / "a.txt").write_text("needle\n")
    (far / "deep").mkdir()

    ls, grep, find = await results_of(
        pi_session,
        script,
        tool_call("ls"),
        tool_call("grep", pattern="needle"),
        tool_call("find", pattern="[ad]*"),
    )

    assert ls == "a.txt\ndeep/"
    assert sorted(find.splitlines()) == ["a.txt", "deep/"]
    assert "a.txt:1: needle" in grep


async def test_what_is_wrong_there_is_reported_as_for_local_files(far, pi_session, script):
    (message,) = await results_of(pi_session, script, tool_call("read", path="missing.txt"))

    assert message == f"ENOENT: no such file or directory, access '{far}/missing.txt'"


async def test_the_model_gets_its_working_directory(far, pi_session, script):
    await results_of(pi_session, script)

    assert f"All tools work on ann@far. Their working directory is {far}." in script.requests[0].system_prompt


@pytest.mark.pi(session={"flags": {"ssh": "ann@nowhere:project"}})
async def test_nothing_is_done_here_where_the_other_computer_is_not_reached(pi_session, script, fake_ui, tmp_path):
    await results_of(pi_session, script)
    ran = await pi_session.execute_bash("touch a")

    assert fake_ui.notices[0].message.startswith("ssh ann@nowhere failed: ssh: unknown host ann@nowhere")
    assert script.requests[0].tools == ()
    assert ran.exit_code == 255
    assert not (tmp_path / "a").exists()


async def test_abort_ends_the_command_there(pi_session, script, far):
    running = asyncio.create_task(
        results_of(pi_session, script, tool_call("bash", command="echo $$ > pid; exec sleep 60"))
    )
    await until(lambda: (far / "pid").exists() and (far / "pid").read_text().strip())

    await pi_session.abort()
    await running

    with pytest.raises(ProcessLookupError):
        os.kill(int((far / "pid").read_text()), 0)
