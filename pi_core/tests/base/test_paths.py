"""Home folders that do not exist, and folders that cannot be read."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from pi_core.base.paths import NO_HOME, access_problem, agent_dir, expand_home, home_dir
from pi_testing import for_each


def nobody(_number: int) -> None:
    """Know no user, as the list of users of a container."""
    raise KeyError


@pytest.fixture
def homeless(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)


def test_a_user_without_a_home_has_one_where_nothing_can_be_made(homeless):
    assert home_dir({}) == Path(NO_HOME)
    assert agent_dir({}) == Path(NO_HOME, ".pi", "agent")
    with pytest.raises(FileNotFoundError):
        agent_dir({}).mkdir(parents=True)
    assert agent_dir({"PI_CODING_AGENT_DIR": "/srv/pi"}) == Path("/srv/pi")


@for_each("text", ["~", "~/x", "~no-such-user/x", "x/~", "/x"])
def test_no_path_of_a_user_is_an_error(homeless, text):
    assert str(expand_home(text)) == text


def test_a_path_in_the_home_folder_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert expand_home("~/x") == tmp_path / "x"
    assert str(expand_home("~no-such-user/x")) == "~no-such-user/x"


@pytest.fixture
def locked(monkeypatch, tmp_path):
    """Let a folder be closed to this process, although it may be root's."""
    closed = tmp_path / "home" / ".pi"
    (closed / "agent").mkdir(parents=True)
    real = os.access

    def access(path, mode, **more):
        return closed not in (Path(path), *Path(path).parents) and real(path, mode, **more)

    monkeypatch.setattr("os.access", access)
    return closed


def test_a_folder_of_ones_own_that_is_closed_is_opened_by_chmod(locked):
    why, remedy = access_problem(locked / "agent") or ("", "")

    assert why == f"{locked} cannot be read: its permissions do not allow it"
    assert remedy == f"Run: chmod u+rwX {shlex.quote(str(locked))}"


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o000])
@pytest.mark.parametrize("below", ["", ".pi/agent"])
def test_a_file_in_place_of_a_folder_keeps_its_permissions(mode, below, tmp_path):
    file = tmp_path / "home"
    file.touch(mode)
    why, remedy = access_problem(file / below) or ("", "")

    assert re.search("cannot be used: (it is not a folder|Not a directory)$", why)
    assert remedy == "Set PI_CODING_AGENT_DIR to another folder"


def test_a_folder_of_another_user_is_given_back(locked, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: 4242)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    why, remedy = access_problem(locked / "agent") or ("", "")

    assert why == f"{locked} cannot be read, because it belongs to another user, as after a run with sudo"
    assert remedy == f"Run: sudo chown -R 4242 {shlex.quote(str(locked))}"


def test_a_folder_that_can_be_read_or_does_not_exist_is_no_problem(tmp_path):
    assert access_problem(tmp_path) is None
    assert access_problem(tmp_path / "a" / "b") is None
