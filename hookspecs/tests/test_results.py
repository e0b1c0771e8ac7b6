"""What plugins answer takes any iterable, as it is written at hand, and refuses what looks like one by mistake."""

from __future__ import annotations

import pytest

from pi_hookspecs import (
    AgentBeforeSettleResult,
    BeforeAgentStartResult,
    ContextResult,
    CustomMessage,
    NewEntry,
    ResourcesDiscoverResult,
    TextContent,
    ToolResultResult,
    TurnEndResult,
)

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
    with pytest.raises(TypeError, match=r"Give a list of paths, \['/a'\]"):
        ResourcesDiscoverResult(theme_paths="/a")
