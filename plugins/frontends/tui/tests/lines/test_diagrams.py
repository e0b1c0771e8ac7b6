"""Diagrams in Mermaid: drawn where they fit, once they are complete, and source everywhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_testing import for_each
from pi_tui.lines.line import join
from pi_tui.lines.markdown.diagrams import diagrams_of
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.stable import StreamingMarkdown, markdown_rows

FLOW = "```mermaid\ngraph LR\n  A[Request] --> B[Answer]\n```"
DRAWN = """\
┌─────────┐   ┌────────┐
│ Request ├──►│ Answer │
└─────────┘   └────────┘"""


def test_a_flow_chart_is_boxes_and_arrows():
    assert join(markdown_rows(f"Look:\n\n{FLOW}\n\nDone.", 60, Ink())) == f"Look:\n\n{DRAWN}\n\nDone."


def test_a_sequence_has_an_arrow_for_each_message():
    text = "```mermaid\nsequenceDiagram\n  User->>pi: prompt\n  pi-->>User: answer\n```"
    drawn = join(markdown_rows(text, 60, Ink()))

    assert "│ User │" in drawn
    assert "►" in drawn
    assert "prompt" in drawn


def test_one_in_a_list_is_drawn_too():
    text = f"- Look:\n\n  {FLOW.replace(chr(10), chr(10) + '  ')}"

    assert "│ Request ├──►│ Answer │" in join(markdown_rows(text, 60, Ink()))


@for_each(
    ("text", "width", "ink"),
    [
        (FLOW, 60, Ink(diagrams="off")),
        (FLOW, 8, Ink()),
        (FLOW.replace("graph LR", "nonsense"), 60, Ink()),
        (FLOW.replace("A[Request]", "subgraph [["), 60, Ink(diagrams="off")),
        ("```mermaid\ngraph LR\n" + "A --> B\n" * 100 + "```", 60, Ink()),
    ],
)
def test_what_is_not_drawn_stays_source(text, width, ink):
    rows = join(markdown_rows(text, width, ink))

    assert "mermaid" in rows.replace("\n", "")
    assert "┌" not in rows


@pytest.mark.parametrize(("diagrams", "early"), [("final", False), ("streaming", True)])
def test_while_an_answer_grows_its_diagram_waits_for_the_end_unless_the_setting_says_so(diagrams, early):
    ink = Ink(diagrams=diagrams)
    growing = StreamingMarkdown(60, ink)
    for character in f"{FLOW}\n\nMore.":
        growing.feed(character)

    assert ("├──►│" in join(growing.rows())) is early
    growing.end()
    assert growing.rows() == markdown_rows(f"{FLOW}\n\nMore.", 60, ink)


words = st.sampled_from(["A", "B", "[x]", "{y}", "-->", "---", "|z|", "\n", " ", "subgraph", "end", "漢", "&", ";"])


@given(st.lists(words, max_size=12), st.integers(1, 60))
def test_whatever_a_model_writes_no_row_is_too_wide(parts, width):
    rows = markdown_rows(f"```mermaid\ngraph LR\n{''.join(parts)}\n```", width, Ink())

    assert all(cell_len(str(row)) <= width for row in rows)


def test_an_invalid_setting_means_the_default():
    assert [diagrams_of(each) for each in ("off", "streaming", "final", "x")] == ["off", "streaming", "final", "final"]
