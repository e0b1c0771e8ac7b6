"""An answer gets a name, and loses it again."""

from __future__ import annotations

import pytest

from pi_hookspecs import AssistantMessage, MessageEntry
from pi_testing import text


@pytest.fixture
async def answer_id(pi_session, script):
    script.turn(text("Here is a draft."))
    await pi_session.prompt("write")
    entries = pi_session.session_manager.get_entries()
    return next(
        each.id for each in entries if isinstance(each, MessageEntry) and isinstance(each.message, AssistantMessage)
    )


async def test_the_last_answer_is_named(pi_session, answer_id):
    await pi_session.prompt("/bookmark first draft")

    assert pi_session.session_manager.get_label(answer_id) == "first draft"


async def test_the_name_is_taken_away(pi_session, answer_id, fake_ui):
    await pi_session.prompt("/bookmark first draft")
    await pi_session.prompt("/unbookmark")

    assert pi_session.session_manager.get_label(answer_id) is None
    assert fake_ui.notices[-1].message == "Took 'first draft' away."


async def test_without_an_answer_there_is_nothing_to_name(pi_session, fake_ui):
    await pi_session.prompt("/bookmark")
    await pi_session.prompt("/unbookmark")

    assert [notice.level for notice in fake_ui.notices] == ["warning", "warning"]
