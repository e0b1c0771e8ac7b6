"""The conversation is compacted at the limit, and when the user says so."""

from __future__ import annotations

import pytest

from pi_hookspecs import Compaction, MessageEntry, hookimpl
from pi_testing import text, usage


class Shortener:
    """A compactor that keeps the last message, and how it was asked."""

    def __init__(self):
        self.asked = []

    @hookimpl
    def register_services(self):
        return [self]

    async def compact(self, request, ctx):
        self.asked.append((request.reason, request.custom_instructions))
        kept = [entry.id for entry in request.entries if isinstance(entry, MessageEntry)][-1]
        return Compaction(summary="Much was said.", first_kept_entry_id=kept, tokens_before=1)


@pytest.fixture
def shortener():
    return Shortener()


@pytest.fixture
def pi_plugins(pi_plugins, shortener):
    return {"shortener": shortener, **pi_plugins}


@pytest.mark.pi(settings={"triggerCompact": 1000})
async def test_long_conversation_is_compacted(pi_session, script, shortener, fake_ui):
    script.turn(text("Short."), usage(input=500)).turn(text("Long."), usage(input=1500)).turn(text("Fine."))

    for prompt in ("one", "two", "three"):
        await pi_session.prompt(prompt)

    assert shortener.asked == [("threshold", None)]
    assert "Much was said." in script.requests[2].messages[0].text
    assert fake_ui.notices[0].message == "The conversation has 1500 tokens: compacting."


async def test_user_compacts_with_words_of_their_own(pi_session, script, shortener):
    script.turn(text("One.")).turn(text("Two."))
    for prompt in ("one", "two", "/trigger-compact keep the numbers"):
        await pi_session.prompt(prompt)

    assert shortener.asked == [("manual", "keep the numbers")]
