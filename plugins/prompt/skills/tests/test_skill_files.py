"""One skill's file: its name, what it says, and what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import ResourceContent, ResourceFile
from pi_skills.skill_file import is_skill, read_skill
from pi_testing import for_each


def read(text: str, path: str = "/skills/review/SKILL.md") -> ResourceContent:
    return read_skill(ResourceFile(path=path, scope="user", source="auto", base_dir="/skills"), text)


def skill(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "", "Do it."])


def problems(content: ResourceContent) -> list[tuple[int | None, str]]:
    return [(each.line, each.message) for each in content.problems]


@for_each(
    ("name", "depth", "accepted"),
    [
        ("SKILL.md", 0, True),
        ("SKILL.md", 3, True),
        ("deploy.md", 0, True),
        ("deploy.md", 1, False),
        ("deploy.skill.md", 0, True),
        ("deploy.skill.md", 2, True),
        ("skill.md", 1, False),
        ("SKILL.txt", 0, False),
    ],
)
def test_which_files_in_a_folder_are_skills(name, depth, accepted):
    assert is_skill(name, depth) is accepted


def test_a_frontmatter_without_an_end_is_reported():
    content = read("---\nname: review\ndescription: Review code.\n\nDo it.")

    assert content.name is None
    assert problems(content) == [
        (3, "the skill's frontmatter is not closed, so it is not loaded. It must end with a line '---'")
    ]


def test_a_whole_skill_is_read_without_problems():
    content = read(
        skill(
            "name: code-review",
            "description: Review code.",
            "license: MIT",
            "compatibility: Needs git",
            "metadata:",
            "  author: Ann",
            "allowed-tools: Read, Bash(git add:*)",
            "disable-model-invocation: true",
        )
    )

    assert (content.name, content.description) == ("code-review", "Review code.")
    assert dict(content.data) == {"hidden": True, "allowedTools": ["Read", "Bash(git add:*)"]}
    assert content.problems == ()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/skills/review/SKILL.md", "review"),
        ("/skills/review/deploy.skill.md", "deploy"),
        ("/skills/deploy.md", "deploy"),
    ],
)
def test_a_skill_without_a_name_is_called_like_its_folder_or_file(path, name):
    assert read(skill("description: Something"), path).name == name


@for_each(
    ("lines", "description"),
    [
        (["description: Use when: asked"], "Use when: asked"),
        (["description: Fix issue #12 # and more"], "Fix issue #12 # and more"),
        (["description: Ends with a colon:"], "Ends with a colon:"),
        *(([f"description: {first} first"], f"{first} first") for first in "[ ] { } , & * ! % @ ` # ? -".split()),
        (["description: [beta] Writes tables"], "[beta] Writes tables"),
        (["description: [a, b]"], "[a, b]"),
        (["description: *emphasised*"], "*emphasised*"),
        (["description: Use when: asked", "  and then: again"], "Use when: asked and then: again"),
        (["description: 'quoted' and more: text"], "'quoted' and more: text"),
        (['description: "quoted: it\'s #1" # a comment'], "quoted: it's #1"),
        (["description: 'it''s: fine'"], "it's: fine"),
        (["description: >", "  Folded: #1"], "Folded: #1"),
        (["description: >-", "  Folded: #1"], "Folded: #1"),
        (["description: Plain text"], "Plain text"),
    ],
)
@for_each("end", ["\n", "\r\n"])
def test_a_description_is_read_as_it_is_written(lines, description, end):
    content = read(skill("allowed-tools: [Read, Grep]", *lines, "name: review").replace("\n", end))

    assert (content.name, content.description, content.problems) == ("review", description, ())
    assert content.data["allowedTools"] == ["Read", "Grep"]


def test_a_problem_below_a_description_has_its_line():
    content = read(skill("description: Use when: asked", "  and: again", "name: [unclosed"))

    assert content.problems[0].line in (4, 5)


def test_a_description_of_several_lines_is_printed_in_one():
    assert read(skill("description: |", "  One.", "  Two.")).description == "One. Two."


@for_each(
    "lines",
    [(), ("name: review",), ("description:",), ('description: "  "',), ("description: null",), ("description: 12",)],
)
def test_a_skill_without_description_is_not_loaded(lines):
    content = read(skill(*lines))

    assert content.name is None
    assert "no description and is not loaded" in content.problems[-1].message


def test_a_file_without_frontmatter_is_not_loaded():
    assert read("# Notes\n\nSomething.").name is None


@for_each(
    ("name", "violation"),
    [
        ("My Skill", "must consist of a-z, 0-9 and single hyphens"),
        ("-review", "must consist of"),
        ("review-", "must consist of"),
        ("re--view", "must consist of"),
        ("Review", "must consist of"),
        ("a" * 65, "has 65 characters; the limit is 64"),
    ],
)
def test_an_invalid_name_is_reported_with_its_line_and_used(name, violation):
    content = read(skill("description: Something", f"name: {name}"))

    assert content.name == name
    assert [line for line, _ in problems(content)] == [3]
    assert violation in content.problems[0].message


def test_a_name_of_64_characters_is_none_too_many():
    assert read(skill(f"name: {'a' * 64}", "description: Something")).problems == ()


def test_a_name_that_is_no_text_is_left_out():
    content = read(skill("name: 12", "description: Something"))

    assert content.name == "review"
    assert problems(content) == [(2, "name must be a string, not 12; the name of the file is used")]


@pytest.mark.parametrize(
    ("line", "violation"),
    [
        (f"description: {'d' * 1025}", "description has 1025 characters; the limit is 1024"),
        (f"compatibility: {'c' * 501}", "compatibility has 501 characters; the limit is 500"),
        ("metadata: something", "metadata must be 'key: value' lines"),
        ("disable-model-invocation: maybe", "disable-model-invocation must be true or false"),
    ],
    ids=["description", "compatibility", "metadata", "disable-model-invocation"],
)
def test_a_broken_rule_is_reported_and_the_skill_is_used(line, violation):
    lines = [line] if line.startswith("description") else ["description: Something", line]
    content = read(skill(*lines))

    assert content.name == "review"
    assert problems(content) == [(1 + len(lines), violation)]


def test_tools_means_allowed_tools():
    assert read(skill("description: d", "tools:", "  - query", "  - chart")).data["allowedTools"] == ["query", "chart"]


def test_allowed_tools_come_before_tools():
    assert read(skill("description: d", "tools: [a]", "allowed-tools: b c")).data["allowedTools"] == ["b", "c"]


def test_broken_yaml_is_reported_once_with_its_line():
    content = read(skill("description: fine", "name: [unclosed"))

    assert content.name is None
    assert len(content.problems) == 1
    assert content.problems[0].line in (3, 4)
    assert "YAML" in content.problems[0].message


@given(st.text() | st.builds(lambda body: f"---\n{body}\n---\n", st.text()))
def test_whatever_a_file_holds_it_is_read(text):
    content = read(text)

    assert content.name is None or content.description
