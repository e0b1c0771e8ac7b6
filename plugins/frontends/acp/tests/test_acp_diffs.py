"""What a call is going to change is displayed as it will be, for any text."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pi_acp.tool_calls import changed_line, diffs_of


@given(
    text=st.text(min_size=1, max_size=200),
    cut=st.tuples(st.integers(0, 200), st.integers(1, 20)),
    new=st.text(max_size=20),
)
def test_a_replacement_is_the_difference_of_the_whole_file(tmp_path_factory, text, cut, new):
    folder = tmp_path_factory.getbasetemp()
    (folder / "a.txt").write_bytes(text.encode())
    begin = cut[0] % len(text)
    old = text[begin : begin + cut[1]]
    assume(text.count(old) == 1)

    (diff,) = diffs_of("edit", {"path": "a.txt", "edits": [{"oldText": old, "newText": new}]}, folder)

    line = changed_line("edit", {"edits": [{"oldText": old, "newText": new}]}, [diff])

    before, after = text.split("\n"), diff["newText"].split("\n")
    assert line is not None
    assert before[: line - 1] == after[: line - 1]
    assert text == diff["newText"] or line == len(before) or before[line - 1 : line] != after[line - 1 : line]
    assert diff["oldText"] == text
    assert diff["newText"] == text.replace(old, new)


def test_edits_that_do_not_fit_the_file_are_differences_of_their_own(tmp_path):
    (tmp_path / "a.txt").write_text("one one two\n")
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "three", "newText": "3"}]

    diffs = diffs_of("edit", {"path": "a.txt", "edits": edits}, tmp_path)

    assert [(diff["oldText"], diff["newText"]) for diff in diffs] == [("one", "1"), ("three", "3")]
    assert (
        changed_line("edit", {"edits": edits}, diffs) is changed_line("edit", {"edits": edits[:1]}, diffs[:1]) is None
    )


def test_a_new_file_has_no_text_before(tmp_path):
    (diff,) = diffs_of("write", {"path": "new.txt", "content": "x"}, tmp_path)

    assert diff == {"type": "diff", "path": str(tmp_path / "new.txt"), "oldText": None, "newText": "x"}


def test_other_calls_change_no_file(tmp_path):
    assert diffs_of("bash", {"command": "ls", "path": "a.txt"}, tmp_path) == []
    assert diffs_of("write", {"path": "a.txt", "content": 7}, tmp_path) == []
