"""What people see of what a tool call gave."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_cli.results import all_rows, failure_rows, last_line, plain_output, preview_rows
from pi_core.base.terminal_text import clean_text
from pi_hookspecs import ImageContent, TextContent, ToolResult
from pi_terminal_kit.words import width_of
from pi_testing import for_each


def preview(text, **how):
    how = {"tool": "bash", "arguments": {"command": "make"}, "width": 60, **how}
    return preview_rows(result=ToolResult.text(text), **how)


def numbered(count):
    return "\n".join(f"line {number}" for number in range(1, count + 1))


def test_short_output_is_shown_with_the_time_it_took():
    assert preview("one\ntwo\n", duration_ms=120) == [("dim", "  one"), ("dim", "  two"), ("dim", "  0.1 s")]


def test_of_long_output_the_first_lines_and_how_many_more_there_are():
    rows = preview(numbered(17), duration_ms=3400)

    assert [text for _, text in rows[:5]] == [f"  line {number}" for number in range(1, 6)]
    assert rows[5:] == [("dim", "  … 12 more lines, 3.4 s")]


def test_a_line_more_is_shown_in_place_of_its_announcement():
    assert [text for _, text in preview(numbered(6))] == [f"  line {number}" for number in range(1, 7)]


def test_no_output_is_named():
    assert preview("", duration_ms=5) == [("dim", "  no output, 0.005 s")]


def test_an_image_is_named():
    result = ToolResult(content=(TextContent("seen"), ImageContent(data="aGk=", mime_type="image/png")))

    assert ("dim", "  [image image/png]") in preview_rows("read", {"path": "a"}, result, width=60)


def test_the_lines_that_an_edit_changed_are_coloured():
    diff = " 1 def tide(hour):\n-2     return 0\n+2     return hour % 12"
    result = ToolResult.text("Replaced", details={"diff": diff})

    rows = preview_rows("edit", {"path": "tide.py"}, result, width=60)

    assert rows == [
        ("dim", "   1 def tide(hour):"),
        ("removed", "  -2     return 0"),
        ("added", "  +2     return hour % 12"),
    ]


def test_a_new_file_is_shown_as_added():
    arguments = {"path": "a", "content": "one\ntwo\n"}

    assert preview("Wrote", tool="write", arguments=arguments) == [("added", "  +one"), ("added", "  +two")]


def test_a_file_that_is_written_over_is_compared():
    arguments = {"path": "a", "content": "one\n2\nthree\n"}

    rows = preview("Wrote", tool="write", arguments=arguments, before="one\ntwo\nthree\n")

    assert [text.strip() for _, text in rows] == ["@@ -1,3 +1,3 @@", "one", "-two", "+2", "three"]


def test_a_file_that_is_written_as_it_was_is_unchanged():
    rows = preview("Wrote", tool="write", arguments={"path": "a", "content": "one\n"}, before="one\n")

    assert rows == [("dim", "  unchanged")]


def test_a_reason_of_one_line_is_whole_and_behind_the_call():
    reason = "Could not find the exact text in tide.py. The old text must match exactly, " + "x" * 500

    assert failure_rows("✗ edit tide.py", reason) == [("", f"✗ edit tide.py: {reason}")]


def test_a_reason_of_many_lines_is_whole_and_below_the_call():
    rows = failure_rows("✗ bash make", "no rule\n\nCommand exited with code 2", 12)

    assert [text for _, text in rows] == ["✗ bash make (0.012 s)", "  no rule", "", "  Command exited with code 2"]


def test_a_failure_of_a_thousand_lines_keeps_its_beginning_and_its_end():
    texts = [text for _, text in failure_rows("✗ bash make", numbered(1000))]

    assert texts[1:3] == ["  line 1", "  line 2"]
    assert "  … 965 more lines …" in texts
    assert texts[-1] == "  line 1000"


def test_a_failure_without_a_reason_says_so():
    assert failure_rows("✗ brew", "") == [("", "✗ brew: failed without a reason")]


def test_colours_of_output_are_taken_out_and_other_controls_shown_as_escapes():
    assert preview("\x1b[31mred\x1b[0m \x1b]0;title\x07") == [("dim", "  red \\x1b]0;title\\x07")]


def test_of_a_rewritten_line_the_last_state_is_shown():
    assert preview("10%\r50%\r100%\r\ndone\r\n") == [("dim", "  100%"), ("dim", "  done")]
    assert plain_output("\x1b[32m10%\r100%\r\ndone") == "10%\n100%\ndone"


@for_each(
    ("text", "expected"), [("one\ntwo\n\n", "two"), ("", ""), ("\n \n", ""), ("1%\r2%", "2%"), ("\x1b[1mb\x1b[0m", "b")]
)
def test_the_last_line_of_an_output(text, expected):
    assert last_line(text) == expected


@given(st.text(), st.integers(10, 80))
def test_any_output_is_rows_that_fit_and_are_clean(text, width):
    rows = [row for _, row in preview(text, width=width)]

    assert all(width_of(row) <= width for row in rows)
    assert all(clean_text(row) == row and "\n" not in row for row in rows)


def test_everything_can_be_had():
    assert [text for _, text in all_rows("bash", {}, ToolResult.text(numbered(100)))][-1] == "line 100"
