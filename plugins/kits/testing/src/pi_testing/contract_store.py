"""The contract of session stores: what was appended comes back, whole and in order, and can be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from pi_hookspecs import SessionInfoEntry, SessionStore, StoredSession, UserError
from pi_testing.contract_needs import needs
from pi_testing.contract_stored import ALL_SCRIPTS, all_of, answer, entries_of_all_kinds, entry, header

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import SessionPlace
    from pi_testing.scripted import ScriptedProvider

__all__ = ["StoreRows"]

HERE = header().cwd


class StoreRows:
    """Every row; the store under test is the fixture ``store``."""

    pytestmark = pytest.mark.asyncio  # without it nothing runs under pytest-asyncio's strict mode

    def make_store(self, place: SessionPlace) -> SessionStore:
        """See ``StoreContract``."""
        raise NotImplementedError

    async def test_it_has_what_the_protocols_ask_for(self, store: SessionStore) -> None:
        session = store.create(header())

        assert isinstance(store, SessionStore)
        assert isinstance(session, StoredSession)
        assert store.name
        assert isinstance(session.reference, str)
        assert (session.header, all_of(session), list(session.notices)) == (header(), [], [])

    # What comes back

    async def test_entries_come_back_in_their_order(self, store: SessionStore) -> None:
        session = store.create(header())
        session.append([entry(0)])
        session.append([answer(1), entry(2)])
        session.sync()
        session.close()
        opened = store.open(session.reference)

        assert all_of(opened) == [entry(0), answer(1), entry(2)]
        assert opened.reference == session.reference

    async def test_entries_of_every_kind_come_back_as_they_were(self, store: SessionStore) -> None:
        entries = entries_of_all_kinds()
        session = store.create(header())
        session.append(entries)
        session.close()
        opened = all_of(store.open(session.reference))

        assert [each.type for each in opened] == [each.type for each in entries]
        for one, other in zip(opened, entries, strict=True):
            assert one == other

    async def test_the_header_comes_back_as_it_was(self, store: SessionStore) -> None:
        given = evolve(header(cwd="/home/me/gr\u00fcn"), parent_session="/elsewhere/parent", extra={"mine": {"a": [1]}})
        session = store.create(given)
        session.append([entry(0), answer(1)])

        assert store.open(session.reference).header == given

    async def test_a_long_entry_comes_back(self, store: SessionStore) -> None:
        text = ALL_SCRIPTS * 20_000
        session = store.create(header())
        session.append([entry(0, text), answer(1)])

        assert all_of(store.open(session.reference)) == [entry(0, text), answer(1)]

    async def test_an_opened_session_goes_on_where_it_ended(self, store: SessionStore) -> None:
        session = store.create(header())
        session.append([entry(0), answer(1)])
        session.close()
        opened = store.open(session.reference)
        opened.append([entry(2)])
        opened.append([answer(3)])
        opened.close()

        assert all_of(store.open(session.reference)) == [entry(0), answer(1), entry(2), answer(3)]

    async def test_sessions_do_not_mix(self, store: SessionStore) -> None:
        one, two = store.create(header("one")), store.create(header("two"))
        for number in range(4):
            one.append([entry(number, "one")])
            two.append([entry(number, "two")])

        assert one.reference != two.reference
        assert all_of(store.open(one.reference)) == [entry(number, "one") for number in range(4)]
        assert all_of(store.open(two.reference)) == [entry(number, "two") for number in range(4)]

    @needs("durable")
    async def test_what_was_appended_survives_without_a_close(self, store: SessionStore, place: SessionPlace) -> None:
        session = store.create(header())
        session.append([entry(0), answer(1)])
        elsewhere = self.make_store(place)

        assert all_of(elsewhere.open(session.reference)) == [entry(0), answer(1)]
        assert [each.id for each in elsewhere.list(HERE)] == ["one"]
        assert elsewhere.latest(HERE) == session.reference

    @needs("lazy")
    async def test_nothing_is_stored_before_the_first_entry(self, store: SessionStore) -> None:
        session = store.create(header())

        assert (list(store.list()), store.latest(HERE)) == ([], None)
        with pytest.raises(UserError):
            store.open(session.reference)

    async def test_what_is_not_there_is_named(self, store: SessionStore, tmp_path: Path) -> None:
        for reference in ("no-such-session", str(tmp_path / "no-such-session")):
            with pytest.raises(UserError, match="no-such-session"):
                store.open(reference)

    # Finding

    async def test_sessions_are_listed_with_the_newest_message_first(self, store: SessionStore) -> None:
        for number, name in ((10, "middle"), (0, "oldest"), (20, "newest")):
            store.create(header(name)).append([entry(number), answer(number + 1)])
        store.create(header("other", cwd="/elsewhere")).append([entry(5), answer(6)])

        assert [each.id for each in store.list(HERE)] == ["newest", "middle", "oldest"]
        assert [each.id for each in store.list("/elsewhere")] == ["other"]
        assert [each.id for each in store.list()] == ["newest", "middle", "other", "oldest"]
        assert list(store.list("/nowhere")) == []

    async def test_what_a_list_returns_can_be_opened_and_searched(self, store: SessionStore) -> None:
        name = SessionInfoEntry(id="n", parent_id=None, timestamp=header().timestamp, name="My session")
        session = store.create(header(parent="/parent"))
        session.append([entry(0, "What is here?"), answer(1, "Two files."), entry(2, "And there?"), name])
        (info,) = store.list(HERE)

        assert (info.id, info.cwd, info.name) == ("one", HERE, "My session")
        assert (info.message_count, info.first_message) == (3, "What is here?")
        assert info.parent_session_path == "/parent"
        assert info.all_messages_text == "What is here? Two files. And there?"
        assert (info.modified - info.created).total_seconds() == 120  # noqa: PLR2004 - entry makes one a minute
        assert store.open(info.path).header.id == "one"

    async def test_the_name_of_a_session_is_the_last_one_that_it_was_given(self, store: SessionStore) -> None:
        names = [
            SessionInfoEntry(id=name, parent_id=None, timestamp=header().timestamp, name=name)
            for name in ("first", "second", "last")
        ]
        session = store.create(header())
        session.append([entry(0), names[0], answer(1)])
        session.append([names[1], entry(2)])
        session.append([names[2]])
        session.close()

        assert [each.name for each in store.list(HERE)] == ["last"]

    async def test_a_list_reports_its_progress(self, store: SessionStore) -> None:
        for name in ("one", "two", "three"):
            store.create(header(name)).append([entry(0), answer(1)])
        progress: list[tuple[int, int]] = []
        store.list(None, lambda done, total: progress.append((done, total)))

        assert progress[-1] == (3, 3)
        assert progress == sorted(progress)

    async def test_the_latest_is_the_session_that_was_stored_to_last(self, store: SessionStore) -> None:
        one, two = store.create(header("one")), store.create(header("two"))
        one.append([entry(0), answer(1)])
        two.append([entry(10), answer(11)])

        assert store.latest(HERE) == two.reference
        assert store.latest("/nowhere") is None

    # Forks

    async def test_a_fork_has_the_entries_asked_for_in_the_order_asked_for(self, store: SessionStore) -> None:
        source = store.create(header())
        source.append([entry(0), answer(1), entry(2)])
        source.close()
        source = store.open(source.reference)
        source.append([answer(3)])
        fork = store.fork(source, header("two", "/elsewhere", source.reference), [3, 0, 1])

        opened = store.open(fork.reference)
        assert all_of(fork) == all_of(opened) == [answer(3), entry(0), answer(1)]
        assert opened.header == header("two", "/elsewhere", source.reference)
        assert [each.id for each in store.list("/elsewhere")] == ["two"]

    async def test_a_fork_and_its_source_go_their_own_ways(self, store: SessionStore) -> None:
        source = store.create(header())
        source.append([entry(0), answer(1)])
        fork = store.fork(source, header("two"), [0])
        fork.append([answer(2)])
        source.append([entry(3)])

        assert all_of(store.open(fork.reference)) == [entry(0), answer(2)]
        assert all_of(store.open(source.reference)) == [entry(0), answer(1), entry(3)]

    async def test_a_fork_may_come_from_another_store(self, store: SessionStore) -> None:
        from pi_core import MemoryStore

        source = MemoryStore().create(header())
        source.append(entries_of_all_kinds())
        fork = store.fork(source, header("two"), range(len(source.entries)))

        assert all_of(store.open(fork.reference)) == entries_of_all_kinds()

    # In a session of pi

    @needs("durable")
    async def test_a_conversation_goes_on_in_another_session(
        self, store: SessionStore, tmp_path: Path, pi_agent_dir: Path, script: ScriptedProvider
    ) -> None:
        from pi_testing.steps import text
        from pi_testing.store_session import prompted

        script.turn(text("One.")).turn(text("Two."))
        make, kind = self.make_store, type(store)
        for question in ("First?", "Second?"):
            await prompted(question, make=make, kind=kind, cwd=tmp_path, agent_dir=pi_agent_dir, script=script)

        texts = [getattr(message, "text", "") for message in script.requests[1].messages]
        assert texts == ["First?", "One.", "Second?"]
