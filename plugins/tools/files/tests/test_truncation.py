"""Truncation keeps whole lines, whole characters and counts that add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_tools import truncate_head, truncate_line, truncate_tail
from pi_tools.truncate import format_size, size_of

texts = st.text(st.sampled_from("ab\n\r é€😀\0"), max_size=200)
limits = st.integers(1, 40)


def lines_of(text):
    return text.removesuffix("\n").split("\n") if text else []


@given(texts, limits, limits)
def test_head_is_whole_lines_from_the_beginning(text, max_lines, max_bytes):
    record = truncate_head(text, max_lines=max_lines, max_bytes=max_bytes)

    output = record["content"]
    assert text.startswith(output)
    assert record["totalBytes"] == len(text.encode())
    assert record["outputBytes"] == len(output.encode())
    assert record["totalLines"] == len(lines_of(text))
    if record["truncated"]:
        assert record["outputBytes"] <= max_bytes
        assert record["outputLines"] <= max_lines
        assert lines_of(text)[: record["outputLines"]] == (output.split("\n") if record["outputLines"] else [])
    else:
        assert output == text


@given(texts, limits, limits)
def test_tail_is_whole_lines_at_the_end_or_the_end_of_one(text, max_lines, max_bytes):
    record = truncate_tail(text, max_lines=max_lines, max_bytes=max_bytes)

    output = record["content"]
    assert text.removesuffix("\n").endswith(output) or output == text
    assert record["outputBytes"] == len(output.encode())
    assert record["totalLines"] == len(lines_of(text))
    if record["truncated"]:
        assert record["outputBytes"] <= max_bytes
        assert record["outputLines"] <= max_lines
    if record["lastLinePartial"]:
        assert lines_of(text)[-1].endswith(output)
    elif record["truncated"]:
        assert lines_of(text)[len(lines_of(text)) - record["outputLines"] :] == output.split("\n")


@given(texts)
def test_nothing_is_truncated_within_the_limits(text):
    for truncate in (truncate_head, truncate_tail):
        record = truncate(text, max_lines=1000, max_bytes=10_000)
        assert (record["content"], record["truncated"], record["truncatedBy"]) == (text, False, None)


@given(st.text(st.sampled_from("a😀é"), max_size=30), limits)
def test_a_line_is_cut_between_characters(line, units):
    output, cut = truncate_line(line, units)

    assert cut == (len(line.encode("utf-16-le")) // 2 > units)
    kept = output.removesuffix("... [truncated]") if cut else output
    assert line.startswith(kept)
    assert len(kept.encode("utf-16-le")) // 2 <= units


def test_lone_surrogates_count_as_the_replacement_they_become():
    assert size_of("\ud800a") == 4


def test_sizes_read_as_the_contract_has_them():
    assert [format_size(size) for size in (0, 1023, 1024, 51200, 60006, 4_718_592)] == [
        "0B", "1023B", "1.0KB", "50.0KB", "58.6KB", "4.5MB",
    ]  # fmt: skip


def test_the_record_has_the_names_of_the_wire():
    assert list(truncate_head("a")) == [
        "content", "truncated", "truncatedBy", "totalLines", "totalBytes", "outputLines", "outputBytes",
        "lastLinePartial", "firstLineExceedsLimit", "maxLines", "maxBytes",
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [truncate_head, truncate_tail])
@pytest.mark.parametrize(("over", "newline", "lines"), [(0, "", 512), (0, "\n", 512), (1, "\n", 512), (1, "", 511)])
def test_lines_of_exactly_the_limit_are_all_kept(cut, over, newline, lines):
    """The newline at the end is not shown, so it needs no room."""
    text = ("x" * 99 + "\n") * 511
    text += "y" * (51_200 + over - len(text) - len(newline)) + newline

    assert cut(text)["outputLines"] == lines
