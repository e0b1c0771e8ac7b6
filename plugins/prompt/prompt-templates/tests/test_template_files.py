"""What a template's file says of itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import ResourceContent, ResourceFile
from pi_prompt_templates.template_file import read_template
from pi_testing import for_each


def read(text: str, path: str = "/prompts/review.md") -> ResourceContent:
    return read_template(ResourceFile(path=path, scope="user", source="auto", base_dir="/prompts"), text)


def test_a_template_is_called_like_its_file():
    assert read("Review.").name == "review"


@for_each(
    ("text", "description"),
    [
        ("---\ndescription: Review code\n---\nRead it.", "Review code"),
        ("---\ndescription: |\n  Review\n  code\n---\nRead it.", "Review code"),
        ("---\nargument-hint: x\n---\n\n  Read it.  \nThen think.", "Read it."),
        ("\n\nRead it.", "Read it."),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "..."),
        ("---\ndescription: 12\n---\nRead it.", "Read it."),
        ("", ""),
    ],
)
def test_a_template_is_described_by_its_frontmatter_or_its_first_line(text, description):
    assert read(text).description == description


@pytest.mark.parametrize(
    ("hint", "message"),
    [("<file> [more]", "<file> [more]"), ("[file]", "[file]"), ("'[a] [b]'", "[a] [b]"), ("12", "12")],
)
def test_the_hint_is_printed_as_it_was_written(hint, message):
    assert read(f"---\nargument-hint: {hint}\n---\nx").data == {"argumentHint": message}


def test_broken_yaml_is_reported_with_its_line_and_the_text_is_used():
    content = read("---\nmodel: [unclosed\n---\nRead it.")

    assert (content.name, content.description) == ("review", "Read it.")
    assert [each.line for each in content.problems] in ([2], [3])


def test_a_name_that_is_not_callable_is_reported():
    content = read("x", "/prompts/my review.md")

    assert content.name == "my review"
    assert "cannot be called" in content.problems[0].message


@given(st.text() | st.builds(lambda body: f"---\n{body}\n---\n", st.text()))
def test_whatever_a_file_holds_it_is_read(text):
    assert read(text).name == "review"


def test_a_hint_of_several_arguments_in_brackets_is_read_as_it_is_written():
    content = read("---\nargument-hint: [issue] [priority]\ndescription: Fix it\n---\nFix $1\n")

    assert (content.problems, content.description) == ((), "Fix it")
    assert content.data == {"argumentHint": "[issue] [priority]"}
