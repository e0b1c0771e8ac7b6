"""Going to another place in the tree: what is left behind is summed up where the conversation goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve

import pi_compaction
from pi_compaction.prompts import BRANCH_PREAMBLE
from pi_hookspecs import PiError
from pi_testing import error, text, tool_call, usage

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_hookspecs import SessionEntry
    from pi_testing import ScriptedProvider

pytestmark = pytest.mark.pi(plugins={"compaction": pi_compaction})


async def two_prompts(session: AgentSession, script: ScriptedProvider) -> SessionEntry:
    """A conversation of two prompts; returns the first answer, which is where the second branch begins."""
    script.turn(text("First answer."))
    await session.prompt("First.")
    script.turn(tool_call("edit", path="b.py"), tool_call("read", path="a.py")).turn(text("Second answer."))
    await session.prompt("Second.")
    answers = [entry for entry in session.session_manager.get_branch(records=False) if entry.type == "message"]
    return answers[1]


async def test_the_branch_is_summed_up_where_the_conversation_goes_on(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    goal = await two_prompts(pi_session, script)
    script.turn(text("## Goal\nThe second thing."), usage(input=9, output=1))

    gone = await pi_session.navigate_tree(goal.id, summarize=True)

    asked = script.requests[-1].user_text
    assert "[User]: Second." in asked
    assert "First." not in asked
    assert gone.summary_entry.summary == (
        f"{BRANCH_PREAMBLE}## Goal\nThe second thing."
        "\n\n<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\n</modified-files>"
    )
    assert gone.summary_entry.details == {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]}
    assert gone.summary_entry.usage.input == 9
    assert [message.role for message in pi_session.messages] == ["user", "assistant", "branchSummary"]


@pytest.mark.parametrize(
    ("replace", "ends"),
    [(False, "\n\nAdditional focus: In rhyme."), (True, "</conversation>\n\nIn rhyme.")],
    ids=["added", "replaced"],
)
async def test_instructions_of_the_user(
    replace: bool, ends: str, pi_session: AgentSession, script: ScriptedProvider
) -> None:
    goal = await two_prompts(pi_session, script)
    script.turn(text("Short."))

    await pi_session.navigate_tree(
        goal.id, summarize=True, custom_instructions="In rhyme.", replace_instructions=replace
    )

    assert script.requests[-1].user_text.endswith(ends)


async def test_a_branch_without_content_has_a_fixed_summary(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("First answer."))
    await pi_session.prompt("First.")
    goal = pi_session.session_manager.leaf_id
    pi_session.append_entry("note", {"of": "mine"})

    gone = await pi_session.navigate_tree(goal, summarize=True)

    assert gone.summary_entry.summary == "No content to summarize"
    assert len(script.requests) == 1


@pytest.mark.pi(settings={"branchSummary": {"reserveTokens": 900}})
async def test_the_newest_of_a_long_branch_is_summed_up(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("First answer."))
    await pi_session.prompt("First.")
    goal = pi_session.session_manager.leaf_id
    for number in range(10):
        script.turn(text(f"Answer {number}. " + "x" * 800))
        await pi_session.prompt(f"Prompt {number}. " + "x" * 800)
    pi_session.agent.set_model(evolve(script.model, context_window=2000))
    script.turn(text("Short."))

    await pi_session.navigate_tree(goal, summarize=True)

    asked = script.requests[-1].user_text
    assert "Prompt 9." in asked
    assert "Prompt 0." not in asked
    assert script.requests[-1].options.max_tokens == 720


async def test_a_compaction_on_the_path_is_represented_by_its_summary(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    goal = await two_prompts(pi_session, script)
    manager = pi_session.session_manager
    manager.append_compaction("What was compacted.", manager.leaf_id, 10, {"readFiles": ["c.py"], "modifiedFiles": []})
    script.turn(text("Short."))

    gone = await pi_session.navigate_tree(goal.id, summarize=True)

    assert "What was compacted." in script.requests[-1].user_text
    assert gone.summary_entry.details["readFiles"] == ["a.py", "c.py"]


async def test_a_failed_summary_leaves_the_conversation_where_it_is(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    goal = await two_prompts(pi_session, script)
    leaf = pi_session.session_manager.leaf_id
    script.turn(error("500 oh"))

    with pytest.raises(PiError, match=r"^Summarization failed: 500 oh$"):
        await pi_session.navigate_tree(goal.id, summarize=True)

    assert pi_session.session_manager.leaf_id == leaf
