"""The store in SQLite: what stays after kills, with two processes on a session, and with unusable databases."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from attrs import evolve

from pi_core import PluginHost, SessionManager, Settings
from pi_hookspecs import DeletingStore, SessionPlace, UserError
from pi_session_sqlite.store import SqliteSessionStore
from pi_testing import text
from pi_testing.store_contract import entry, header

HERE = header().cwd


@pytest.fixture
def place(tmp_path):
    return SessionPlace(agent_dir=tmp_path / "agent")


@pytest.fixture
def store(place):
    return SqliteSessionStore(place)


@pytest.fixture
def database(place):
    return place.agent_dir / "sessions.sqlite"


def change(database, statement, *values):
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def begun(store, name="one", count=2):
    session = store.create(header(name))
    session.append([entry(number) for number in range(count)])
    return session


def ids(session):
    return list(session.entries.index.ids)


# Processes

APPEND = """
import sys
from pathlib import Path
from pi_hookspecs import SessionPlace
from pi_session_sqlite.store import SqliteSessionStore
from pi_testing import text
from pi_testing.store_contract import entry
session = SqliteSessionStore(SessionPlace(agent_dir=Path(sys.argv[1]))).open("one")
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    session.append([entry(number)])
    print(entry(number).id, flush=True)
"""


def appending(place, first, last):
    command = [sys.executable, "-c", APPEND, str(place.agent_dir), str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(store, place):
    begun(store).close()
    acknowledged = []
    for run, lines in enumerate((1, 20, 55)):
        process = appending(place, 1000 * (run + 1), 1000 * (run + 2))
        acknowledged += [process.stdout.readline().strip() for _ in range(lines)]
        process.kill()
        acknowledged += process.communicate()[0].split()
    stored = ids(store.open("one"))

    assert len(stored) == len(set(stored))
    assert set(acknowledged) <= set(stored)


@pytest.mark.slow
def test_several_processes_on_a_session_lose_nothing_and_say_so(store, place):
    begun(store, count=1).close()
    ours = store.open("one")
    both = [appending(place, 100, 140), appending(place, 200, 240)]
    for process in both:
        process.communicate()
    ours.append([entry(1)])
    ours.append([entry(2)])
    stored = ids(store.open("one"))

    assert len(stored) == len(set(stored)) == 83
    assert [notice.partition(".")[0] for notice in ours.notices] == ["Another process has added to the session 'one'"]


def test_what_cannot_be_stored_is_stored_with_the_next(store, database, monkeypatch):
    monkeypatch.setattr("pi_session_sqlite.sqlite._PATIENCE", 0.05)
    session = begun(store)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match="locked"):
            session.append([entry(2)])
        other.execute("ROLLBACK")
    session.append([entry(2), entry(3)])

    assert ids(store.open("one")) == [entry(number).id for number in range(4)]


def test_a_session_that_was_removed_meanwhile_is_not_made_again(store, database):
    session = begun(store)
    change(database, "DELETE FROM sessions")

    with pytest.raises(OSError, match="was removed from it by another process"):
        session.append([entry(2)])


def test_a_reference_that_is_taken_is_not_written_over(store):
    one, two = store.create(header()), store.create(header())
    one.append([entry(0)])

    with pytest.raises(FileExistsError):
        two.append([entry(1)])
    assert ids(store.open("one")) == [entry(0).id]


@pytest.mark.parametrize(("policy", "forced"), [("never", 0), ("turn", 1), ("entry", 0)])
def test_a_turn_is_forced_to_the_disk_once_by_its_policy(place, monkeypatch, policy, forced):
    logs = []
    monkeypatch.setattr(os, "fsync", logs.append)
    store = SqliteSessionStore(SessionPlace(agent_dir=place.agent_dir, sync=policy))
    session = begun(store)
    session.sync()
    session.sync()
    level = session._database.execute("PRAGMA synchronous").fetchone()[0]

    assert len(logs) == 2 * forced  # the log and its folder
    assert level == (2 if policy == "entry" else 1)  # FULL: SQLite does so itself at each commit


# Lines

FOREIGN = (
    b'\xef\xbb\xbf{"type":"session","version":3,"id":"one","timestamp":"2026-01-01T00:00:00Z","cwd":"/c","mine":[1]}\r\n'
    b'{"type":"message","id":"a","parentId":null,"timestamp":"t","mine":1,"message":{"role":"user","content":"x"}}\r\n'
    b"not json \xff\n"
    b'{"type":"strange","id":"b","parentId":"a","timestamp":"t", "n": 1.0}\n'
    b'{"type":"mess'
)


def test_lines_of_others_are_kept_and_what_comes_next_begins_a_line(store, database):
    begun(store, "other").close()
    change(database, "INSERT INTO sessions (name, cwd, child, modified, size) VALUES ('one', '/c', 0, 1, 0)")
    (number,) = change(database, "SELECT number FROM sessions WHERE name = 'one'")[0]
    change(database, "INSERT INTO lines (session, line) VALUES (?, ?)", number, FOREIGN)
    change(database, "UPDATE sessions SET size = ? WHERE number = ?", len(FOREIGN), number)
    session = store.open("one")
    session.append([entry(2), entry(3)])
    lines = change(database, "SELECT line FROM lines WHERE session = ? ORDER BY number", number)

    assert b"".join(line for (line,) in lines).startswith(FOREIGN + b'\n{"type":"message"')
    assert ids(store.open("one")) == ["a", "b", entry(2).id, entry(3).id]
    assert [*store.open("one").raw_lines([1])] == [FOREIGN.split(b"\n")[3]]
    assert [notice.split(" of ")[0] for notice in session.notices] == ["Line 3", "The last line"]


def test_a_session_of_an_old_version_is_read_and_stays_as_it_is(store, database):
    old = b'{"type":"session","id":"one","cwd":"/c"}\n{"type":"message","message":{"role":"user","content":"x"}}\n'
    begun(store).close()
    change(database, "UPDATE lines SET line = ? WHERE number = 1", old)
    change(database, "DELETE FROM lines WHERE number > 1")
    session = store.open("one")
    first = ids(session)
    session.append([entry(1)])

    assert ids(store.open("one")) == [*first, entry(1).id]
    assert change(database, "SELECT line FROM lines ORDER BY number")[0] == (old,)


# Databases that cannot be used


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version=99", r"stored by a newer pi \(version 99, known: 1\). Update pi to use them"),
        ("PRAGMA application_id=7", "is a database of another program. Move it to another place"),
    ],
)
def test_a_database_of_others_is_named_and_left_alone(store, place, database, statement, message):
    begun(store).close()
    change(database, statement)
    content = database.read_bytes()

    for use in (lambda: SqliteSessionStore(place), lambda: store.open("one"), store.list, lambda: store.latest(HERE)):
        with pytest.raises(UserError, match=message):
            use()
    assert database.read_bytes() == content


def test_a_damaged_database_is_named_and_left_as_it_is(store, place, database):
    begun(store, count=200).close()
    whole = database.read_bytes()
    for damaged in (b"no database" * 1000, whole[:4096] + b"\xff" * (len(whole) - 4096)):
        database.write_bytes(damaged)
        with pytest.raises(UserError, match=r"sessions\.sqlite' is damaged \(.*\), and was left as it is"):
            SqliteSessionStore(place).open("one")
        with pytest.raises(OSError, match="damaged"):
            store.create(header("two")).append([entry(0)])
        assert database.read_bytes() == damaged


def test_with_a_database_that_cannot_be_used_pi_goes_on_in_memory(store, database, tmp_path):
    begun(store).close()
    change(database, "PRAGMA user_version=99")
    import pi_session_sqlite

    host = PluginHost(Settings.in_memory({"sessionStore": "sqlite"}, agent_dir=tmp_path / "agent"), installed=False)
    host.add(pi_session_sqlite, "session-sqlite")
    manager = SessionManager.create(tmp_path, host=host)

    assert not manager.is_persisted
    assert "Update pi to use them. Select another one with the setting sessionStore" in manager.notices[0]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_its_user_can_read_the_database(store, place, database):
    session = begun(store)

    assert {file.stat().st_mode & 0o077 for file in (place.agent_dir, *place.agent_dir.iterdir())} == {0}
    session.close()


# Deleting


def test_a_deleted_session_leaves_nothing_in_the_database(store, place, database):
    session = store.create(header())
    session.append([entry(0, "swordfish-9931")])
    begun(store, "two").close()
    assert b"swordfish" in database.with_name("sessions.sqlite-wal").read_bytes()
    store.delete("one")

    assert isinstance(store, DeletingStore)
    assert [info.id for info in store.list()] == ["two"]
    assert not [file for file in place.agent_dir.iterdir() if b"swordfish" in file.read_bytes()]
    with pytest.raises(UserError, match=r"There is no session 'one' in .* to delete"):
        store.delete("one")
    with pytest.raises(OSError, match="was removed from it by another process"):
        session.append([entry(1)])


@pytest.mark.pi(entry_points=["redact", "session-sqlite"], stored=True, settings={"sessionStore": "sqlite"})
async def test_a_secret_does_not_reach_the_database(pi_session, pi_agent_dir, script):
    key = "sk-ant-api03-" + "Abc123xyz" * 10 + "AA"
    script.turn(text("I will not repeat it."))
    await pi_session.prompt(f"My key is {key}")
    files = [file for file in pi_agent_dir.iterdir() if file.name.startswith("sessions.sqlite")]

    assert files
    assert not [file for file in files if key.encode() in file.read_bytes()]


# Lists


def test_lists_follow_what_is_appended_and_say_who_is_meant(store, place):
    session = begun(store)
    assert store.list(HERE)[0].message_count == 2
    assert SqliteSessionStore(place).list(HERE)[0].message_count == 2  # from the summary that the first list stored
    session.append([entry(5)])

    assert [info.message_count for info in store.list(HERE + "/../" + HERE.rsplit("/", 1)[1])] == [3]


def test_child_sessions_are_listed_but_never_the_latest(store):
    begun(store).close()
    store.create(evolve(header("two", parent="one"), extra={"parentCall": "call"})).append([entry(9)])

    assert {info.id for info in store.list(HERE)} == {"one", "two"}
    assert store.latest(HERE) == "one"


def test_a_folder_of_the_users_has_a_database_of_its_own(tmp_path):
    store = SqliteSessionStore(SessionPlace(agent_dir=tmp_path / "agent", session_dir=tmp_path / "mine"))
    begun(store).close()

    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["sessions.sqlite"]
