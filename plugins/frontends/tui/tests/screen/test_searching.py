"""Stored sessions are found by their text, and the one that is chosen is opened; also where they are in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_testing import text

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider

WITH_FILES = pytest.mark.pi(entry_points=["session-jsonl", "session-sqlite"], stored=True)
IN_DATABASE = pytest.mark.pi(
    entry_points=["session-jsonl", "session-sqlite"], stored=True, settings={"sessionStore": "sqlite"}
)


@pytest.mark.parametrize("store", [pytest.param("jsonl", marks=WITH_FILES), pytest.param("sqlite", marks=IN_DATABASE)])
async def test_a_result_that_is_chosen_opens_its_session(
    desk, pi_session: AgentSession, script: ScriptedProvider, store: str
) -> None:
    script.turn(text("High at noon."))
    await pi_session.prompt("How is the tide?")
    first = pi_session.session_id
    await pi_session.new_session()

    async with desk((100, 24)) as user:
        await user.type('/search "at noon" -ebb', "enter")
        await user.sees("Open which session?", "assistant: High at noon.")
        await user.press("enter")
        await user.sees("How is the tide?", f"This is now the session {first}")
        await user.type("/search nothing-of-that-kind", "enter")
        await user.sees("Nothing was found for 'nothing-of-that-kind'.")
        await user.type("/search tide", "enter")
        await user.sees("user: How is the tide?")
        await user.press("escape")

    assert pi_session.session_id == first
    assert (pi_session.session_file is None) == (store == "sqlite")


@IN_DATABASE
async def test_a_session_in_a_database_is_renamed_and_deleted_in_its_list(
    desk, pi_session: AgentSession, script: ScriptedProvider
) -> None:
    script.turn(text("High at noon."))
    await pi_session.prompt("How is the tide?")

    async with desk((100, 24)) as user:
        await user.type("/resume", "enter")
        await user.sees("Resume Session", "How is the tide?")
        await user.press("ctrl+r", *"tides", "enter")
        await user.when(lambda: pi_session.session_name == "tides")
        await user.press("escape")
        await pi_session.new_session()
        await user.type("/resume", "enter")
        await user.sees("tides")
        await user.press("ctrl+d")
        await user.sees("Delete 'tides'?")
        await user.press("enter")
        await user.sees("No sessions in this folder")
        await user.press("escape")
