"""Files are replaced whole, and keep what they had."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pi_core import replace_file
from pi_core.base import replacing
from pi_core.base.replacing import save_file
from pi_hookspecs import UserError


def names_in(folder):
    return sorted(each.name for each in folder.iterdir())


def mode_of(file):
    return stat.S_IMODE(file.stat().st_mode)


def test_the_target_of_a_link_is_replaced_and_keeps_its_permissions(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")

    replace_file(tmp_path / "link", [b"new ", b"content"])

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new content"
    assert mode_of(tmp_path / "a") == 0o640
    assert names_in(tmp_path) == ["a", "link"]


def test_modes_of_new_old_and_private_files(tmp_path):
    before = os.umask(0o022)
    try:
        replace_file(tmp_path / "new", b"")
        (tmp_path / "old").touch(0o777)
        (tmp_path / "old").chmod(0o777)
        replace_file(tmp_path / "old", b"", mode=0o600)  # others no longer write
        (tmp_path / "again").touch(0o777)
        replace_file(tmp_path / "again", b"", mode=0o600, keep=False)
    finally:
        os.umask(before)

    assert [oct(mode_of(tmp_path / name)) for name in ("new", "old", "again")] == ["0o644", "0o755", "0o600"]


def test_parts_that_fail_leave_the_old_file_and_no_draft(tmp_path):
    (tmp_path / "a").write_text("old")

    def parts():
        yield b"new"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        replace_file(tmp_path / "a", parts())

    assert (tmp_path / "a").read_text() == "old"
    assert names_in(tmp_path) == ["a"]


def test_a_name_of_the_longest_length_is_replaced(tmp_path):
    name = "ü" * 127
    replace_file(tmp_path / name, b"content")

    assert names_in(tmp_path) == [name]


def test_a_failure_in_place_brings_the_old_content_back(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "b")
    real = replacing._overwrite

    def fail_once(target, content):
        monkeypatch.setattr(replacing, "_overwrite", real)
        real(target, content[:1])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(replacing, "_overwrite", fail_once)
    with pytest.raises(OSError, match="full"):
        save_file(str(tmp_path / "a"), b"new content")

    assert (tmp_path / "a").read_text() == "old"
    assert names_in(tmp_path) == ["a", "b"]


def test_when_even_that_fails_the_message_names_the_saved_content(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "b")

    def fail(*_):
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(replacing, "_overwrite", fail)
    with pytest.raises(UserError, match="Its old content is in") as caught:
        save_file(str(tmp_path / "a"), b"new")

    saved = str(caught.value).split("'")[-2]
    assert Path(saved).read_text() == "old"


FULL_DISK = """
import os, sys
from pi_core import save_file
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save_file(sys.argv[1], b"x" * 5000)
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("names", [1, 2])
def test_a_file_system_that_takes_no_more_keeps_the_old_file(tmp_path, names):
    (tmp_path / "a").write_text("old" * 100)
    if names == 2:
        os.link(tmp_path / "a", tmp_path / "b")

    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path / "a"], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "OSError"
    assert (tmp_path / "a").read_text() == "old" * 100
    assert names_in(tmp_path) == ["a", "b"][:names]


KILLED = """
import os, signal, sys
from pi_core.base import replacing
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
replacing.save_file(sys.argv[1], b"new" * 1000)
"""


def test_a_process_killed_while_writing_leaves_the_old_file(tmp_path):
    (tmp_path / "a").write_text("old")

    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a"], check=False)

    assert (tmp_path / "a").read_text() == "old"
