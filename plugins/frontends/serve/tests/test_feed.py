"""What a client that joins receives of what is in progress."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from pi_core import to_wire
from pi_hookspecs import (
    AgentSettledEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    CompactionEndEvent,
    CompactionStartEvent,
    QueueUpdateEvent,
)
from pi_serve.feed import Feed

if TYPE_CHECKING:
    import pytest

    from pi_core import AgentSession

QUEUED = QueueUpdateEvent(steering=("look at the tide",), follow_up=())
RETRY = AutoRetryStartEvent(attempt=1, max_attempts=3, delay_ms=4000, error_message="overloaded")
COMPACTION = CompactionStartEvent(reason="manual")


def joined_after(session: AgentSession, *events: Any) -> list[dict[str, Any]]:
    """Return the lines after the entries for a client that joins after some events."""
    feed = Feed(session)
    for event in events:
        [*feed.lines_of(event)]
    _, *lines = map(json.loads, feed.catch_up(None))
    return lines


def kinds(session: AgentSession, *events: Any) -> list[str]:
    return [line["type"] for line in joined_after(session, *events)]


def test_it_sees_the_queued_messages_until_they_are_sent(pi_session: AgentSession) -> None:
    (line,) = joined_after(pi_session, QUEUED)
    sent = QueueUpdateEvent(steering=(), follow_up=())

    assert (line["type"], line["steering"]) == ("queue_update", ["look at the tide"])
    assert kinds(pi_session, QUEUED, sent) == []


def test_it_sees_a_running_compaction_also_when_the_agent_has_settled(pi_session: AgentSession) -> None:
    assert kinds(pi_session, COMPACTION) == ["compaction_start"]
    assert kinds(pi_session, COMPACTION, AgentSettledEvent()) == ["compaction_start"]
    assert kinds(pi_session, COMPACTION, CompactionEndEvent(reason="manual")) == []


def test_it_sees_how_long_the_wait_before_a_retry_still_is(
    pi_session: AgentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    feed = Feed(pi_session)
    [*feed.lines_of(RETRY)]
    now = 103.0
    _, line = map(json.loads, feed.catch_up(None))

    assert (line["type"], line["attempt"], line["delayMs"]) == ("auto_retry_start", 1, 1000)


def test_a_retry_that_has_ended_is_not_reported(pi_session: AgentSession) -> None:
    assert kinds(pi_session, RETRY, AutoRetryEndEvent(success=False, attempt=1)) == []
    assert kinds(pi_session, RETRY, AgentSettledEvent()) == []


async def test_a_client_that_joins_gets_what_is_stored_as_it_is_stored(
    pi_session: AgentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    pi_session.session_manager.append_session_info("Tides")
    joined: dict[str, Any] = json.loads(next(Feed(pi_session).catch_up(None)))
    lines = [*pi_session.session_manager.get_entries().lines()]

    assert (
        joined["entries"]
        == [json.loads(line) for line in lines]
        == to_wire([*pi_session.session_manager.get_entries()])
    )
    assert [joined["type"], joined["leaf"]] == ["entries", pi_session.session_manager.leaf_id]

    monkeypatch.setattr(type(pi_session.session_manager.get_entries()), "lines", lambda _: [b'"stored"'])
    assert json.loads(next(Feed(pi_session).reset())) == {
        "type": "entries",
        "reset": True,
        "entries": ["stored"],
        "leaf": pi_session.session_manager.leaf_id,
    }
