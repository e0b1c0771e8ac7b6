"""``write``: a file has its old or its new content, never anything between."""

from __future__ import annotations

import errno
import os
import stat
import subprocess

import pytest


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


async def test_parents_are_made_and_bytes_are_counted(text, tmp_path):
    assert await text("write", path="a/b/c.txt", content="wörld\n") == "Successfully wrote 7 bytes to a/b/c.txt"
    assert (tmp_path / "a/b/c.txt").read_bytes() == "wörld\n".encode()


async def test_text_is_written_as_it_is(text, tmp_path):
    await text("write", path="a", content="one\r\ntwo\r\ud800")

    assert (tmp_path / "a").read_bytes() == b"one\r\ntwo\r\xef\xbf\xbd"


async def test_mode_and_link_are_kept(text, tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o750)
    (tmp_path / "link").symlink_to("real")

    await text("write", path="link", content="new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o750


async def test_a_new_file_has_the_usual_mode(text, tmp_path):
    await text("write", path="a", content="")
    (tmp_path / "b").touch()

    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


async def test_a_broken_link_gets_its_target(text, tmp_path):
    (tmp_path / "link").symlink_to("real")

    await text("write", path="link", content="new")

    assert (tmp_path / "real").read_text() == "new"


async def test_a_file_of_two_names_stays_one_file(text, tmp_path):
    (tmp_path / "a").write_text("a longer old text")
    os.link(tmp_path / "a", tmp_path / "b")

    await text("write", path="a", content="new")

    assert (tmp_path / "b").read_text() == "new"
    assert (tmp_path / "a").samefile(tmp_path / "b")
    assert names_in(tmp_path) == ["a", "b"]


async def test_where_no_renaming_can_be_the_file_is_written_in_place(text, tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")

    def refuse(*_):
        raise OSError(errno.EBUSY, "busy")

    monkeypatch.setattr(os, "replace", refuse)
    await text("write", path="a", content="new")

    assert (tmp_path / "a").read_text() == "new"
    assert names_in(tmp_path) == ["a"]


async def test_a_directory(failure, tmp_path):
    (tmp_path / "d").mkdir()

    assert await failure("write", path="d", content="") == (
        f"EISDIR: illegal operation on a directory, open '{tmp_path}/d'"
    )


async def test_a_file_as_parent(failure, tmp_path):
    (tmp_path / "f").touch()

    assert await failure("write", path="f/a", content="") == f"EEXIST: file already exists, mkdir '{tmp_path}/f'"


async def test_a_fifo_and_a_device_are_refused(failure, tmp_path):
    os.mkfifo(tmp_path / "a")

    assert "a FIFO" in await failure("write", path="a", content="x")
    assert "a character device" in await failure("write", path="/dev/null", content="x")


async def test_a_read_only_file_stays_as_it_is(failure, ctx, plain_user):
    (ctx.cwd / "a").write_text("old")
    (ctx.cwd / "a").chmod(0o444)

    with plain_user:
        written = await failure("write", path="a", content="x")
        edited = await failure("edit", path="a", oldText="old", newText="x")

    assert written == f"EACCES: permission denied, open '{ctx.cwd}/a'"
    assert edited == "Could not edit file: a. Error code: EACCES."
    assert (ctx.cwd / "a").read_text() == "old"


async def test_in_a_closed_directory_the_file_is_written_in_place(text, ctx, plain_user):
    (ctx.cwd / "d").mkdir()
    (ctx.cwd / "d/a").write_text("old")
    (ctx.cwd / "d/a").chmod(0o666)
    (ctx.cwd / "d").chmod(0o555)

    with plain_user:
        await text("write", path="d/a", content="new")

    assert (ctx.cwd / "d/a").read_text() == "new"
    assert names_in(ctx.cwd / "d") == ["a"]


@pytest.mark.parametrize("name", ["\U0001f600" * 60, "x" * 255, "caf\udce9" * 50])
async def test_the_longest_names_can_be_written(text, tmp_path, name):
    await text("write", path=name, content="old")
    os.link(tmp_path / name, tmp_path / "second")
    await text("write", path=name, content="new")

    assert (tmp_path / "second").read_text() == "new"


async def test_a_file_system_without_attributes_is_no_obstacle(text, tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")

    def refuse(*_):
        raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr(os, "listxattr", refuse, raising=False)
    await text("write", path="a", content="new")

    assert (tmp_path / "a").read_text() == "new"


async def test_any_number_of_folders_is_made_or_the_reason_reported(text, failure, tmp_path):
    assert "Successfully wrote" in await text("write", path="a/" * 1500 + "f", content="x")
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # noqa: ASYNC221 - pytest could not: it would recurse

    assert (await failure("write", path="b/" * 2100 + "f", content="x")).startswith(
        "ENAMETOOLONG: name too long, mkdir '"
    )
    assert [*tmp_path.iterdir()] == []
    assert (await failure("write", path="c" * 300 + "/f", content="x")).startswith(
        "ENAMETOOLONG: name too long, mkdir '"
    )


async def test_a_byte_order_mark_stays_and_wide_encodings_are_refused(text, failure, tmp_path):
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbfold\n")
    (tmp_path / "wide").write_text("old\n", encoding="utf-16")
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\xff")

    await text("write", path="marked", content="new\n")
    await text("write", path="picture", content="new\n")

    assert (tmp_path / "marked").read_bytes() == b"\xef\xbb\xbfnew\n"
    assert (tmp_path / "picture").read_bytes() == b"new\n"
    assert "detected: utf-16le" in await failure("write", path="wide", content="new\n")
    assert (tmp_path / "wide").read_text(encoding="utf-16") == "old\n"
