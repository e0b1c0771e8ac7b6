"""Commands go through the sandbox's program, files outside stay as they are."""

from __future__ import annotations

import os

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(entry_points=["tools"])

FAKE_BWRAP = """#!/bin/sh
printf '%s\\n' "$@" > "{log}"
while [ "$1" != bash ]; do shift; done
exec "$@"
"""


@pytest.fixture
def asked(tmp_path_factory, monkeypatch):
    """Where the stand-in for bubblewrap notes what it was asked for."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "bwrap"
    program.write_text(FAKE_BWRAP.format(log=folder / "log"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder / "log"


async def test_command_runs_inside(asked, pi_session, script, tmp_path):
    script.turn(tool_call("bash", command="echo 'a b'; pwd")).turn(text("Done."))

    await pi_session.prompt("go")

    assert script.requests[1].tool_results[0].text == f"a b\n{tmp_path}\n"
    arguments = asked.read_text().splitlines()
    assert "--unshare-all" in arguments
    assert arguments[arguments.index("--bind") + 1] == str(tmp_path)


async def test_command_of_the_user_runs_inside(asked, pi_session):
    ran = await pi_session.execute_bash("echo mine")

    assert ran.output == "mine\n"
    assert asked.read_text().endswith("bash\n-c\necho mine\n")


@pytest.mark.pi(settings={"sandbox": ["no-such-sandbox"]})
async def test_without_a_sandbox_nothing_runs(pi_session, script, tmp_path):
    script.turn(tool_call("bash", command="touch a")).turn(text("Hm."))

    await pi_session.prompt("go")

    assert "no-such-sandbox" in script.requests[1].tool_results[0].text
    assert not (tmp_path / "a").exists()


async def test_files_are_written_inside_and_not_outside(pi_session, script, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("as it was")
    (tmp_path / "link.txt").symlink_to(outside)
    script.turn(
        tool_call("write", path="in/a.txt", content="new"),
        tool_call("write", path=str(outside), content="new"),
        tool_call("write", path="link.txt", content="new"),
        tool_call("edit", path=str(outside), oldText="was", newText="is"),
    ).turn(text("Done."))

    await pi_session.prompt("go")

    assert [result.is_error for result in script.requests[1].tool_results] == [False, True, True, True]
    assert (tmp_path / "in" / "a.txt").read_text() == "new"
    assert outside.read_text() == "as it was"
