"""Markdown beyond CommonMark: bare links, struck text, formulas and footnotes."""

from __future__ import annotations

import pytest

from pi_hookspecs import Run
from pi_tui.lines.line import join
from pi_tui.lines.markdown.formulas import formula_text
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.stable import StreamingMarkdown, markdown_rows
from pi_tui.theme.palette import Palette


def rows(text: str) -> str:
    return join(markdown_rows(text, 80, Ink()))


def test_a_bare_link_looks_and_works_like_one_and_ends_before_the_full_stop() -> None:
    (line,) = markdown_rows("See https://tides.example/brest?day=1. Then **http://b.example**", 80, Ink())

    links = [run for run in line if run.link]
    assert [run.text for run in links] == ["https://tides.example/brest?day=1", "http://b.example"]
    assert all(run.link == run.text and run.underline and run.role == "mdLink" for run in links)
    assert links[1].bold


@pytest.mark.parametrize("text", ["`https://tides.example`", "//tides.example", "ftp://tides.example", "tides.example"])
def test_code_and_what_only_resembles_an_address_are_no_links(text: str) -> None:
    (line,) = markdown_rows(text, 80, Ink())

    assert not [run for run in line if run.link]
    assert str(line) == text.strip("`")


def test_struck_text_is_struck_through() -> None:
    (line,) = markdown_rows("~~old~~ new", 80, Ink())

    assert [(run.text, run.strike) for run in line] == [("old", True), (" new", False)]
    assert Palette({}, "none").style(line.runs[0]).sgr() == "\x1b[0;9m"
    assert not Palette({}, "none").style(Run("new")).strike


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        ("E = mc^2", "E = mc²"),
        ("x", "x"),
        (r"\sum_{i=0}^{n} x_i^2", "∑ᵢ₌₀ⁿ xᵢ²"),
        (r"x \in \mathbb{R}^n", "x ∈ ℝⁿ"),
        (r"O(n \log n)", "O(n log n)"),
        (r"\frac{a+b}{2} \leq \sqrt{ab}", "(a+b)/2 ≤ √ab"),
        (r"\frac{\sqrt{x}}{y}", "(√x)/y"),
        (r"v_{\text{max}}\,t", "vₘₐₓ t"),
        (r"e^{i\pi} + 1 = 0", "e^(iπ) + 1 = 0"),
        (r"\begin{matrix}a & b\end{matrix}", None),
        ("HOME/", None),
        ("FOO_BAR=", None),
        ("{a}_", None),
        ("(date)=", None),
        ("5 and", None),
    ],
)
def test_a_formula_becomes_a_line_of_unicode_or_stays(source: str, drawn: str | None) -> None:
    assert formula_text(source) == drawn


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5, then $6 = $11.",
        "$HOME/$USER and $FOO_BAR/$BAZ",
        "${A}_${B}",
        "$(date)=$(pwd)",
        r"a \$x$ b$",
        "$ x $",
    ],
)
def test_dollars_of_prices_and_shells_are_no_formulas(text: str) -> None:
    assert rows(text) == text.replace("\\", "")


def test_formulas_stand_in_a_text_and_in_a_paragraph_of_their_own() -> None:
    assert rows("Since $a^2 + b^2 = c^2$, so:\n\n$$\nc = \\sqrt{a^2 + b^2}\n$$") == (
        "Since a² + b² = c², so:\n\nc = √(a² + b²)"
    )
    assert rows("`$x^2$`") == "$x^2$"


def test_footnotes_have_small_numbers_in_the_text_and_before_their_own() -> None:
    text = "High[^1] and low[^12], not `[^1]` and [^a-z].\n\n[^1]: At noon.\n[^12]: https://tides.example\n"

    assert rows(text) == "High¹ and low¹², not [^1] and [^a-z].\n\n¹ At noon.\n¹² https://tides.example"


def test_a_growing_answer_ends_as_a_whole_one() -> None:
    text = "See https://tides.example[^1]: ~~$x$~~ $x^2$.\n\n[^1]: At noon, $y_1$.\n"
    growing = StreamingMarkdown(40, Ink())
    for character in text:
        growing.feed(character)
        growing.rows()
    growing.end()

    assert growing.rows() == markdown_rows(text, 40, Ink())


@pytest.mark.parametrize(
    ("source", "bold"),
    [
        ("これは**「太字」**です", ["「太字」"]),
        ("**中文\uff0c**后面", ["中文\uff0c"]),
        ("前面**“引用”**后面", ["“引用”"]),
        ("한국어**(괄호)**입니다", ["(괄호)"]),
        ("これは**太字**です", ["太字"]),
        ("** 中 ** 文", []),
        ("中 ** 文 **", []),
        (r"中\*\*文\*\*", []),
        ("a**(b)**c", []),
    ],
)
def test_stars_next_to_letters_without_spaces_are_bold(source: str, bold: list[str]) -> None:
    (line,) = markdown_rows(source, 80, Ink())

    assert [run.text for run in line if run.bold] == bold
    assert ("*" in str(line)) == (not bold)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<!-- hidden -->", ""),
        ("before\n\n<!-- hidden\nin lines -->\n\nafter", "before\n\nafter"),
        ("before <!-- hidden --> after", "before  after"),
        ("<!-- one --><!-- two -->\n\nafter", "after"),
        ("<!-- never closed", "<!-- never closed"),
        ("`<!-- code -->`", "<!-- code -->"),
        ("```\n<!-- code -->\n```", "```\n  <!-- code -->\n```"),
        ("<div>\n<!-- hidden -->\n</div>", "<div>\n\n</div>"),
    ],
)
def test_comments_are_hidden_and_code_is_not(source: str, shown: str) -> None:
    assert rows(source) == shown
