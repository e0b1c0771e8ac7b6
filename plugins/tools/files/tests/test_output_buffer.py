"""A command's output in memory that does not grow, and in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_tools.commands.output import Output
from pi_tools.truncate import truncate_tail

KINDS = st.sampled_from(
    [
        *((b"x", 10), (b"line\n", 1), ("é😀".encode(), 1), (b"\xff\xfe", 1)),
        *((b"y", 70_000), (b"z\n", 3000), (b"\n", 1), (b"\0\r\n", 1)),
    ]
)
"""Bytes, and how often they come."""


@given(st.lists(KINDS, max_size=12), st.integers(1, 100_000))
def test_the_tail_is_the_tail_of_the_whole(parts, step):
    data = b"".join(part * times for part, times in parts)
    output = Output()
    for start in range(0, len(data), step):
        output.feed(data[start : start + step])
    output.close()
    text, details = output.show()

    record = truncate_tail(data.decode("utf-8", "replace"))
    assert data.endswith(output.tail())
    assert output.size == len(data)
    if not record["truncated"]:
        assert (text, details) == (record["content"], None)
        assert output.path is None or data.count(b"\n") > 2000 or len(data) > 51200
    else:
        displayed = details["truncation"]
        assert text.startswith(record["content"] + "\n\n[Showing l")
        assert (displayed["content"], displayed["outputLines"]) == (record["content"], record["outputLines"])
        assert displayed["totalLines"] == record["totalLines"]
        assert Path(details["fullOutputPath"]).read_bytes() == data
    if output.path:
        Path(output.path).unlink()


def feed(output, *chunks):
    for chunk in chunks:
        output.feed(chunk)
    output.close()
    text, details = output.show()
    if output.path:
        Path(output.path).unlink()
    return text.rpartition("\n\n")[2].replace(str(output.path), "P"), details


def test_notice_for_lines():
    assert (
        feed(Output(), b"".join(b"%d\n" % n for n in range(2500)))[0]
        == "[Showing lines 501-2500 of 2500. Full output: P]"
    )


def test_notice_for_bytes():
    notice, details = feed(Output(), (b"x" * 99 + b"\n") * 1000)

    assert notice == "[Showing lines 489-1000 of 1000 (50.0KB limit). Full output: P]"
    assert details["truncation"]["truncatedBy"] == "bytes"


@pytest.mark.parametrize("chunks", [[b"x" * 70_042], [b"x" * 70_000, b"x" * 42], [b"x" * 70_042 + b"\n"]])
def test_notice_for_one_huge_line(chunks):
    notice, details = feed(Output(), *chunks)

    assert notice == "[Showing last 50.0KB of line 1 (line is 68.4KB). Full output: P]"
    assert len(details["truncation"]["content"]) == 51200


def test_a_huge_line_followed_by_a_short_one_shows_only_that():
    notice, details = feed(Output(), b"x" * 70_000 + b"\ntail")

    assert details["truncation"]["content"] == "tail"
    assert notice == "[Showing lines 2-2 of 2 (50.0KB limit). Full output: P]"


def test_a_character_is_not_cut():
    _, details = feed(Output(), "é".encode() * 30_000 + b"x")

    assert details["truncation"]["content"] == "é" * 25_599 + "x"


def test_the_file_stops_at_its_cap_and_says_so():
    output = Output(file_cap=100_000)
    output.feed(b"a" * 60_000)
    output.feed(b"b" * 60_000)
    output.feed(b"c" * 60_000)
    output.close()

    text, details = output.show()
    assert text.endswith("(it was cut at 97.7KB)]")
    assert Path(details["fullOutputPath"]).read_bytes() == b"a" * 60_000 + b"b" * 40_000
    Path(output.path).unlink()


def test_a_file_exactly_at_its_cap_was_not_cut():
    output = Output(file_cap=100_000)
    output.feed(b"a" * 100_000)
    output.close()

    assert output.show()[0].endswith(f"{output.path}]")
    Path(output.path).unlink()


def test_a_folder_that_takes_no_file_does_not_stop_the_command(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    output = Output()
    output.feed(b"x\n" * 3000)
    output.close()

    text, details = output.show()
    assert text.endswith("Full output: unavailable (it could not be written: No such file or directory)]")
    assert "fullOutputPath" not in details


def test_memory_does_not_grow_with_the_output():
    output = Output()
    for _ in range(200):
        output.feed(b"x" * 100_000)
    output.close()

    assert len(output.tail()) <= 4 * 102_400
    Path(output.path).unlink()
