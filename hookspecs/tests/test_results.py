"""What plugins answer takes any iterable, as it is written at hand, and refuses what looks like one by mistake."""

from __future__ import annotations

import pytest

from pi_hookspecs import (
    AgentBeforeSettleResult,
    BeforeAgentStartResult,
    CommandsDiscoverResult,
    ContextResult,
    CustomMessage,
    NewEntry,
    PromptSection,
    ResourcesDiscoverResult,
    SystemPromptResult,
    TextContent,
    ToolResultResult,
    TurnEndResult,
)
from pi_testing import for_each

NOTE = CustomMessage(custom_type="note", content="n", timestamp=1)


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_collections_become_tuples(kind):
    entry, block = NewEntry(custom_type="e"), TextContent("t")

    assert BeforeAgentStartResult(messages=kind([NOTE])).messages == (NOTE,)
    assert ContextResult(messages=kind([NOTE])).messages == (NOTE,)
    assert TurnEndResult(entries=kind([entry])).entries == (entry,)
    assert AgentBeforeSettleResult(entries=kind([entry])).entries == (entry,)
    assert ToolResultResult(content=kind([block])).content == (block,)
    assert ResourcesDiscoverResult(skill_paths=kind(["/a"])).skill_paths == ("/a",)


def test_what_is_not_given_stays_as_it_was():
    assert ContextResult().messages is None
    assert ToolResultResult().content is None


def test_one_path_is_not_taken_for_a_list_of_its_letters():
    with pytest.raises(TypeError, match=r"takes a list, such as \['/a/path'\], not '/a'"):
        ResourcesDiscoverResult(theme_paths="/a")


@for_each(
    ("make", "message"),
    [
        (
            lambda: ToolResultResult(content="clean"),
            r"content takes a list, such as \[TextContent\('...'\)\], not 'clean'",
        ),
        (lambda: ToolResultResult(content=TextContent("t")), r"not TextContent\("),
        (lambda: ToolResultResult(content={"type": "text"}), r"not \{'type': 'text'\}"),
        (lambda: SystemPromptResult(sections=PromptSection(name="a", text="b")), r"sections takes a list, such as"),
        (lambda: ContextResult(messages=NOTE), r"messages takes a list, such as \[\*event.messages, ...\]"),
        (lambda: BeforeAgentStartResult(messages="note"), r"messages takes a list, such as \[CustomMessage"),
        (lambda: TurnEndResult(entries=NewEntry(custom_type="e")), r"entries takes a list, such as \[NewEntry"),
        (lambda: CommandsDiscoverResult(commands="name"), r"commands takes a list, such as \[CommandInfo"),
        (lambda: ContextResult(messages=7), r"not 7"),
    ],
)
def test_one_value_in_place_of_a_list_is_refused_with_a_right_one(make, message):
    with pytest.raises(TypeError, match=message):
        make()
