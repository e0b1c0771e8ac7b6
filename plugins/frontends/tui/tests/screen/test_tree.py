"""The tree in place of the editor: the session goes on from where the user chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import CustomMessage
from pi_testing import stall, text
from pi_tui.session.lists import Lists

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider


@pytest.fixture
async def talked(pi_session: AgentSession, script: ScriptedProvider) -> AgentSession:
    script.turn(text("High."))
    script.turn(text("Low."))
    await pi_session.prompt("How is the tide?")
    await pi_session.prompt("And tomorrow?")
    return pi_session


async def test_a_message_of_the_user_is_edited_again(desk, talked: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        await user.sees("› • assistant: Low. ← active")
        await user.press("up", "enter")
        await user.sees("Summarize branch?", "→ No summary")
        await user.press("enter")
        await user.sees("Navigated to selected point")

        assert user.typed == "And tomorrow?"
    assert [message.role for message in talked.messages] == ["user", "assistant"]


SKILL = '<skill name="tides" location="/s/SKILL.md">\nReferences are relative to /s.\n\nRead.\n</skill>'


async def test_a_skill_is_listed_and_edited_again_as_it_was_typed(
    desk, pi_session: AgentSession, script: ScriptedProvider
) -> None:
    script.turn(text("High."))
    await pi_session.prompt(f"{SKILL}\n\nat noon")

    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        await user.sees("user: /skill:tides at noon")
        await user.press("up", "enter")
        await user.sees("Summarize branch?")
        await user.press("enter")
        await user.sees("Navigated to selected point")

        assert user.typed == "/skill:tides at noon"


async def test_a_message_of_a_plugin_has_its_name(desk, talked: AgentSession) -> None:
    await talked.send_custom_message(CustomMessage(custom_type="agents", content="It is done."))

    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        await user.sees("[agents]: It is done.")


async def test_escape_goes_back_to_the_tree(desk, talked: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        await user.sees("Session Tree")
        await user.press("up", "enter")
        await user.sees("Summarize branch?")
        await user.press("escape")
        await user.sees("› • user: And tomorrow?")
        await user.press("escape")
        await user.when(lambda: "Session Tree" not in user.text)

    assert len(talked.messages) == 4


@pytest.mark.usefixtures("talked")
async def test_while_an_answer_comes_another_place_is_refused_before_any_question(
    desk, script: ScriptedProvider
) -> None:
    script.turn(stall())
    async with desk((100, 40)) as user:
        await user.type("And the moon?", "enter")
        await script.stalled()
        await user.type("/tree", "enter")
        await user.sees("Session Tree")
        await user.press("up", "enter")
        await user.sees("Wait for it or abort it before moving in the tree.", "Session Tree")
        assert "Summarize branch?" not in user.text
        await user.press("escape")
        await user.when(lambda: "Session Tree" not in user.text)
        await user.press("escape")
        await user.sees("Operation aborted")


async def test_data_of_a_plugin_is_listed_with_all_entries(desk, talked: AgentSession) -> None:
    talked.session_manager.append_custom_entry("survey", {"depth": 7})

    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        assert "survey" not in await user.sees("Session Tree", "assistant: Low.")
        await user.press("escape")
        await user.type("/tree all", "enter")
        await user.sees("[survey]")


async def test_the_current_place_is_no_other_one(desk, talked: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        await user.sees("Session Tree")
        await user.press("enter")

        await user.sees("Already at this point")


@pytest.mark.usefixtures("talked")
@pytest.mark.pi(settings={"branchSummary": {"skipPrompt": True}})
async def test_the_question_can_be_skipped(desk) -> None:
    async with desk((100, 40)) as user:
        await user.type("/tree user-only", "enter")
        await user.sees("[user-only]")
        await user.press("up", "enter")
        await user.sees("Navigated to selected point")

        assert user.typed == "How is the tide?"


async def test_a_label_is_stored(desk, talked: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/tree", "enter")
        await user.sees("Session Tree")
        await user.press("shift+l")
        await user.sees("Label:")
        await user.press(*"low", "enter")
        await user.sees("[low] assistant: Low.")
        await user.press("enter")
        await user.sees("Already at this point")

    rows = Lists(talked).tree().rows(lambda entry: entry.passes("labeled-only"))
    assert [(row.entry.text, row.entry.label) for row in rows] == [("Low.", "low")]


async def test_an_unknown_filter_is_explained(desk) -> None:
    async with desk((100, 40)) as user:
        await user.type("/tree fancy", "enter")

        await user.sees("'fancy' is not a filter of the tree.")
