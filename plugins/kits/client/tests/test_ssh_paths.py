"""What another computer names as its socket is data: ssh is started for plain paths alone."""

# ruff: noqa: S108 - the paths are another computer's

from __future__ import annotations

import stat

import pytest

from pi_client import PiClientError
from pi_client.served import ServedSession
from pi_client.ssh import forwarded, served_on

HOSTILE = [
    "/tmp/${ANTHROPIC_API_KEY}/x",
    "/tmp/$HOME",
    "/tmp/%h/x",
    "/tmp/a:/tmp/b",
    "relative/socket",
    "~/socket",
    "",
    "/tmp/a\nb",
    "/tmp/a\x1b[2Jb",
    "/tmp/`id`",
    "/tmp/'x'",
    "-oProxyCommand=evil",
]


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """A program in the place of ssh that notes its arguments and ends."""
    calls = tmp_path / "calls"
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{calls}"\ncat "{tmp_path}/answer" 2>/dev/null\nexit 0\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return tmp_path


@pytest.mark.parametrize("path", HOSTILE)
def test_ssh_is_not_started_for_a_socket_that_it_would_not_take_as_written(ssh, path):
    with pytest.raises(PiClientError, match="which is not forwarded"), forwarded("box", ServedSession("s", "/", path)):
        pass

    assert not (ssh / "calls").exists()


@pytest.mark.parametrize(
    "path", ["/home/ann/.pi/agent/run/1a2b.sock", "/Users/Ann Lee/pi-1.2/a_b+c@d,e=f", "/home/josé/s"]
)
def test_plain_paths_are_forwarded(ssh, path):
    with pytest.raises(Exception, match="ssh to 'box' ended"), forwarded("box", ServedSession("s", "/", path)):
        pass

    assert (ssh / "calls").read_text().splitlines()[4].endswith(f"/socket:{path}")


def test_announcements_that_are_no_texts_are_left_out(ssh):
    (ssh / "answer").write_text(
        '{"session": 1, "cwd": "/", "socket": "/s"}\n{"session": "a", "cwd": "/", "socket": "/s"}\n'
    )

    assert [each.session for each in served_on("box")] == ["a"]
