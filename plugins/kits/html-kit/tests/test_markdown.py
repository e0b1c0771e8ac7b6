"""Markdown in a page: rendered, but nothing in it runs, is loaded, or leads anywhere but the web."""

from __future__ import annotations

import pytest

from pi_html_kit.markdown import markdown
from pi_testing import for_each


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        pytest.param("plain, as most is.", "<p>plain, as most is.</p>", id="plain"),
        pytest.param("**bold** and `code <b>`", "<strong>bold</strong> and <code>code &lt;b&gt;</code>", id="inline"),
        pytest.param("# Title", "<h1>Title</h1>", id="heading"),
        pytest.param("- one\n- two", "<li>two</li>", id="list"),
        pytest.param("- one", "<li>one</li>", id="list-of-one"),
        pytest.param("3. three", '<ol start="3">', id="numbered"),
        pytest.param("one\ntwo", "one<br>\ntwo", id="lines"),
        pytest.param("~~no~~", "<s>no</s>", id="strike"),
        pytest.param("|a|b|\n|-|-:|\n|1|2|", '<td class="right">2</td>', id="table"),
        pytest.param(
            "```py\na < b\n```",
            '<span class="lang">py</span><pre><code data-lang="py">a &lt; b</code></pre>',
            id="fence",
        ),
        pytest.param(
            "- [x] sail", '<li class="task"><input type="checkbox" disabled checked aria-label="done">sail', id="done"
        ),
        pytest.param(
            "1. [ ] row", '<li class="task"><input type="checkbox" disabled aria-label="to do">row', id="to-do"
        ),
        pytest.param("- [ ]", "<li>[ ]</li>", id="an-empty-task"),
        pytest.param("[x] row", "<p>[x] row</p>", id="no-list"),
        pytest.param("    a < b", "<pre><code>a &lt; b</code></pre>", id="indented"),
        pytest.param("```diff\n+a\n```", "<ins>+a</ins>", id="diff"),
        pytest.param("[a](https://x.example/?a=1&b=2)", 'href="https://x.example/?a=1&amp;b=2"', id="link"),
        pytest.param("[a](MAILTO:a@x.example)", 'href="MAILTO:a@x.example"', id="mail"),
        pytest.param("<https://x.example>", 'rel="noopener noreferrer"', id="autolink"),
        pytest.param("snake_case_name", "snake_case_name", id="underscores"),
    ],
)
def test_markdown_is_rendered(text, markup):
    assert markup in markdown(text)


@for_each(
    "text",
    [
        "[a](javascript:alert(1))",
        "[a](src/main.py)",
        "[a](//x.example)",
        "[a](file:///etc/passwd)",
        "[a](data:text/html,x)",
        "![a](data:image/png;base64,AAAA)",
        "<javascript:alert(1)>",
        "[a](ftp://x.example)",
    ],
)
def test_a_link_elsewhere_stays_text(text):
    markup = markdown(text)

    assert "<a" not in markup
    assert "<img" not in markup
    assert text.replace("<", "&lt;").replace(">", "&gt;") in markup


def test_an_image_is_a_link_to_it():
    markup = markdown("![a *chart*](https://x.example/c.png 'title')")

    assert "<img" not in markup
    assert 'href="https://x.example/c.png"' in markup
    assert ">🖼 a chart</a>" in markup


def test_an_image_in_a_link_is_its_text():
    markup = markdown("[![chart](https://x.example/c.png)](https://y.example)")

    assert markup.count("<a ") == 1
    assert "🖼 chart" in markup


@pytest.mark.slow
@for_each(
    "text",
    [
        "> " * 5000 + "deep",
        "[" * 20_000,
        "*a " * 20_000,
        "- " * 5000,
        "`" * 20_000,
        "(" * 20_000,
        "<" * 20_000,
        "x" * 300_000,
    ],
)
def test_nonsense_of_any_size_is_shown_as_well(text):
    markup = markdown(text)

    assert markup
    assert "<script" not in markup
