"""``read`` on what is not a readable file: an answer, never a hang."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest


async def test_a_missing_file(failure, tmp_path):
    assert await failure("read", path="x/y") == f"ENOENT: no such file or directory, access '{tmp_path}/x/y'"


async def test_a_directory(failure, tmp_path):
    assert await failure("read", path=".") == "EISDIR: illegal operation on a directory, read"


async def test_a_file_as_directory(failure, tmp_path):
    (tmp_path / "a").touch()

    assert await failure("read", path="a/b") == f"ENOTDIR: not a directory, access '{tmp_path}/a/b'"


async def test_an_unreadable_file(failure, ctx, plain_user):
    (ctx.cwd / "a").touch(mode=0)

    with plain_user:
        message = await failure("read", path="a")

    assert message == f"EACCES: permission denied, access '{ctx.cwd}/a'"


async def test_a_broken_link_and_a_cycle(failure, tmp_path):
    (tmp_path / "a").symlink_to("nowhere")
    (tmp_path / "b").symlink_to("b")

    assert (await failure("read", path="a")).startswith("ENOENT: no such file")
    assert (await failure("read", path="b")).startswith("ELOOP: too many symbolic links")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
async def test_a_device(failure, path):
    assert "a character device" in await failure("read", path=path) or "ENXIO" in await failure("read", path=path)


async def test_a_fifo_does_not_hang(failure, tmp_path):
    os.mkfifo(tmp_path / "a")

    assert "a FIFO (named pipe), not a file" in await failure("read", path="a")


async def test_a_socket(failure, tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "a"))

        assert await failure("read", path="a")


@pytest.mark.parametrize("path", ["a\0b", "\ud800", ""])
async def test_a_path_that_is_none(failure, path):
    assert await failure("read", path=path)


async def test_an_offset_with_more_digits_than_python_prints(failure, text, tmp_path):
    (tmp_path / "a").write_text("x\n")

    assert (await failure("read", path="a", offset=10**5000)).endswith("is beyond end of file (2 lines total)")
    assert await text("read", path="a", limit=10**5000) == "x\n"


async def test_a_name_too_long(failure):
    assert (await failure("read", path="x" * 5000)).startswith("ENAMETOOLONG: name too long, access")


async def test_names_with_newlines_and_invalid_utf8(text, tmp_path):
    (tmp_path / "a\nb").write_text("newline")
    (tmp_path / "caf\udce9").write_text("latin")

    assert await text("read", path="a\nb") == "newline"
    assert await text("read", path="caf\udce9") == "latin"


async def test_a_working_directory_that_vanished(failure, ctx, tmp_path):
    ctx.cwd = tmp_path / "gone"

    assert (await failure("read", path="a")).startswith("ENOENT: no such file or directory, access")


@pytest.mark.slow
async def test_ten_thousand_reads_at_once(text, tmp_path):
    (tmp_path / "a").write_text("x\n" * 100)

    results = await asyncio.gather(*(text("read", path="a", limit=1) for _ in range(10_000)))

    assert set(results) == {"x\n\n[100 more lines in file. Use offset=2 to continue.]"}
