"""How a conversation reads to the summariser, and what is put around it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_compaction import prompts
from pi_compaction.files import FileLists
from pi_compaction.pins import pins_text
from pi_compaction.serialise import fitted, serialise
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryEntry,
    CompactionEntry,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_testing import for_each

TIME = "2026-01-01T00:00:00.000Z"


def answer(*content: Any) -> AssistantMessage:
    return AssistantMessage(api="a", provider="p", model="m", content=content)


def result(text: str) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id="c", tool_name="bash", content=(TextContent(text),))


def test_each_part_names_its_speaker() -> None:
    call = ToolCall(id="c", name="edit", arguments={"path": "a.py", "edits": [{"oldText": "ä"}]})
    second = ToolCall(id="d", name="ls", arguments={})

    parts = serialise([UserMessage(content="Fix it"), answer(TextContent("On it."), call, second), result("done")])

    assert parts == [
        "[User]: Fix it",
        "[Assistant]: On it.",
        '[Assistant tool calls]: edit(path="a.py", edits=[{"oldText": "ä"}]); ls()',
        "[Tool result]: done",
    ]


def test_thinking_is_left_out_and_an_image_is_named() -> None:
    image = ImageContent(data="aGk=", mime_type="image/png")

    parts = serialise([answer(ThinkingContent("hm")), UserMessage(content=(TextContent("See"), image))])

    assert parts == ["[User]: See\n(image)"]


def test_a_command_of_the_user_reads_as_the_model_reads_it() -> None:
    parts = serialise([BashExecutionMessage(command="ls", output="a.py")])

    assert parts == ["[User]: Ran `ls`\n```\na.py\n```"]


def test_a_long_result_is_cut_and_says_how_much_is_missing() -> None:
    (part,) = serialise([result("x" * 2345)])

    assert part == f"[Tool result]: {'x' * 2000}\n\n[... 345 more characters truncated]"


@given(st.lists(st.integers(0, 5000), max_size=30), st.integers(500, 20_000))
def test_what_is_too_long_is_made_to_fit(sizes: list[int], chars: int) -> None:
    parts = ["x" * size for size in sizes]

    text = fitted(parts, chars)

    assert len(text) <= chars + 60
    assert text == "\n\n".join(parts) or len("\n\n".join(parts)) > chars


def test_beginning_and_end_outlast_the_middle() -> None:
    text = fitted([f"part {number}: " + "x" * 100 for number in range(100)], 2000)

    assert text.startswith("part 0: ")
    assert "characters left out" in text
    assert "part 99: " in text
    assert "part 50: " not in text


HEADINGS = (
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
)


@pytest.mark.parametrize(
    ("prompt", "headings"),
    [
        (prompts.FIRST, (*HEADINGS, "## Critical Context")),
        (prompts.UPDATE, (*HEADINGS, "## Critical Context")),
        (prompts.BRANCH, HEADINGS),
        (prompts.PREFIX, ("## Original Request", "## Progress So Far", "## Context Needed to Continue")),
    ],
    ids=["first", "update", "branch", "prefix"],
)
def test_headings_are_those_of_the_contract(prompt: str, headings: tuple[str, ...]) -> None:
    assert tuple(line for line in prompt.splitlines() if line.startswith("#")) == headings


def test_the_question_has_conversation_summary_instructions_and_focus_in_this_order() -> None:
    text = prompts.question("C", "I", previous="P", focus="F")

    assert text == (
        "<conversation>\nC\n</conversation>\n\n<previous-summary>\nP\n</previous-summary>\n\nI\n\nAdditional focus: F"
    )


@pytest.mark.parametrize(("history", "begins"), [("So far.", "So far."), (None, "No prior history.")])
def test_summary_of_a_split_turn(history: str | None, begins: str) -> None:
    assert prompts.merged(history, "P") == f"{begins}\n\n---\n\n**Turn Context (split turn):**\n\nP"


def calls(*pairs: tuple[str, str]) -> AssistantMessage:
    return answer(*(ToolCall(id="c", name=name, arguments={"path": path}) for name, path in pairs))


def test_files_are_sorted_and_a_changed_one_is_not_among_the_read() -> None:
    files = FileLists()

    files.add_calls([calls(("read", "b"), ("read", "a"), ("edit", "b"), ("write", "c"), ("grep", "d"))])

    assert files.text() == "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\n</modified-files>"
    assert files.details() == {"readFiles": ["a"], "modifiedFiles": ["b", "c"]}


@pytest.mark.parametrize(("from_hook", "modified"), [(None, ["old"]), (True, [])])
def test_files_of_earlier_summaries_of_ours_are_carried_on(from_hook: bool | None, modified: list[str]) -> None:
    details = {"readFiles": [], "modifiedFiles": ["old"]}
    where = {"parent_id": None, "timestamp": TIME, "summary": "s", "details": details, "from_hook": from_hook}
    files = FileLists()

    files.add_summary(CompactionEntry(id="1", first_kept_entry_id="0", tokens_before=1, **where))
    files.add_summary(BranchSummaryEntry(id="2", from_id="0", **where))

    assert files.modified == modified


@for_each("details", [None, [], {}, {"readFiles": 3, "modifiedFiles": [1, None]}, "x"])
def test_details_that_are_none_of_ours_name_no_files(details: Any) -> None:
    files = FileLists()

    files.add_details(details)

    assert files.text() == ""


@pytest.mark.parametrize("path", [None, 3, "", ["a"]])
def test_a_call_without_a_path_names_no_file(path: Any) -> None:
    files = FileLists()

    files.add_calls([answer(ToolCall(id="c", name="read", arguments={"path": path}))])

    assert files.read == []


def test_pins_have_a_section_of_their_own() -> None:
    assert pins_text([{"text": "Never push."}, {"text": "Use tabs."}]) == "\n\n## Pinned\n\nNever push.\n\nUse tabs."
    assert pins_text([]) == ""
