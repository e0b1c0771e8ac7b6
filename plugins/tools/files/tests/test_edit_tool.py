# ruff: noqa: RUF001 - characters that look alike are what is tested
"""``edit`` from the model's arguments to the file: shapes, errors, details, what stays as it was."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from pi_testing import for_each
from pi_tools import EditOptions, create_edit_tool
from pi_tools.edit import fold
from pi_tools.editing.match import Edit, apply
from pi_tools.failure import ToolFailure
from pi_tools.local_files import EDIT_LIMIT, read_regular

MORE = "Please provide more context to make it unique."
EXACTLY = "must match exactly including all whitespace and newlines."
SAME = (
    "The replacement produced identical content. "
    "This might indicate an issue with special characters or the text not existing as expected."
)


def edits(*pairs):
    return [{"oldText": old, "newText": new} for old, new in pairs]


async def test_texts_are_replaced_and_described(call, tmp_path):
    (tmp_path / "a").write_text("one\ntwo\nthree\n")

    result = await call("edit", path="a", edits=edits(("two", "2"), ("three\n", "3\n4\n")))

    assert result.content[0].text == "Successfully replaced 2 block(s) in a."
    assert (tmp_path / "a").read_text() == "one\n2\n3\n4\n"
    assert result.details == {
        "diff": " 1 one\n-2 two\n-3 three\n+2 2\n+3 3\n+4 4",
        "patch": "--- a\n+++ a\n@@ -1,3 +1,4 @@\n one\n-two\n-three\n+2\n+3\n+4\n",
        "firstChangedLine": 2,
    }


async def test_far_context_is_left_out(call, tmp_path):
    (tmp_path / "a").write_text("".join(f"{n}\n" for n in range(1, 31)))

    result = await call("edit", path="a", edits=edits(("\n10\n", "\nten\n"), ("30\n", "")))

    assert result.details["diff"].split("\n") == [
        "    ...", "  6 6", "  7 7", "  8 8", "  9 9", "-10 10", "+10 ten", " 11 11", " 12 12", " 13 13", " 14 14",
        "    ...", " 26 26", " 27 27", " 28 28", " 29 29", "-30 30",
    ]  # fmt: skip
    assert "@@ -6,9 +6,9 @@" in result.details["patch"]
    assert "@@ -26,5 +26,4 @@" in result.details["patch"]


async def test_emptying_a_file(call, tmp_path):
    (tmp_path / "a").write_text("x")

    result = await call("edit", path="a", edits=edits(("x", "")))

    assert "@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n" in result.details["patch"]
    assert (tmp_path / "a").read_bytes() == b""


async def test_a_file_beyond_the_limit_is_refused_unread(failure, tmp_path):
    with (tmp_path / "big").open("wb") as file:
        file.truncate(EDIT_LIMIT + 1)  # a hole: it takes no room

    assert await failure("edit", path="big", edits=edits(("a", "b"))) == (
        "Could not edit file: big. It is larger than 64.0MB, the most that edit takes. "
        "Use bash for it (sed, or a short script)."
    )


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
async def test_a_file_longer_than_its_size_says_is_read_up_to_the_limit():
    with pytest.raises(OSError, match="File too large"):
        read_regular("/proc/self/status", limit=10)


async def test_the_limit_holds_for_files_elsewhere_too(call, tmp_path, monkeypatch):
    class Elsewhere:
        async def access(self, path):
            pass

        async def read_file(self, path):
            return b"a" * 11

    monkeypatch.setattr("pi_tools.local_files.EDIT_LIMIT", 10)
    tool = create_edit_tool(tmp_path, EditOptions(operations=Elsewhere()))

    with pytest.raises(ToolFailure, match="larger than 10B"):
        await call("edit", tool=tool, path="far", edits=edits(("a", "b")))


@for_each(
    ("given", "pairs"),
    [
        ({"oldText": "a", "newText": "b"}, [("a", "b")]),
        ({"old_text": "a", "new_text": "b"}, [("a", "b")]),
        ({"edits": '[{"oldText": "a", "newText": "b"}]'}, [("a", "b")]),
        ({"edits": {"oldText": "a", "newText": "b"}}, [("a", "b")]),
        ({"edits": [{"old_text": "a", "new_text": "b"}]}, [("a", "b")]),
        ({"edits": edits(("x", "y")), "oldText": "a", "newText": "b"}, [("x", "y"), ("a", "b")]),
        ({"edits": '{"oldText": "x", "newText": "y"}', "oldText": "a", "newText": "b"}, [("x", "y"), ("a", "b")]),
    ],
)
def test_older_shapes_are_folded_in(given, pairs):
    assert fold({"path": "p", **given}) == {"path": "p", "edits": edits(*pairs)}


@for_each("given", [[], "text", None, {"edits": "no json"}, {"edits": 5}, {"oldText": 5, "newText": "b"}])
def test_what_is_no_known_shape_is_left_to_validation(given):
    assert fold(given) == given


def test_a_json_text_nested_beyond_measure_is_left_to_validation():
    assert fold({"path": "a", "edits": "[" * 200_000})["edits"] == "[" * 200_000


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "Edit tool input is invalid. edits must contain at least one replacement."),
        (
            [("nope", "x")],
            f"Could not find the exact text in a. The old text {EXACTLY}",
        ),
        (
            [("one", "1"), ("nope", "x")],
            f"Could not find edits[1] in a. The oldText {EXACTLY}",
        ),
        (
            [("o", "x")],
            (
                f"Found 3 occurrences of the text in a. The text must be unique. {MORE}\n\nThey are at these lines:\n"
                "1: one\n\n1: one\n2: two\n\n2: two\n3: three o"
            ),
        ),
        (
            [("one", "1"), ("t", "x")],
            (
                f"Found 2 occurrences of edits[1] in a. Each oldText must be unique. {MORE}\n\n"
                "They are at these lines:\n"
                "1: one\n2: two\n\n2: two\n3: three o"
            ),
        ),
        (
            [("one", "one")],
            f"No changes made to a. {SAME}",
        ),
        ([("", "x")], "oldText must not be empty in a."),
        ([("one", "1"), ("", "x")], "edits[1].oldText must not be empty in a."),
        (
            [("two\n", "2"), ("wo\nthr", "x")],
            "edits[0] and edits[1] overlap in a. Merge them into one edit or target disjoint regions.",
        ),
        (
            [("two", "2"), ("two", "2")],
            "edits[0] and edits[1] overlap in a. Merge them into one edit or target disjoint regions.",
        ),
    ],
)
async def test_errors_leave_the_file_alone(failure, tmp_path, pairs, message):
    (tmp_path / "a").write_text("one\ntwo\nthree o\n")

    assert await failure("edit", path="a", edits=edits(*pairs)) == message
    assert (tmp_path / "a").read_text() == "one\ntwo\nthree o\n"


async def test_a_missing_file(failure):
    assert await failure("edit", path="a", edits=edits(("a", "b"))) == "Could not edit file: a. Error code: ENOENT."


async def test_a_directory_and_a_fifo(failure, tmp_path):
    os.mkfifo(tmp_path / "fifo")

    assert await failure("edit", path=".", edits=edits(("a", "b"))) == "Could not edit file: .. Error code: EISDIR."
    assert "a FIFO" in await failure("edit", path="fifo", edits=edits(("a", "b")))


async def test_touching_edits_and_a_no_op_among_real_ones(text, tmp_path):
    (tmp_path / "a").write_text("abcd")

    assert (
        await text("edit", path="a", edits=edits(("ab", "1"), ("cd", "cd"))) == "Successfully replaced 2 block(s) in a."
    )
    assert (tmp_path / "a").read_text() == "1cd"


async def test_bom_and_endings_of_untouched_lines_stay(text, tmp_path):
    (tmp_path / "a").write_bytes("\ufeffone\r\ntwo\nthree\rfour\r\nfive".encode())

    await text("edit", path="a", edits=edits(("three\nfour", "3\n4\n4b"), ("one", "1")))

    assert (tmp_path / "a").read_bytes() == "\ufeff1\r\ntwo\n3\r4\r\n4b\r\nfive".encode()


@for_each(
    ("edit", "after"),
    [
        (("two\n", "2\nnew\n"), b"one\r\n2\r\nnew\r\nthree\nfour\r\n"),
        (("one\ntwo\n", "1\n2\nnew\nnewer\n"), b"1\r\n2\r\nnew\r\nnewer\r\nthree\nfour\r\n"),
        (("three\n", "3\nnew\n"), b"one\r\ntwo\r\n3\nnew\nfour\r\n"),
        (("two", "2\nnew"), b"one\r\n2\r\nnew\r\nthree\nfour\r\n"),
    ],
)
async def test_lines_added_in_a_file_with_several_endings_end_like_those_they_are_added_to(edit, after, text, tmp_path):
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\nthree\nfour\r\n")

    await text("edit", path="a", edits=edits(edit))

    assert (tmp_path / "a").read_bytes() == after


LOOSE = (
    "is not in the file exactly. This was replaced, which differs from it only in the form of characters or in blanks "
    "at the end of lines"
)


async def test_a_fuzzy_match_replaces_what_it_matched_and_says_so(text, tmp_path):
    (tmp_path / "a").write_text("keep \u201cthis\u201d  \nsay \u201chi\u201d \u2013 now  \nand \u00a0 this  \n")

    result = await text("edit", path="a", edits=edits(('say "hi"', 'say "bye"')))

    assert result == f"Successfully replaced 1 block(s) in a.\noldText {LOOSE} (line 2): say \u201chi\u201d"
    assert (tmp_path / "a").read_text() == 'keep \u201cthis\u201d  \nsay "bye" \u2013 now  \nand \u00a0 this  \n'


@for_each(
    ("content", "pairs", "after"),
    [
        (
            "x = f(1,\u00a02)  # 全角：「価格」\u201c引用\u201d ｶﾅ \u2014\ny = 1\n",
            [("f(1, 2)", "f(1, 3)")],
            "x = f(1, 3)  # 全角：「価格」\u201c引用\u201d ｶﾅ \u2014\ny = 1\n",
        ),
        (
            's = "１２３：ＡＢＣ"\nt = 1\nu\u00a0= 2\n',
            [("s = ", "S = "), ("u = 2", "u = 3")],
            'S = "１２３：ＡＢＣ"\nt = 1\nu = 3\n',
        ),
        (
            "Title  \nname: \u201cAnn\u201d\u00a0B  \nnext  \n",
            [('Ann" B', 'Ann" C')],
            'Title  \nname: \u201cAnn" C  \nnext  \n',
        ),
        ("a \ufb01x ² ½ x\u00a0y\n", [("x y", "x z")], "a \ufb01x ² ½ x z\n"),
        ("a \nb\t\r\nc  ", [("b\nc", "B\nC")], "a \nB\r\nC  "),
        ("one\t\nnext\n", [("one  ", "two  ")], "two  \nnext\n"),
        ("cafe\u0301 a\u00a0b\n", [("caf\u00e9 a b", "tea")], "tea\n"),
    ],
)
async def test_nothing_else_on_the_line_changes(content, pairs, after):
    assert apply(content, [Edit(*pair) for pair in pairs], "a").text == after


async def test_a_match_within_a_character_is_none(failure, tmp_path):
    (tmp_path / "a").write_text("\ufb01x it\u2019s\n")

    assert "Could not find" in await failure("edit", path="a", edits=edits(("ix it's", "x")))


async def test_matches_that_look_the_same_are_shown(failure, tmp_path):
    (tmp_path / "a").write_text("it's\nno\nit\u2019s here\n")

    assert await failure("edit", path="a", edits=edits(("it's", "x"))) == (
        f"Found 2 occurrences of the text in a. The text must be unique. {MORE}\n\n"
        "They differ only in the form of characters or in blanks:\n1: it's\n\n2: no\n3: it\u2019s here"
    )
    assert (tmp_path / "a").read_text() == "it's\nno\nit\u2019s here\n"


async def test_only_the_first_of_many_matches_are_shown(failure, tmp_path):
    (tmp_path / "a").write_text("same\n" * 9)

    message = await failure("edit", path="a", edits=edits(("same", "x")))

    assert message.endswith("4: same\n5: same\n... and 4 more")


async def test_the_most_similar_text_is_shown_when_there_is_no_match(failure, tmp_path):
    (tmp_path / "a").write_text("def one():\n    return 1\n\n\ndef two():\n    return  2\n")

    assert await failure("edit", path="a", edits=edits(("def two():\n  return 2", "x"))) == (
        f"Could not find the exact text in a. The old text {EXACTLY}\n\n"
        "The most similar text in the file:\n5: def two():\n6:     return  2"
    )


async def test_occurrences_are_counted_as_a_reader_sees_them(failure, tmp_path):
    (tmp_path / "a").write_text("it's\nit\u2019s\n")

    assert "Found 2 occurrences" in await failure("edit", path="a", edits=edits(("it's", "x")))


async def test_case_and_indentation_are_never_fuzzy(failure, tmp_path):
    (tmp_path / "a").write_text("  Name\n")

    assert "Could not find" in await failure("edit", path="a", edits=edits(("name", "x")))
    assert "Could not find" in await failure("edit", path="a", edits=edits(("    Name", "x")))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("grüße aus köln, schöne häuser und bäume\n".encode("latin-1") * 20, ""),
        ("text\n".encode("utf-16"), "utf-16le"),
        ("text\n".encode("utf-16-be"), "utf-16be"),
        ("text\n".encode("utf-32"), "utf-32le"),
        (b"\xff\x00\xfe\x01text", "binary"),
    ],
)
async def test_other_encodings_are_named_and_refused(failure, tmp_path, content, name):
    (tmp_path / "a").write_bytes(content)

    message = await failure("edit", path="a", edits=edits(("t", "x")))

    assert message.startswith(f"Could not edit file: a. It is not UTF-8 (detected: {name}")
    assert (tmp_path / "a").read_bytes() == content


async def test_parallel_edits_of_one_file_all_land(text, tmp_path):
    (tmp_path / "a").write_text("".join(f"line{n}.\n" for n in range(50)))
    (tmp_path / "link").symlink_to("a")

    await asyncio.gather(
        *(text("edit", path="link" if n % 2 else "a", edits=edits((f"line{n}.", f"done{n}."))) for n in range(50))
    )

    assert (tmp_path / "a").read_text() == "".join(f"done{n}.\n" for n in range(50))
