"""Markdown that is received looks like Markdown that is there, and a frame costs the same in a long answer."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_hookspecs import Run
from pi_testing import for_each
from pi_tui.lines.answer import MarkdownRows
from pi_tui.lines.line import join
from pi_tui.lines.look import Look
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.splitting import Splitter
from pi_tui.lines.markdown.stable import STREAMED, StreamingMarkdown, markdown_rows
from pi_tui.view.blocks import Answer
from pi_tui.view.growing import Growing

INK = Ink(cwd="/home/me/project")

blocks = st.sampled_from(
    [
        *("# Title\n", "A paragraph of *some* words.\n", "and more\n", "\n", "\n\n", "- item\n", "  - nested item\n"),
        *(
            "1. one\n",
            "2. two\n",
            "   more of two\n",
            "```python\n",
            "```\n",
            "~~~\n",
            "x = 1  # comment\n",
            "    code\n",
        ),
        *(
            "| a | b |\n",
            "|---|---|\n",
            "| 1 | 2 |\n",
            "> quote\n",
            "---\n",
            "word " * 30 + "\n",
            "x" * 90 + "\n",
            "``",
        ),
        *("`code` and [link](http://x.y/z)\n", "- \n", "<div>\n", "漢字" * 20 + "\n", "***\n", "  ```\n", "\t\n", "$"),
    ]
)
texts = st.lists(blocks, max_size=14).map("".join)


def streamed(text: str, cuts: list[int], width: int, **limits: int) -> StreamingMarkdown:
    streaming = StreamingMarkdown(width, INK, **limits)
    ends = sorted({min(cut, len(text)) for cut in cuts})
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        streaming.feed(text[start:end])
        len(streaming)
    return streaming


@given(texts, st.lists(st.integers(0, 300), max_size=5), st.integers(4, 60))
@example("- a\n\n" + "- b " * 40, [3, 50], 20)
@example("````", [], 4)
@example("```\nx\n```", [4], 20)
def test_a_streamed_text_ends_as_a_fresh_layout(text, cuts, width):
    streaming = streamed(text, cuts, width, streamed=70, whole=150)

    streaming.end()

    assert streaming.rows() == markdown_rows(text, width, INK, whole=150)
    assert len(streaming) == len(streaming.rows())


@given(texts, st.lists(st.integers(0, 300), max_size=5))
def test_chunks_do_not_depend_on_the_pieces(text, cuts):
    whole, pieces = Splitter(70), Splitter(70)
    ends = sorted({min(cut, len(text)) for cut in cuts})

    at_once = [*whole.feed(text), *whole.end()]
    one_by_one = [
        chunk
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True)
        for chunk in pieces.feed(text[start:end])
    ]

    assert [*one_by_one, *pieces.end()] == at_once


@given(texts)
def test_nothing_of_the_text_is_lost_in_chunks(text):
    splitter = Splitter(70)

    chunks = [*splitter.feed(text), *splitter.end()]

    kept = "".join(chunk.text for chunk in chunks)
    assert "".join(kept.split()) == "".join(text.split())


@given(texts, st.integers(1, 60))
def test_no_row_is_too_wide(text, width):
    rows = markdown_rows(text, width, INK)

    assert all(cell_len(str(row)) <= width for row in rows)


LONG = {
    "paragraph": "word " * 200_000,
    "list": ("- an item of the list" + " of words" * 20 + "\n") * 4500,
    "table": "| a | b |\n|---|---|\n" + ("| some" + " more words" * 20 + " | words |\n") * 4300,
    "fence": "```python\n" + "x = 1  # a comment of some words\n" * 31_000,
    "one word": "x" * 1_000_000,
}


@pytest.mark.slow
@for_each("text", LONG.values())
def test_a_frame_parses_a_bounded_part_of_a_long_answer(text):
    streaming = StreamingMarkdown(100, INK)
    most, step = 0, 10_000
    for start in range(0, len(text), step):
        before = streaming.parsed
        streaming.feed(text[start : start + step])
        streaming.window(max(len(streaming) - 50, 0), len(streaming))
        most = max(most, streaming.parsed - before)

    assert most <= step + 3 * STREAMED
    assert len(streaming) > 1000


@pytest.mark.parametrize("text", ["low water at six is a good time to go out. " * 400, "漢字 と words, " * 900])
def test_a_long_paragraph_is_cut_between_its_rows(text):
    streaming = StreamingMarkdown(61, INK)
    streaming.feed(text)
    cut = [str(row) for row in streaming.rows()]
    streaming.end()

    assert cut == [str(row) for row in streaming.rows()]


def test_the_tail_of_a_table_of_short_cells_has_a_bounded_number_of_rows():
    splitter = Splitter(STREAMED, 75)
    most = 0

    for line in ["| a | b |\n", "| - | - |\n"] + ["| 1 | 2 |\n"] * 500:
        list(splitter.feed(line))
        most = max(most, splitter.tail.text.count("\n"))

    assert most == 75


def test_a_complete_answer_parses_only_what_was_cut():
    streaming = StreamingMarkdown(80, INK)
    for _ in range(200):
        streaming.feed("A paragraph of some words.\n\n")
        len(streaming)
    before = streaming.parsed

    streaming.end()

    assert streaming.parsed - before <= STREAMED


def roles(rows):
    return [(run.text, run.role) for row in rows for run in row if run.text.strip()]


def test_a_finished_fence_in_view_is_highlighted():
    streaming = StreamingMarkdown(40, INK)
    streaming.feed("```python\nx = 1\n")
    open_rows = streaming.rows()
    streaming.feed("```\n")

    assert ("  ", "text") not in roles(open_rows)
    assert ("x = 1", "mdCodeBlock") in roles(open_rows)
    assert ("1", "syntaxNumber") in roles(streaming.rows())
    assert join(streaming.rows()) == "```python\n  x = 1\n```"


def test_code_that_is_laid_out_in_every_frame_is_not_highlighted():
    streaming = StreamingMarkdown(40, INK)
    streaming.feed("- item\n\n  ```python\n  x = 1\n  ```\n")
    growing = streaming.rows()

    streaming.end()

    assert ("x = 1", "mdCodeBlock") in roles(growing)
    assert ("1", "syntaxNumber") in roles(streaming.rows())


def test_an_unknown_language_is_plain():
    assert ("x = 1", "mdCodeBlock") in roles(markdown_rows("```nonsense\nx = 1\n```", 40, INK))


@for_each(
    ("source", "expected"),
    [
        ("[a](https://x.org/y)", [("a", "https://x.org/y"), (" (https://x.org/y)", "https://x.org/y")]),
        ("<https://x.org/y>", [("https://x.org/y", "https://x.org/y")]),
        ("[https://bank.com](https://evil.com)", [("https://evil.com", "https://evil.com")]),
        ("[bank.com](https://evil.com/bank.com)", [("https://evil.com/bank.com", "https://evil.com/bank.com")]),
        ("[a](gopher://x.org)", [("a", None), (" (gopher://x.org)", None)]),
        (
            "[a](file:///home/me/project/b.py)",
            [
                ("a", "file:///home/me/project/b.py"),
                (" (file:///home/me/project/b.py)", "file:///home/me/project/b.py"),
            ],
        ),
        ("[a](file:///etc/passwd)", [("a", None), (" (file:///etc/passwd)", None)]),
        ("[a](file:///home/me/project/../../x)", [("a", None), (" (file:///home/me/project/../../x)", None)]),
    ],
)
def test_a_link_leads_where_it_says(source, expected):
    (row,) = markdown_rows(source, 200, INK)

    assert [(run.text, run.link) for run in row] == expected


SOURCE = """\
# Title

Some *emphasis*, **strong** words, `code` and ~~struck~~ text that is long enough to wrap.
A second line.

## Part

### Chapter

- one
- two
  continued
  1. first
  2. second

4. four
5. five

- [ ] open
- [x] done

> A quote that is long enough to be wrapped over rows.
>
> - with a list

| left | right | middle |
|:-----|------:|:------:|
| 1 | 2 | 3 |
| a long cell that wraps | b | c |

~~~
no language
~~~

<p>html</p>

---

![a picture](x.png)
"""

EXPECTED = """\
Title

Some emphasis, strong words, code and
struck text that is long enough to wrap.
A second line.

Part

### Chapter

- one
- two
  continued
  1. first
  2. second

4. four
5. five

- ☐ open
- ☑ done

│ A quote that is long enough to be
│ wrapped over rows.
│
│ - with a list

┌─────────────────────┬───────┬────────┐
│ left                │ right │ middle │
├─────────────────────┼───────┼────────┤
│ 1                   │     2 │   3    │
│ a long cell that    │     b │   c    │
│ wraps               │       │        │
└─────────────────────┴───────┴────────┘

```
  no language
```

<p>html</p>

────────────────────────────────────────

[image: a picture] (x.png)"""


def test_markdown_looks_like_this():
    rows = join(markdown_rows(SOURCE, 40, INK))

    assert "\n".join(line.rstrip() for line in rows.split("\n")) == EXPECTED


def test_emphasis_is_a_style():
    (row,) = markdown_rows("a *b* **c** `d`", 40, Ink(Run("", "muted")))

    assert row.runs == (
        Run("a ", "muted"),
        Run("b", "muted", italic=True),
        Run(" ", "muted"),
        Run("c", "muted", bold=True),
        Run(" ", "muted"),
        Run("d", "mdCode"),
    )


@for_each("text", ["[" * 3000, "*a" * 1500, "`" * 3000, ">" * 3000, "- " * 1500, "![" * 1500, "<" * 3000])
def test_hostile_markdown_is_laid_out(text):
    assert markdown_rows(text, 40, INK)


def test_a_long_table_repeats_its_head():
    rows = [
        str(row) for row in markdown_rows("| head | b |\n|---|---|\n" + "| some | words |\n" * 20, 40, INK, whole=120)
    ]

    assert sum("head" in row for row in rows) > 1


TABLE = """\
| command | what it does | needs | since |
| --- | --- | --- | --- |
| `pi serve` | lets several people share a session | a token | 1.1 |
| `pi web` | the screen in a browser | | 1.1 |
"""


def test_a_crowded_table_is_records_where_the_screen_is_narrow():
    assert (
        join(markdown_rows(TABLE, 40, Ink()))
        == """\
command: pi serve
what it does: lets several people share
a session
needs: a token
since: 1.1
────────────────────
command: pi web
what it does: the screen in a browser
since: 1.1"""
    )
    assert join(markdown_rows(TABLE, 60, Ink())).startswith("┌")
    assert join(markdown_rows("| a | b |\n| - | - |\n| 1 | 2 |", 20, Ink())).startswith("┌")


def test_lists_in_lists_and_task_boxes_keep_their_levels():
    text = "1. one\n   - [x] done\n   - [ ] open\n     1. deep\n2. two"

    assert join(markdown_rows(text, 40, Ink())) == "1. one\n   - ☑ done\n   - ☐ open\n       1. deep\n2. two"


def test_rows_of_a_growing_answer_that_do_not_change_are_the_same_lines():
    block = Answer(id="1", text=Growing("one\n\ntwo words that fill a row or two\n\n- an item"))
    rows = MarkdownRows(block, Look(width=20))
    before = rows.window(0, len(rows))

    block.text.append(" and more of it")
    rows.update()
    after = rows.window(0, len(rows))

    assert len(after) > len(before)
    assert all(new is old for old, new in zip(before[:-1], after, strict=False))
    assert after[len(before) - 1] is not before[-1]
