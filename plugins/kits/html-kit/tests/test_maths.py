"""Formulas in Markdown: what is one becomes MathML, what only has dollars stays text, and nothing else gets through."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_html_kit.markdown import markdown
from pi_html_kit.maths import _ATTRIBUTES, _ELEMENTS, formula
from pi_testing import for_each

PIECES = st.sampled_from(
    [
        r"\frac",
        r"\text",
        r"\href",
        r"\style",
        r"\class",
        r"\color",
        r"\begin{matrix}",
        r"\end{matrix}",
        r"\left(",
        r"\sqrt",
        "{",
        "}",
        "^",
        "_",
        "&",
        r"\\",
        "x",
        "<script>",
        "javascript:alert(1)",
        '"',
        "'",
        "$",
        "\n",
        " ",
    ]
)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        pytest.param("So $E=mc^2$.", "<msup><mi>c</mi><mn>2</mn></msup>", id="dollar"),
        pytest.param(r"So \(x^2\).", "<msup><mi>x</mi><mn>2</mn></msup>", id="round brackets"),
        pytest.param("So $$x^2$$ is", '<math display="inline">', id="two dollars in a line"),
        pytest.param(
            "$$\na\n- b\n$$", '<div class="math"><math display="block">', id="block with a minus at a line's start"
        ),
        pytest.param("\\[\nx\n\\]\nmore", "</math></div><p>more</p>", id="square brackets"),
        pytest.param("| a |\n|---|\n| $x$ |", '<td><math display="inline">', id="in a table"),
        pytest.param(r"$\frac{$", '<code class="math">\\frac{</code>', id="what cannot be read"),
    ],
)
def test_a_formula_is_drawn(text, drawn):
    assert drawn in markdown(text)


@for_each(
    "text",
    [
        "It costs $5 and $6.",
        "$HOME/$USER",
        "$5/$6",
        "a$b$c",
        "`$x$`",
        "```\n$x$\n```",
        "$ x $",
        "$$x",
        r"\$5 and \$6$",
        "US$ 5, US$",
    ],
)
def test_dollars_of_other_kinds_stay_text(text):
    assert "<math" not in markdown(text)
    assert 'class="math"' not in markdown(text)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_formula_has_only_known_elements_and_attributes(source):
    for tag, attributes in re.findall(r"<(\w+)([^>]*)>", formula(source)):
        assert tag in _ELEMENTS | {"code"}
        assert set(re.findall(r'([\w-]+)="', attributes)) <= _ATTRIBUTES | {"class"}


def test_many_beginnings_without_an_end_take_no_time():
    """Each would be searched to the end of the text, which is a second for ten thousand."""
    assert "<math" not in markdown("\\( " * 10_000)
    assert "<math" not in markdown("\\[a\n" * 5_000)


@pytest.mark.parametrize(
    ("fence", "shown"),
    [
        pytest.param("graph LR\n A-->B", "├──►│", id="drawn"),
        pytest.param("nonsense", '<span class="lang">mermaid</span>', id="not a diagram"),
    ],
)
def test_a_diagram_is_drawn_with_its_source_below(fence, shown):
    page = markdown(f"```mermaid\n{fence}\n```")

    assert shown in page
    assert fence.split("\n")[0] in page
