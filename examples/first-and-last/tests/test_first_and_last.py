"""The example of a stranger's compaction: it replaces ours, with no change elsewhere."""

from __future__ import annotations

import pytest

from pi_hookspecs import UserError
from pi_testing import error, text

pytestmark = pytest.mark.pi(entry_points=["compaction"])  # the default plugin, which the example comes after


async def test_the_summary_is_the_users_message(pi_session, script):
    for prompt in ("one", "two", "three"):
        script.turn(text(f"Answer to {prompt}."))
        await pi_session.prompt(prompt)

    await pi_session.compact()

    assert [message.role for message in pi_session.messages] == ["compactionSummary", "user", "assistant"]
    assert pi_session.messages[0].summary == "The user asked, in this order:\n- one\n- two"
    assert len(script.requests) == 3


async def test_our_triggers_use_it(pi_session, script):
    script.turn(text("Fine."))
    await pi_session.prompt("one")
    script.turn(error("prompt is too long")).turn(text("Here."))

    answer = await pi_session.prompt("two")

    assert answer.text == "Here."
    assert [message.role for message in script.requests[-1].messages] == ["user", "user"]


async def test_with_one_message_there_is_nothing_to_compact(pi_session, script):
    script.turn(text("Fine."))
    await pi_session.prompt("one")

    with pytest.raises(UserError, match="Nothing to compact"):
        await pi_session.compact()
