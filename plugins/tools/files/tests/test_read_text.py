"""Text as ``read`` shows it: lines, limits and notices."""

from __future__ import annotations

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import AbortController
from pi_tools.failure import ToolFailure
from pi_tools.reading import text as read_text
from pi_tools.reading.text import read_lines, show
from pi_tools.truncate import truncate_head


async def test_content_is_raw(text, tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\xff\n")

    assert await text("read", path="a") == "\ufeffone\r\ntwo\ufffd\n"


TEXTS = [
    ("gb18030", "\u8fd9\u662f\u4e00\u4e2a\u6d4b\u8bd5\u6587\u4ef6\uff0c\u5185\u5bb9\u662f\u4e2d\u6587\u3002\n"),
    ("shift-jis", "\u3053\u308c\u306f\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3067\u3059\u3002\n"),
    ("latin-1", "Gr\u00fc\u00dfe aus K\u00f6ln, sch\u00f6ne H\u00e4user und B\u00e4ume\n"),
    ("latin-1", "caf\u00e9\n"),
]


@pytest.mark.parametrize(("encoding", "line"), TEXTS)
async def test_a_text_that_is_not_utf8_is_reported_and_never_overwritten(text, failure, tmp_path, encoding, line):
    content = (line * 20).encode(encoding)
    (tmp_path / "a").write_bytes(content)

    shown = await text("read", path="a")

    assert "\ufffd" in shown
    assert "[Not UTF-8 (detected: " in shown
    assert "It is not UTF-8 (detected: " in await failure("write", path="a", content="new")
    assert "It is not UTF-8 (detected: " in await failure("edit", path="a", oldText=line[:3], newText="x")
    assert (tmp_path / "a").read_bytes() == content


async def test_a_character_that_a_limit_cuts_is_no_other_encoding(text, tmp_path):
    (tmp_path / "a").write_text("x" + "\u8fd9" * 30_000)
    (tmp_path / "b").write_text("\u8fd9" * 30 + "\n" + "x\n" * 3000)

    assert "Not UTF-8" not in await text("read", path="a")
    assert "Not UTF-8" not in await text("read", path="b")


async def test_an_empty_file_is_an_empty_text(text, tmp_path):
    (tmp_path / "a").touch()

    assert await text("read", path="a") == ""


async def test_2000_lines_and_a_final_newline_are_not_truncated(call, tmp_path):
    (tmp_path / "a").write_text("x\n" * 2000)

    result = await call("read", path="a")

    assert result.content[0].text == "x\n" * 2000
    assert result.details is None


async def test_more_lines_end_in_the_notice(call, tmp_path):
    (tmp_path / "a").write_text("".join(f"{n}\n" for n in range(1, 2002)))

    result = await call("read", path="a")

    assert result.content[0].text.endswith("\n2000\n\n[Showing lines 1-2000 of 2002. Use offset=2001 to continue.]")
    assert result.details["truncation"]["truncatedBy"] == "lines"
    assert result.details["truncation"]["totalLines"] == 2001


async def test_more_bytes_end_in_a_truncation_notice(text, tmp_path):
    (tmp_path / "a").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 1000)

    output = await text("read", path="a")

    assert output.endswith("\n\n[Showing lines 1-512 of 1002 (50.0KB limit). Use offset=513 to continue.]")


async def test_exactly_the_byte_limit_is_not_truncated(text, tmp_path):
    (tmp_path / "a").write_text("x" * 51200)

    assert await text("read", path="a") == "x" * 51200


@pytest.mark.parametrize(
    ("offset", "limit", "output"),
    [
        (None, 5, "1\n2\n3\n4\n5\n\n[1 more lines in file. Use offset=6 to continue.]"),
        (2, 2, "2\n3\n\n[3 more lines in file. Use offset=4 to continue.]"),
        (None, 0, "\n\n[6 more lines in file. Use offset=1 to continue.]"),
        (6, None, ""),
        (0, 100, "1\n2\n3\n4\n5\n"),
        (-3, None, "1\n2\n3\n4\n5\n"),
        (5, 10**30, "5\n"),
    ],
)
async def test_offset_and_limit(text, tmp_path, offset, limit, output):
    (tmp_path / "a").write_text("1\n2\n3\n4\n5\n")
    chosen = {"offset": offset, "limit": limit}

    assert await text("read", path="a", **{k: v for k, v in chosen.items() if v is not None}) == output


async def test_offset_beyond_the_end(failure, tmp_path):
    (tmp_path / "a").write_text("1\n2\n3\n4\n5\n")

    assert await failure("read", path="a", offset=100) == "Offset 100 is beyond end of file (6 lines total)"


async def test_a_first_line_that_is_too_big_says_how_to_get_it(call, tmp_path):
    (tmp_path / "a b").write_text("x\n" + "y" * 60_006 + "\nz")

    result = await call("read", path="a b", offset=2)

    assert (
        result.content[0].text == "[Line 2 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '2p' a b | head -c 51200]"
    )
    assert result.details["truncation"]["firstLineExceedsLimit"]


async def test_of_a_large_file_the_rest_is_not_read(call, tmp_path):
    with (tmp_path / "a").open("wb") as file:
        file.write(b"line\n" * 100_000)
        file.truncate(5 * 1024**3)

    limited = await call("read", path="a", limit=10)
    whole = await call("read", path="a")

    assert (
        limited.content[0].text
        == "line\n" * 9 + "line\n\n[Showing lines 1-10. More lines follow. Use offset=11 to continue.]"
    )
    assert whole.content[0].text.endswith("\n\n[Showing lines 1-2000. More lines follow. Use offset=2001 to continue.]")
    assert whole.details["truncation"]["totalLines"] is None
    assert whole.details["truncation"]["totalBytes"] is None


async def test_one_endless_line_of_a_large_file_is_not_measured(monkeypatch, text, tmp_path):
    monkeypatch.setattr(read_text, "EXACT_SIZE", 1 << 20)
    (tmp_path / "a").write_bytes(b"x" * (1 << 22))

    assert (await text("read", path="a")).startswith("[Line 1 is more than 1.")


pieces = st.lists(st.one_of(st.integers(0, 3), st.sampled_from([51_199, 51_200, 51_201])), max_size=12)


@given(pieces, st.booleans(), st.integers(1, 14), st.none() | st.integers(0, 14), st.sampled_from([1, 7, 1 << 18]))
def test_reading_in_pieces_is_reading_at_once(sizes, newline, offset, limit, chunk):
    data = b"\n".join(b"x" * size for size in sizes) + b"\n" * newline
    lines = data.decode().split("\n")[offset - 1 :]
    original, read_text._CHUNK = read_text._CHUNK, chunk if len(data) < 1000 else 1 << 16
    try:
        if not lines:
            with pytest.raises(ToolFailure, match="beyond end of file"):
                read_lines(io.BytesIO(data), len(data), offset, limit, stopped=lambda: False)
            return
        piece = read_lines(io.BytesIO(data), len(data), offset, limit, stopped=lambda: False)
    finally:
        read_text._CHUNK = original
    output, details = show(piece, "p", limit)

    wanted = "\n".join(lines if limit is None else lines[:limit])
    record = truncate_head(wanted)
    assert piece.total == offset - 1 + len(lines)
    if details:
        assert details["truncation"] == record
    if not record["firstLineExceedsLimit"]:
        assert output.startswith(record["content"])
    if not record["truncated"]:
        assert (output == wanted) == (limit is None or limit >= len(lines))


async def test_an_abort_stops_reading(call, tmp_path):
    (tmp_path / "a").write_text("x")
    controller = AbortController()
    controller.abort()

    with pytest.raises(ToolFailure, match=r"^Operation aborted$"):
        await call("read", path="a", signal=controller.signal)


@pytest.mark.parametrize("given_path", ["@a b.txt", "file://{cwd}/a%20b.txt", "a\u00a0b.txt", "{cwd}/./a b.txt"])
async def test_paths_are_taken_as_they_are_meant(text, tmp_path, given_path):
    (tmp_path / "a b.txt").write_text("found")

    assert await text("read", path=given_path.format(cwd=tmp_path)) == "found"


async def test_home_is_expanded(text, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a").write_text("found")

    assert await text("read", path="~/a") == "found"


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Shot at 3.14\u202fPM.png", "Shot at 3.14 PM.png"),
        ("cafe\u0301", "caf\u00e9"),
        ("it\u2019s", "it's"),
        ("l\u2019e\u0301te\u0301", "l'\u00e9t\u00e9"),
        ("@literal", "@literal"),
        ("nb\u00a0sp", "nb\u00a0sp"),
    ],
)
async def test_names_that_look_the_same_are_found(text, tmp_path, name, asked):
    (tmp_path / name).write_text("found")

    assert await text("read", path=asked) == "found"


async def test_a_binary_file_is_named_and_not_shown(text, tmp_path):
    (tmp_path / "a").write_bytes(b"\x7fELF\0\0" + b"x" * 2000)
    (tmp_path / "b").write_bytes("text".encode("utf-16"))

    assert (
        await text("read", path="a")
        == "[Binary file: application/x-elf, 2.0KB. Not shown as text; use bash to inspect it.]"
    )
    assert "text/plain; charset=utf-16le, 10B" in await text("read", path="b")


async def test_a_nul_behind_the_first_8_kib_is_text(text, tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 8192 + b"\0end")

    assert (await text("read", path="a")).endswith("\0end")


async def test_files_of_the_system_that_claim_no_size_are_read(text):
    assert f"Pid:\t{os.getpid()}" in await text("read", path="/proc/self/status")
