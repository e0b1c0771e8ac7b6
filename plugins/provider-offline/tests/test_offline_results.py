"""What a tool's text means: content and notices."""

from __future__ import annotations

import pytest

from pi_provider_offline._results import Chunk, NotText, Reply, chunk_of, entries_of, output_of


@pytest.mark.parametrize(
    ("text", "first", "expected"),
    [
        ("a\nb\n", 1, Chunk("a\nb\n")),
        ("", 6, Chunk("")),
        ("a\nb\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]", 1, Chunk("a\nb", 3, 9)),
        ("a\nb\n\n[Showing lines 5-6 of 9 (50.0KB limit). Use offset=7 to continue.]", 5, Chunk("a\nb", 7, 9)),
        ("a\nb\n\n[Showing lines 1-2. More lines follow. Use offset=3 to continue.]", 1, Chunk("a\nb", 3, None)),
        ("a\nb\n\n[7 more lines in file. Use offset=3 to continue.]", 1, Chunk("a\nb", 3, 9)),
        ("a\n\n\n[1 more lines in file. Use offset=3 to continue.]", 1, Chunk("a\n", 3, 3)),
    ],
)
def test_content_of_a_read_is_told_from_its_notice(text, first, expected):
    assert chunk_of(Reply(text), first) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]",
        "a\nb\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]\n",
        "a\n\n[7 more lines in file. Use offset=5 to continue.]",
    ],
)
def test_notice_that_does_not_fit_its_text_is_content(text):
    assert chunk_of(Reply(text), 1) == Chunk(text)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("Read image file [image/png]", has_image=True),
        Reply("Read image file [image/png]\n[Image omitted: could not be resized below the inline image size limit.]"),
        Reply("[Line 2 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '2p' a.txt | head -c 51200]"),
        Reply("[Binary file: application/zip, 1.2MB]"),
    ],
)
def test_what_is_no_text_is_recognised(reply):
    assert isinstance(chunk_of(reply, 1), NotText)


def test_limits_of_listings_are_no_entries():
    assert entries_of(Reply("a\nb/\n\n[2 entries limit reached. Use limit=4 for more]"), "(empty directory)") == (
        ("a", "b/"),
        "2 entries limit reached. Use limit=4 for more",
    )
    assert entries_of(Reply("(empty directory)"), "(empty directory)") == ((), None)


def test_cut_output_is_recognised():
    notice = "[Showing lines 2-3 of 3. Full output: /tmp/pi-bash-1.log]"

    assert output_of(Reply(f"b\nc\n\n{notice}")) == ("b\nc", False)
    assert output_of(Reply("(no output)")) == ("", True)
    assert output_of(Reply("a\n")) == ("a\n", True)
