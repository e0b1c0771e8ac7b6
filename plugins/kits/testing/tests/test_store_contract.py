"""The contract suite of session stores: each way in which a store can be wrong fails a row of its own."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow  # each runs a suite in a suite

COMMON = """
from pi_core.session.memory import MemorySession, MemoryStore
from pi_testing import StoreContract
from pi_testing.store_contract import STORE_FEATURES
"""
KIND = """
{broken}

class {name}(StoreContract):
    supports = {supports}
    store_class = {store}

    def make_store(self, place):
        return self.store_class(place)
"""

BROKEN = {
    "list_in_the_wrong_order": (
        """
class Broken(MemoryStore):
    def list(self, cwd=None, progress=None):
        return super().list(cwd, progress)[::-1]
""",
        {
            "test_sessions_are_listed_with_the_newest_message_first",
            "test_the_latest_is_the_session_that_was_stored_to_last",
        },
    ),
    "every_folder_listed": (
        """
class Broken(MemoryStore):
    def list(self, cwd=None, progress=None):
        return super().list(None, progress)
""",
        {
            "test_sessions_are_listed_with_the_newest_message_first",
            "test_the_latest_is_the_session_that_was_stored_to_last",
        },
    ),
    "no_error_for_what_is_not_there": (
        """
class Broken(MemoryStore):
    def open(self, reference):
        return MemorySession(None) if reference not in self._sessions else super().open(reference)
""",
        {"test_what_is_not_there_is_named"},
    ),
    "fork_of_everything": (
        """
class Broken(MemoryStore):
    def fork(self, source, header, numbers):
        return super().fork(source, header, range(len(source.entries)))
""",
        {
            "test_a_fork_has_the_entries_asked_for_in_the_order_asked_for",
            "test_a_fork_and_its_source_go_their_own_ways",
        },
    ),
    "fork_in_the_order_of_the_source": (
        """
class Broken(MemoryStore):
    def fork(self, source, header, numbers):
        return super().fork(source, header, sorted(numbers))
""",
        {"test_a_fork_has_the_entries_asked_for_in_the_order_asked_for"},
    ),
    "the_first_name_stays": (
        """
from attrs import evolve

class Broken(MemoryStore):
    def list(self, cwd=None, progress=None):
        found = super().list(cwd, progress)
        return [evolve(each, name=self._first_name(each) or each.name) for each in found]

    def _first_name(self, info):
        entries = self._sessions[info.id].entries
        return next((each.name for each in entries if each.type == "session_info"), None)
""",
        {"test_the_name_of_a_session_is_the_last_one_that_it_was_given"},
    ),
    "fork_shares_entries": (
        """
class Broken(MemoryStore):
    def fork(self, source, header, numbers):
        session = self._sessions[header.id] = MemorySession(header, source.entries)
        return session
""",
        {"test_a_fork_and_its_source_go_their_own_ways"},
    ),
    "last_append_wins": (
        """
class Session(MemorySession):
    def append(self, entries):
        self.entries[:] = entries

class Broken(MemoryStore):
    def create(self, header, reference=None):
        session = self._sessions[header.id] = Session(header)
        return session
""",
        {"test_entries_come_back_in_their_order", "test_sessions_do_not_mix"},
    ),
}


def kind(name, broken="", store="MemoryStore", supports="STORE_FEATURES - {'durable', 'lazy'}"):
    return KIND.format(name=name, broken=broken, store=store, supports=supports)


def test_each_thing_that_is_wrong_with_a_store_fails_its_rows(failing_rows):
    failed, _ = failing_rows(
        COMMON + "".join(kind(f"Test_{name}", broken, "Broken") for name, (broken, _) in BROKEN.items())
    )

    assert [name for name, (_, rows) in BROKEN.items() if not rows <= failed[f"Test_{name}"]] == []


def test_a_store_that_claims_too_much_fails_and_one_that_does_not_passes(failing_rows):
    failed, result = failing_rows(COMMON + kind("TestClaims", supports="STORE_FEATURES") + kind("TestHonest"))

    assert failed == {
        "TestClaims": {
            "test_what_was_appended_survives_without_a_close",
            "test_nothing_is_stored_before_the_first_entry",
            "test_a_conversation_goes_on_in_another_session",
        }
    }
    assert result.parseoutcomes()["skipped"] == 3


def test_unknown_features_and_a_missing_method_are_reported(failing_rows):
    _, result = failing_rows(
        COMMON + kind("TestUnknown", supports="{'telepathy'}") + "\nclass TestMissing(StoreContract):\n    pass\n"
    )

    result.stdout.fnmatch_lines_random(
        ["*supports has ?'telepathy'?, which no test knows*", "*TestMissing needs a method make_store(place)*"]
    )
