"""When entries are stored, and what happens when they cannot be."""

from __future__ import annotations

import errno
import json
import re
import tempfile

import pytest

from pi_core import SessionManager
from pi_core.hooks.loop_watch import LoopBlocked
from pi_core.session.writer import SessionWriter
from pi_hookspecs import (
    AssistantMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    PiError,
    UserError,
    UserMessage,
)

USER = UserMessage(content="hi", timestamp=1)
ANSWER = AssistantMessage(api="x", provider="p", model="m", timestamp=1)


@pytest.fixture
def manager(host):
    return SessionManager.create("/work", host=host)


@pytest.fixture
def stored(manager, store):
    return store.sessions[manager.id]


def test_nothing_is_stored_before_the_first_prompt(manager, stored):
    manager.append_model_change("p", "m")
    manager.append_custom_entry("todo", [1])

    assert stored.appends == []
    assert not manager.is_saved


def test_the_first_prompt_stores_all_entries_at_once_and_each_later_one_by_itself(manager, stored):
    ids = [manager.append_model_change("p", "m"), manager.append_message(USER)]
    later = [manager.append_message(ANSWER), manager.append_custom_entry("todo", [1])]

    assert stored.appends == [ids, [later[0]], [later[1]]]
    assert manager.is_saved


def test_an_opened_session_is_stored_to_at_once(manager, host):
    manager.append_message(ANSWER)

    again = SessionManager.open(manager.id, host=host)
    again.append_custom_entry("todo")

    assert again.writer.stored.appends == [[again.leaf_id]]


def test_entries_that_cannot_be_stored_wait_in_order_and_go_with_the_next(manager, stored, full):
    reported = []
    manager.on_problem = reported.append
    manager.append_message(ANSWER)
    stored.failure = full
    waiting = [manager.append_message(USER), manager.append_message(ANSWER)]
    assert not manager.is_saved

    stored.failure = None
    last = manager.append_message(USER)

    assert stored.appends[-1] == [*waiting, last]
    assert len(reported) == 2
    assert re.fullmatch(
        r"Session '[-0-9a-f]+' cannot be written: No space left on device \(errno 28\)\. The conversation continues in "
        r"memory only; 1 entry waits and will be stored with the next one that can be\. Free some space on that disk, "
        r"or export the session to another one\.",
        reported[0],
    )
    assert reported[1].endswith("is stored again; nothing is missing.")
    assert manager.notices == reported


@pytest.mark.parametrize(
    ("failure", "advice"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "--session-dir"),
        (OSError(errno.EIO, "Input/output error"), "Check the disk"),
        (ValueError("a bug of the store"), "ValueError: a bug of the store"),
    ],
    ids=["forbidden", "broken", "bug"],
)
def test_a_store_that_fails_is_reported_with_what_to_do(manager, stored, failure, advice):
    stored.failure = failure

    manager.append_message(ANSWER)

    assert advice in manager.notices[0]


def test_another_kind_of_failure_is_reported_too(manager, stored, full):
    stored.failure = full
    manager.append_message(ANSWER)
    manager.append_message(USER)
    stored.failure = OSError(errno.EIO, "Input/output error")
    manager.append_message(USER)

    assert [re.search(r"errno \d+", notice).group() for notice in manager.notices] == ["errno 28", "errno 5"]


def test_what_waits_is_tried_once_more_at_the_end(manager, stored, full):
    stored.failure = full
    entry = manager.append_message(ANSWER)
    stored.failure = None

    manager.close()

    assert stored.appends == [[entry]]
    assert stored.closed


def test_what_could_never_be_stored_is_in_a_file_at_the_end(manager, stored, full, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stored.failure = full
    ids = [manager.append_message(USER), manager.append_message(ANSWER)]

    manager.close()

    (kept,) = tmp_path.glob("pi-session-*.jsonl")
    assert manager.notices[-1].endswith(
        f"ends with entries that could not be written: 2 entries are in '{kept}', which `pi --session` opens."
    )
    assert [json.loads(line)["id"] for line in kept.read_text().splitlines()] == [stored.header.id, *ids]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert stored.closed


def test_what_can_be_kept_nowhere_is_reported_as_lost(manager, stored, full, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    stored.failure = full
    manager.append_message(USER)

    manager.close()

    assert manager.notices[-1].endswith("ends with entries that could not be written: 1 entry is lost.")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt("broken"), BaseException("odd")], ids=repr)
def test_nothing_that_a_store_raises_ends_the_conversation(manager, stored, error):
    stored.failure = error
    entry = manager.append_message(ANSWER)
    assert f"Plugin 'listed' failed to store it: {type(error).__name__}" in manager.notices[0]

    stored.failure = None
    manager.append_message(USER)

    assert stored.appends[-1][0] == entry


def test_a_store_that_has_blocked_pi_is_asked_again_at_the_end_of_the_turn_and_not_before(manager, stored):
    stored.failure = LoopBlocked("blocked the event loop for 10 s")
    waiting = [manager.append_message(ANSWER)]
    stored.failure = None
    waiting.append(manager.append_message(USER))
    assert stored.appends == []

    manager.writer.sync()

    assert stored.appends == [waiting]


def test_the_end_of_a_turn_syncs_to_disk(manager, stored):
    manager.sync()
    manager.append_message(ANSWER)

    manager.sync()

    assert stored.synced == 1


@pytest.mark.parametrize("policy", ["never", "entry"])
def test_the_disk_is_left_alone_where_the_policy_is_another(host_of, store, policy):
    manager = SessionManager.create("/work", host=host_of(store, sessionSync=policy))
    manager.append_message(ANSWER)

    manager.sync()

    assert store.sessions[manager.id].synced == 0
    assert manager._chosen.store.place.sync == policy


def test_what_a_store_notices_later_is_reported(manager, stored):
    reported = []
    manager.on_problem = reported.append
    stored.notices.append("Another process has the session open.")

    manager.append_message(ANSWER)

    assert reported == ["Another process has the session open."]


@pytest.mark.parametrize(
    ("summary", "method"),
    [
        (CompactionSummaryMessage(summary="s", tokens_before=1), "append_compaction"),
        (BranchSummaryMessage(summary="s", from_id="root"), "branch_with_summary"),
    ],
    ids=["compaction", "branch"],
)
def test_summaries_are_no_messages(manager, summary, method):
    with pytest.raises(PiError, match=method):
        manager.append_message(summary)


@pytest.mark.parametrize("chosen", ["a", "a.b-c_d", "0", "Z9"])
def test_a_session_may_get_an_id(chosen, host):
    assert SessionManager.create("/work", id=chosen, host=host).id == chosen


@pytest.mark.parametrize("chosen", ["", "-a", "a/", "../a", "a.", "ä", "a\n"])
def test_an_id_that_could_be_no_file_name_is_refused(chosen, host):
    with pytest.raises(UserError, match="cannot be used"):
        SessionManager.create("/work", id=chosen, host=host)


def test_ids_of_sessions_sort_by_time_and_are_uuids_of_version_7():
    ids = [SessionManager.in_memory("/work").id for _ in range(3)]

    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in ids
    )
    assert [each[:13] for each in ids] == sorted(each[:13] for each in ids)


def test_ids_of_entries_are_eight_hex_digits():
    assert re.fullmatch("[0-9a-f]{8}", SessionManager.in_memory("/work").append_message(USER))


def test_what_a_store_noticed_before_it_was_opened_is_reported_once(manager, host, store):
    manager.append_message(ANSWER)
    reported = []
    opened = store.sessions[manager.id]
    opened.notices.extend(["The last line was cut.", "Another process has it open."])

    writer = SessionWriter(opened, reported.append, begun=True)

    assert reported == ["The last line was cut.", "Another process has it open."]
    writer.add(manager.entries()[-1])
    assert reported == ["The last line was cut.", "Another process has it open."]


def test_a_session_with_an_answer_is_forced_to_the_disk_after_what_waited(manager, stored, full):
    manager.append_message(ANSWER)
    stored.failure = full
    manager.append_message(USER)
    manager.sync()
    assert stored.synced == 0

    stored.failure = None
    manager.sync()

    assert stored.synced == 1


def test_a_store_that_fails_when_it_is_closed_is_reported(manager, stored, full, monkeypatch):
    def close():
        raise full

    manager.append_message(ANSWER)
    monkeypatch.setattr(stored, "close", close, raising=False)

    manager.close()

    assert re.search("could not be closed: .*errno 28", manager.notices[-1])
