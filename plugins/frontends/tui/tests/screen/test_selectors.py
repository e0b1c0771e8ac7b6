"""Lists in place of the editor: what a user chooses there changes the session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pi_core.session import SessionManager
from pi_hookspecs import TextContent, UserMessage
from pi_testing import text
from pi_testing.conversation import answer

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider


def stored(session: AgentSession, *said: str, cwd: Path | None = None) -> str:
    """Store a session of another run, and return its path."""
    manager = SessionManager.create(cwd or session.cwd, host=session.host)
    for each in said:
        manager.append_message(UserMessage(content=each))
        manager.append_message(answer(session.model, TextContent(text="Yes.")))
    manager.sync()
    return str(manager.get_session_file())


async def test_the_current_model_is_marked(desk, pi_session: AgentSession) -> None:
    async with desk((100, 24)) as user:
        await user.press("ctrl+l")
        await user.sees(f"→ ✓ {pi_session.model.id} [{pi_session.model.provider}]")
        await user.press("enter")

        await user.sees(f"Model: {pi_session.model.reference}")


async def test_a_model_that_its_provider_does_not_list_is_used_with_a_warning(desk, pi_session: AgentSession) -> None:
    provider = pi_session.model.provider

    async with desk((100, 24)) as user:
        await user.type(f"/model {provider}/typo", "enter")
        await user.sees(
            f'Model "typo" not found for provider "{provider}". Using custom model id.', f"Model: {provider}/typo"
        )


async def test_ctrl_s_makes_a_model_the_default(desk, pi_session: AgentSession) -> None:
    async with desk((100, 24)) as user:
        await user.press("ctrl+l")
        await user.sees("Ctrl+S to set as default")
        await user.press("ctrl+s")
        await user.sees("now the default of new sessions")

    assert pi_session.settings.get("defaultModel") == pi_session.model.id


async def test_ctrl_s_makes_a_thinking_level_the_default(desk, pi_session: AgentSession) -> None:
    async with desk((100, 24)) as user:
        await user.type("/thinking", "enter")
        await user.sees("Ctrl+S to set as default", f"→ {pi_session.thinking_level} ✓")
        await user.type("high")
        await user.press("ctrl+s")
        await user.sees("Thinking level: high, now the default of new sessions")

    assert pi_session.thinking_level == "high"
    assert pi_session.settings.get("defaultThinkingLevel") == "high"


async def test_thinking_show_and_hide_do_what_the_key_does(desk) -> None:
    async with desk((100, 24)) as user:
        await user.type("/thinking hide", "enter")
        await user.sees("Thinking blocks: hidden")
        await user.type("/thinking show", "enter")
        await user.sees("Thinking blocks: visible")
        await user.type("/thinking lots", "enter")
        await user.sees("'lots' is not a thinking level of this model. Use one of", "hide.")


async def test_the_terminals_cursor_is_where_one_searches(desk) -> None:
    async with desk((100, 24)) as user:
        await user.press("ctrl+l")
        await user.sees("Enter to select")
        await user.press("潮", "x")
        await user.sees("> 潮x")
        row = user.rows.index("> 潮x")

        assert user.app.cursor_position == (5, row)
        await user.press("escape")
        await user.when(lambda: user.app.cursor_position == (0, 20), "the cursor in the editor")


async def test_escape_leaves_the_list_and_what_is_typed(desk) -> None:
    async with desk() as user:
        await user.type("half a sentence")
        await user.press("ctrl+l")
        await user.sees("Enter to select")
        await user.press("escape")
        await user.sees("half a sentence")

        assert "Enter to select" not in user.text


async def test_models_to_cycle_through_are_chosen_and_saved(desk, pi_session: AgentSession) -> None:
    async with desk((100, 24)) as user:
        await user.type("/scoped-models", "enter")
        await user.sees("all enabled")
        await user.press("ctrl+x")
        await user.sees("0/")
        await user.press("enter")
        await user.when(lambda: "✓" in user.text or "all enabled" in user.text)
        await user.press("ctrl+s")
        await user.sees("The models to cycle through are saved.")
        await user.press("escape")

    assert pi_session.settings.get("enabledModels") is not None


@pytest.mark.pi(entry_points=["session-jsonl"], stored=True)
async def test_a_stored_session_is_resumed(desk, pi_session: AgentSession) -> None:
    stored(pi_session, "How is the tide?")

    async with desk((100, 24)) as user:
        await user.type("/resume", "enter")
        await user.sees("Resume Session (Current Folder)", "How is the tide?")
        await user.type("tide")
        await user.press("enter")
        await user.sees("Yes.")

        assert [message.text for message in pi_session.messages] == ["How is the tide?", "Yes."]


@pytest.mark.pi(entry_points=["session-jsonl"], stored=True)
async def test_the_damage_of_a_resumed_session_is_reported_once(desk, pi_session: AgentSession) -> None:
    path = stored(pi_session, "How is the tide?")
    with Path(path).open("a") as file:
        file.write("{broken\n")

    async with desk((100, 24)) as user:
        await user.type("/resume", "enter")
        await user.sees("How is the tide?")
        await user.press("enter")
        await user.sees("Yes.", "it is not JSON")
        await user.type("/session", "enter")
        await user.sees("Messages")

        notices = [each.text for each in user.app.state.blocks if each.kind == "notice"]
        assert sum("it is not JSON" in each for each in notices) == 1


@pytest.mark.pi(entry_points=["session-jsonl"], stored=True)
async def test_messages_are_searched_too(desk, pi_session: AgentSession) -> None:
    stored(pi_session, "First", "The wreck of the Deutschland")
    stored(pi_session, "Second")

    async with desk((100, 24)) as user:
        await user.type("/resume", "enter")
        await user.sees("First", "Second")
        await user.press(*"wreck")
        await user.when(lambda: "First" in user.text and "Second" not in user.text)
        await user.press("escape")


@pytest.mark.pi(entry_points=["session-jsonl"], stored=True)
async def test_a_session_is_renamed_and_deleted_in_its_list(desk, pi_session: AgentSession) -> None:
    path = stored(pi_session, "How is the tide?")

    async with desk((100, 24)) as user:
        await user.type("/resume", "enter")
        await user.sees("How is the tide?")
        await user.press("ctrl+r", *"tides", "enter")
        await user.when(lambda: "How is the tide?" not in user.text and "tides" in user.text)

        assert SessionManager.open(path, host=pi_session.host).name == "tides"

        await user.press("ctrl+d")
        await user.sees("Delete 'tides'?")
        await user.press("enter")
        await user.sees("No sessions in this folder")
        await user.press("escape")

    assert SessionManager.list(pi_session.cwd, host=pi_session.host) == []


@pytest.mark.pi(entry_points=["session-jsonl"], stored=True)
async def test_sessions_of_other_folders_are_found(desk, pi_session: AgentSession, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    stored(pi_session, "Far away", cwd=elsewhere)

    async with desk((100, 24)) as user:
        await user.type("/resume", "enter")
        await user.sees("No sessions in this folder")
        await user.press("tab")
        await user.sees("Resume Session (All)", "Far away")
        await user.press("escape")


async def test_a_fork_ends_before_the_chosen_message(desk, pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("High."))
    script.turn(text("Low."))
    await pi_session.prompt("How is the tide?")
    await pi_session.prompt("And tomorrow?")

    async with desk((100, 24)) as user:
        await user.type("/fork", "enter")
        await user.sees("→ And tomorrow?", "Message 2 of 2")
        await user.press("enter")
        await user.sees("Forked to new session")

        assert user.typed == "And tomorrow?"
    assert [message.role for message in pi_session.messages] == ["user", "assistant"]


async def test_a_list_that_is_open_at_the_end_is_dismissed(desk) -> None:
    async with desk((100, 24)) as user:
        await user.press("ctrl+l")
        await user.sees("Enter to select")
        ended = asyncio.get_running_loop().create_future()
        ended.set_result(0)
        await user.app.close(ended)
        await user.when(lambda: "Enter to select" not in user.text)

        assert "Operation aborted" not in user.text


@pytest.mark.pi(entry_points=["provider-offline"])
async def test_the_stand_in_is_listed_while_it_is_in_use(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        await user.type("/model", "enter")
        assert "[offline]" not in await user.sees("Enter to select")
        await user.press("escape")
        await pi_session.set_model(pi_session.models.find("offline/rules"))
        await user.type("/model", "enter")

        await user.sees("✓ rules [offline]")
