"""The file that names a served session: who is kept out, and what is left behind."""

from __future__ import annotations

import json
import socket
import sys

import pytest

from pi_hookspecs import UserError
from pi_serve.announcement import Announcement

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")


@pytest.fixture
def announce(tmp_path):
    def announce(session, socket="s"):
        return Announcement(tmp_path / "run", session=session, cwd="/work", socket=str(tmp_path / socket))

    return announce


def read(tmp_path):
    return {each.stem: json.loads(each.read_bytes()) for each in (tmp_path / "run").iterdir()}


def test_facts_are_added_and_a_session_replaced(announce, tmp_path):
    with announce("one") as announcement:
        announcement.add(url="http://127.0.0.1:1/")
        announcement.rename("two")
        said = read(tmp_path)
        with announce("one"):
            pass

    assert [*said] == ["two"]
    assert said["two"] == {**said["two"], "session": "two", "cwd": "/work", "url": "http://127.0.0.1:1/"}
    assert read(tmp_path) == {}


def test_a_session_that_another_process_serves_is_not_announced_again(announce, tmp_path):
    with announce("one") as first, announce("two"):
        for attempt in (lambda: announce("two"), lambda: first.rename("two")):
            with pytest.raises(UserError, match="Session 'two' is already served"):
                attempt()
        said = read(tmp_path)

    assert {name: facts["session"] for name, facts in said.items()} == {"one": "one", "two": "two"}


def test_a_socket_in_use_is_left_alone_and_an_abandoned_one_removed(announce, tmp_path, socket_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(socket_path))
    listener.listen()
    with pytest.raises(UserError, match="Another program listens"):
        announce("one", socket_path)
    assert read(tmp_path) == {}
    listener.close()

    with announce("one", socket_path):
        assert not socket_path.exists()


def test_a_file_in_the_place_of_the_socket_is_kept(announce, tmp_path):
    (tmp_path / "s").write_text("mine")
    with pytest.raises(UserError, match="exists and is not a socket"):
        announce("one")

    assert (tmp_path / "s").read_text() == "mine"
