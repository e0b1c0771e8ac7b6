"""The frontmatter of a Markdown file, valid and invalid."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from pi_core.base.frontmatter import MAX_VALUES, _simple, parse_frontmatter


def test_block_and_body_are_separated():
    read = parse_frontmatter("---\nname: a\ndescription: Does it\n---\n\nBody\n---\n")

    assert read.values == {"name": "a", "description": "Does it"}
    assert (read.body, read.body_line, read.problem) == ("\nBody\n---\n", 5, None)


def test_a_text_without_a_block_is_all_body():
    for text in ("", "Body", "---\nnever closed", "----\nno fence\n---\n", " ---\na: b\n---\n"):
        read = parse_frontmatter(text)

        assert (read.values, read.body, read.problem) == ({}, text, None)


def test_windows_line_ends_are_fine():
    assert parse_frontmatter("---\r\nname: a\r\n---\r\nBody").values == {"name": "a"}


def test_all_of_yaml_is_read_and_dates_stay_texts():
    read = parse_frontmatter(
        "---\nlist: [1, 2]\nnested:\n  deep: true\nday: 2024-01-01\ntext: >\n  two\n  lines\n---\n"
    )

    assert read.values == {"list": [1, 2], "nested": {"deep": True}, "day": "2024-01-01", "text": "two lines\n"}


def test_a_broken_block_is_reported_with_its_line_and_the_body_is_kept():
    read = parse_frontmatter("---\nname: a\ndescription: use: when\n---\nBody")

    assert (read.values, read.body, read.line) == ({}, "Body", 3)
    assert read.problem == "broken YAML: mapping values are not allowed in this context"


def test_a_broken_block_can_be_read_line_by_line():
    read = parse_frontmatter("---\nhint: [a] [b]\nuse: when: asked\n  often\nquoted: 'x'\n---\nBody", literal=True)

    assert read.values == {"hint": "[a] [b]", "use": "when: asked\noften", "quoted": "x"}
    assert (read.body, read.line) == ("Body", 2)
    assert read.problem is not None
    assert parse_frontmatter("---\nlist: [1]\n---\n", literal=True).values == {"list": [1]}


def test_a_list_is_no_block():
    assert parse_frontmatter("---\n- a\n---\n").problem == "the block must be lines of 'key: value'"


def test_objects_of_python_are_refused():
    assert "python/object" in parse_frontmatter("---\na: !!python/object/apply:os.getcwd []\n---\n").problem


def test_aliases_cannot_make_millions_of_values():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{one}: &{one} [{', '.join([f'*{two}'] * 9)}]" for two, one in zip("abcdefg", "bcdefgh", strict=True)]

    assert f"more than {MAX_VALUES} values" in parse_frontmatter("---\n" + "\n".join(lines) + "\n---\n").problem


def test_deep_nesting_is_rejected():
    assert parse_frontmatter("---\na: " + "[" * 5_000 + "\n---\n").problem is not None


@given(st.text())
def test_any_text_is_parsed_without_an_exception(text):
    parse_frontmatter(f"---\n{text}\n---\n")


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][\w-]{0,5}", fullmatch=True), st.text(max_size=20), max_size=3))
def test_the_fast_parser_agrees_with_yaml(values):
    block = "".join(f"{key}: {value}\n" for key, value in values.items())
    short = _simple(block)
    if short is None:
        return
    try:
        expected = yaml.safe_load(block) or {}
    except yaml.YAMLError:
        return  # characters that YAML refuses

    assert short == expected


def test_a_value_keeps_a_no_break_space_at_its_end():
    assert parse_frontmatter("---\nname: x\xa0\n---\n").values == {"name": "x\xa0"}


def test_deep_nesting_is_a_problem_and_does_not_end_the_process():
    for nested in ("{" * 100_000, "[" * 100_000, "- " * 100_000 + "x", "a: " + "[" * 60 + "]" * 60):
        found = parse_frontmatter(f"---\n{nested}\n---\nbody\n")

        assert found.problem == "broken YAML: nested more than 50 deep"
    assert parse_frontmatter(f"---\na: {'[' * 40}{']' * 40}\n---\n").problem is None
