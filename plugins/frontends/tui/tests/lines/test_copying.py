"""What is selected and copied is the text, not its rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Run
from pi_testing import for_each
from pi_tui.lines.copying import copied_text
from pi_tui.lines.layout import lay_out
from pi_tui.lines.look import Look
from pi_tui.lines.wrap import chop, wrap
from pi_tui.view.blocks import Answer, Tool, User
from pi_tui.view.growing import Growing

LOOK = Look(width=20)


def rows_of(block):
    rows = lay_out(block, LOOK)
    return rows.window(0, len(rows))


@given(
    st.lists(st.sampled_from(["a", "word", "漢字", "👩\u200d💻", "averylongword" * 3]), min_size=1).map(" ".join),
    st.integers(4, 30),
)
def test_wrapped_rows_are_one_line_again(text, width):
    assert (
        copied_text(wrap([Run(text)], width, first=[Run("- ", "mdListBullet")], rest=[Run("  ")])).removeprefix("- ")
        == text
    )
    assert copied_text(chop([Run(text, bold=True)], width)) == text


@for_each(
    ("block", "text"),
    [
        (
            User(id="1", text="A message that is longer than a row.\nAnother line."),
            "\n\nA message that is longer than a row.\nAnother line.\n",
        ),
        (
            Answer(id="1", text=Growing("- a list item that is wrapped\n- two"), done=True),
            "\n- a list item that is wrapped\n- two",
        ),
        (
            Answer(id="1", text=Growing("```\n    x = 'a long line of code'\n```"), done=True),
            "\n```\n    x = 'a long line of code'\n```",
        ),
        (Answer(id="1", text=Growing("> a quote that is wrapped"), done=True), "\n│ a quote that is wrapped"),
        (
            Tool(
                id="1",
                call_id="c",
                name="bash",
                status="done",
                output="a line of output without spaces",
                arguments={"command": "x"},
            ),
            "\n\n$ x\na line of output without spaces\n",
        ),
    ],
)
def test_frames_padding_and_wraps_are_left_out(block, text):
    assert copied_text(rows_of(block)) == text


def test_cells_of_the_first_and_the_last_row_are_chosen():
    rows = wrap([Run("one 漢字 three four")], 8)

    assert [str(row) for row in rows] == ["one 漢字", "three", "four"]
    assert copied_text(rows, 4, 2) == "漢字 three fo"
    assert copied_text(rows[:1], 4, 6) == "漢"
    assert copied_text(rows[1:2]) == "three"
