"""What the model is sent for each role."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_core.agent.convert import convert_to_llm, default_convert_to_llm, without_images
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    Context,
    CustomMessage,
    ImageContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UnknownMessage,
    UserMessage,
)
from pi_testing import for_each

FOR_THE_MODEL = [
    UserMessage(content="hello"),
    UserMessage(content=(TextContent("look"), ImageContent("aGk=", "image/png"))),
    AssistantMessage(content=(TextContent("hi"),), api="a", provider="p", model="m"),
    ToolResultMessage(tool_call_id="1", tool_name="read", content=(TextContent("x"),)),
    SystemMessage(content="be brief"),
]
OURS = [
    BashExecutionMessage(command="ls", output="a\nb", timestamp=5),
    CustomMessage(custom_type="note", content="remember", timestamp=6),
    BranchSummaryMessage(summary="went wrong", from_id="00000001", timestamp=7),
    CompactionSummaryMessage(summary="so far", tokens_before=10, timestamp=8),
]
UNKNOWN = UnknownMessage(role="hologram", extra={"content": "?"})


def converted_text(message):
    (converted,) = convert_to_llm([message])
    assert isinstance(converted, UserMessage)
    assert converted.timestamp == message.timestamp
    assert isinstance(converted.content, tuple)
    return converted.text


@for_each("message", FOR_THE_MODEL)
def test_the_models_own_roles_stay_as_they_are(message):
    (converted,) = convert_to_llm([message])

    assert converted is message


def test_a_command_is_sent_with_its_output():
    assert converted_text(BashExecutionMessage(command="ls", output="a\nb", exit_code=0)) == "Ran `ls`\n```\na\nb\n```"


def test_a_silent_command_says_so():
    assert converted_text(BashExecutionMessage(command="true", output="")) == "Ran `true`\n(no output)"


def test_a_failed_command_has_its_exit_code():
    message = converted_text(BashExecutionMessage(command="false", output="", exit_code=1))

    assert message == "Ran `false`\n(no output)\n\nCommand exited with code 1"


def test_a_cancelled_command_says_so_without_its_exit_code():
    message = converted_text(BashExecutionMessage(command="sleep 9", output="z", exit_code=143, cancelled=True))

    assert message == "Ran `sleep 9`\n```\nz\n```\n\n(command cancelled)"


def test_truncated_output_names_the_file_with_the_rest():
    message = BashExecutionMessage(
        command="seq 9", output="9", exit_code=2, truncated=True, full_output_path="/o/out.log"
    )

    assert converted_text(message) == (
        "Ran `seq 9`\n```\n9\n```\n\nCommand exited with code 2\n\n[Output truncated. Full output: /o/out.log]"
    )
    assert "Full output" not in converted_text(evolve(message, full_output_path=None))


def test_a_command_excluded_from_the_context_is_not_sent():
    assert convert_to_llm([BashExecutionMessage(command="ls", output="a", exclude_from_context=True)]) == []


def test_a_plugins_text_becomes_one_text_block():
    (converted,) = convert_to_llm([CustomMessage(custom_type="note", content="remember", display=False)])

    assert converted.content == (TextContent("remember"),)


def test_a_plugins_blocks_are_kept():
    blocks = (TextContent("see"), ImageContent("aGk=", "image/png"))

    (converted,) = convert_to_llm([CustomMessage(custom_type="note", content=blocks)])

    assert converted.content == blocks


def test_a_branch_summary_is_between_its_tags():
    assert converted_text(BranchSummaryMessage(summary="tried {x}", from_id="root")) == (
        "The following is a summary of a branch that this conversation came back from:\n\n"
        "<summary>\ntried {x}</summary>"
    )


def test_a_compaction_summary_is_between_its_tags():
    assert converted_text(CompactionSummaryMessage(summary="so far", tokens_before=9)) == (
        "The conversation history before this point was compacted into the following summary:\n\n"
        "<summary>\nso far\n</summary>"
    )


def test_an_unknown_role_is_dropped():
    assert convert_to_llm([UNKNOWN]) == []


@pytest.mark.parametrize("content", [[], [TextContent("x")], None, 5])
def test_a_plugins_wrong_content_is_no_exception(content):
    (converted,) = convert_to_llm([CustomMessage(custom_type="note", content=content)])

    assert isinstance(converted.content, tuple)


def test_the_default_keeps_only_what_a_provider_understands():
    assert default_convert_to_llm([*FOR_THE_MODEL, *OURS, UNKNOWN]) == FOR_THE_MODEL


@given(st.lists(st.sampled_from([*FOR_THE_MODEL, *OURS, UNKNOWN])))
def test_order_is_kept_and_converting_twice_changes_nothing(messages):
    once = convert_to_llm(messages)

    assert [message.timestamp for message in once] == [m.timestamp for m in messages if m is not UNKNOWN]
    assert convert_to_llm(once) == once


def test_a_line_replaces_adjacent_images_and_nothing_else_changes():
    image, caption = ImageContent("aGk=", "image/png"), TextContent("x")
    result = ToolResultMessage(
        tool_call_id="1", tool_name="read", content=(image, image, caption, image), is_error=True
    )
    plain, seen, *others = FOR_THE_MODEL
    changed = without_images(Context(system_prompt="s", messages=(plain, seen, *others, result))).messages

    assert changed[0] is plain
    assert changed[2:-1] == tuple(others)
    assert [block.type for block in changed[1].content] == ["text", "text"]
    assert [block.type for block in changed[-1].content] == ["text", "text", "text"]
    assert changed[-1].content[1] is caption
    assert evolve(changed[-1], content=result.content) == result


class OwnMessage(UserMessage):
    """A message of a program's own class."""


def test_each_message_of_a_mixture_is_converted_in_its_place():
    own = OwnMessage(content="own")
    mixture = [
        CustomMessage(custom_type="note", content="first"),
        UserMessage(content="second"),
        UNKNOWN,
        BashExecutionMessage(command="ls", output="a", exclude_from_context=True),
        own,
        UNKNOWN,
        CompactionSummaryMessage(summary="so far", tokens_before=9),
        AssistantMessage(api="x", provider="p", model="m"),
        CustomMessage(custom_type="note", content="last"),
    ]

    converted = convert_to_llm(iter(mixture))

    assert converted == [message for each in mixture for message in convert_to_llm([each])]
    assert [each is mixture[index] for each, index in zip(converted[1:3], (1, 4), strict=True)] == [True, True]
    assert convert_to_llm(mixture)[4] is mixture[7]
