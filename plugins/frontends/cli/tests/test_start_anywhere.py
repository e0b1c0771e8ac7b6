"""End to end: no home folder, files that cannot be read, a folder with a long path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,  # each starts programs that take seconds
    pytest.mark.skipif(sys.platform == "win32", reason="permissions and users are of POSIX"),
]

OFFLINE = ("--model", "offline/rules")


def fails(command: list[str]) -> bool:
    """Whether a program cannot be run with a command."""
    if shutil.which(command[0]) is None:
        return True
    return subprocess.run([*command, "true"], check=False, capture_output=True).returncode != 0


def stranger() -> list[str]:
    """Return a command that runs another one as a user whom no list names, without becoming somebody else."""
    command = ["unshare", "-U", "--map-user=12345", "--map-group=12345"]
    if fails(command):
        pytest.skip("user namespaces cannot be made here")
    return command


def without_privileges() -> list[str]:
    """Return a command that runs another one bound by permissions, which root is not."""
    if os.geteuid() != 0:
        return []
    command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
    if fails(command):
        pytest.skip("privileges cannot be dropped here")
    return command


@pytest.mark.parametrize("home", [None, ""])
def test_without_a_home_folder_it_answers_and_says_that_nothing_is_stored(pi, home):
    pi.command = [*stranger(), *pi.command]
    for name in ("HOME", "PI_CODING_AGENT_DIR"):
        pi.env.pop(name, None)
    pi.env |= {"HOME": home} if home is not None else {}
    done, doctor = pi.run(*OFFLINE, "-p", "hi"), pi.run("doctor")

    assert done.returncode == 0
    assert "I found no request" in done.stdout
    assert "HOME is not set, and user 12345 has no entry in the list of users" in done.stderr
    assert "agent folder: HOME is not set" in doctor.stdout
    assert "unexpected" not in done.stderr + doctor.stderr
    assert not (pi.cwd / "~").exists()


def test_without_a_home_folder_the_agent_directory_can_be_given(pi):
    pi.command = [*stranger(), *pi.command]
    pi.env.pop("HOME", None)
    done = pi.run(*OFFLINE, "-p", "hi", PI_CODING_AGENT_DIR=str(pi.agent_dir))

    assert (done.returncode, done.stderr) == (0, "")
    assert [*pi.agent_dir.glob("sessions/*/*.jsonl")]


def test_an_agent_folder_that_cannot_be_read_is_explained_by_prompts_and_doctor(pi):
    pi.command = [*without_privileges(), *pi.command]
    pi.agent_dir.chmod(0)
    try:
        done, doctor = pi.run(*OFFLINE, "-p", "hi"), pi.run("doctor")
        others = [pi.run(*words) for words in (["sessions", "list"], ["config"], ["attach"], ["list"], ["mcp", "list"])]
    finally:
        pi.agent_dir.chmod(0o700)

    assert f"{pi.agent_dir} cannot be read: its permissions do not allow it. Run: chmod u+rwX" in done.stderr
    assert "failed in" not in done.stderr
    assert "agent folder:" in doctor.stdout
    assert "chmod u+rwX" in doctor.stdout
    assert not any("unexpected" in each.stderr for each in (done, doctor, *others))


def test_a_folder_with_a_long_path_has_sessions_that_go_on(pi):
    pi.cwd = pi.cwd.joinpath(*["x" * 50] * 6)
    pi.cwd.mkdir(parents=True)
    first, second = (pi.run(*OFFLINE, *words) for words in (("-p", "hi"), ("-c", "-p", "hello again")))
    listed = pi.run("sessions", "list")

    assert (first.returncode, first.stderr, second.stderr) == (0, "", "")
    (file,) = pi.agent_dir.glob("sessions/*/*.jsonl")
    assert "hello again" in file.read_text()
    assert file.stem.rpartition("_")[2] in listed.stdout
