"""``pi sessions convert``: byte for byte, in both directions, and nothing is lost on the way."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import click
import pytest

import pi_session_jsonl
import pi_session_sqlite
from pi_core import PluginHost, Settings
from pi_hookspecs import UserError
from pi_session_jsonl.command import run_sessions

HEADER = {
    "type": "session",
    "version": 3,
    "id": "0199",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "cwd": "/home/me/project",
}


@pytest.fixture
def host(agent_dir):
    host = PluginHost(Settings.in_memory(agent_dir=agent_dir), installed=False)
    host.add(pi_session_jsonl, "session-jsonl")
    host.add(pi_session_sqlite, "session-sqlite")
    return host


@pytest.fixture
def convert(host, capsys):
    """Runs ``pi sessions convert --to TARGET ...``; returns the exit code, and what it printed."""

    def run(target, *arguments):
        return run_sessions(["convert", "--to", target, *arguments], host), *capsys.readouterr()

    return run


@pytest.fixture
def sessions(agent_dir):
    return agent_dir / "sessions"


@pytest.fixture
def written(sessions):
    """Writes a session file: ``written("a.jsonl", b"...")``."""

    def make(name, data, folder="--home-me-project--"):
        path = sessions / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    return make


def lines(*rows, end=b"\n", **more):
    return b"\n".join(json.dumps(row).encode() for row in ({**HEADER, **more}, *rows)) + end


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Byte for byte

ENDS = [b"\n", b"\r\n", b"\n\n", b" \n", b"\r", b"\0\n"]


def line_of(chance):
    """Return the bytes of a line: of pi, of other programs, or damaged."""
    text = "".join(
        chr(chance.choice([*range(1, 0xD800, 997), 0x1F98A, 65, 10, 0])) for _ in range(chance.randint(0, 20))
    )
    number = chance.randint(0, 99)
    entry = {"type": "message", "id": f"{number:08x}", "parentId": None, "message": {"role": "user", "content": text}}
    plain = json.dumps({**entry, chance.choice(["mine", "n"]): 1.0}, ensure_ascii=chance.random() < 0.5).encode()
    return chance.choice(
        [
            plain,
            plain.replace(b'", "', b'" ,\t"'),
            b'{"type":"custom","id":"x","parentId":7,"n":1e999}',
            b'{"type":"label","targetId":"\\ud800"}',
            plain[: chance.randint(0, len(plain))],
            chance.randbytes(chance.randint(0, 60)),
            b"\xff\xfe" + text.encode("utf-16", "surrogatepass"),
            b"\0" * chance.randint(0, 9),
            json.dumps({**HEADER, "id": "second"}).encode(),
            b"x" * chance.choice([10, 100_000]),
        ]
    )


def session_of(chance):
    header = {**HEADER, "id": chance.choice(["0199", "0200", "", "../up", "a b\n", "\ud800", f"{chance.random()}"])}
    header |= chance.choice([{}, {"version": 1}, {"version": 99}, {"cwd": 3}, {"mine": [None]}, {"parentCall": "c"}])
    first = chance.choice([b"", b"\xef\xbb\xbf", b"\n", b"junk\n"]) + json.dumps(header).encode()
    parts = [line_of(chance) + chance.choice(ENDS) for _ in range(chance.randint(0, 12))]
    return first + chance.choice(ENDS[:4]) + b"".join(parts) + chance.choice([b"", b"\n", b"\r\n"])


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_sessions_with_any_content_come_back_identical(convert, written, sessions, agent_dir, count):
    chance = random.Random(24)  # noqa: S311 - the same sessions in each run
    for number in range(count):
        written(f"{number}.jsonl", session_of(chance), folder=f"--{number % 7}--")
    before = contents(sessions)
    code, shown, said = convert("sqlite", "--remove")
    removed = contents(sessions)
    back = convert("jsonl", "--remove")

    assert (code, said) == (0, "")
    assert shown.endswith(f"{count} converted, {count} removed.\n")
    assert removed == {}
    assert back[0] == 0
    assert contents(sessions) == before
    with closing(sqlite3.connect(agent_dir / "sessions.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM lines").fetchone() == (0,)


def test_each_session_can_be_listed_and_opened_in_the_store(convert, written, agent_dir):
    from pi_hookspecs import SessionPlace
    from pi_session_sqlite.store import SqliteSessionStore

    chance = random.Random(7)  # noqa: S311 - as above
    for number in range(30):
        written(f"{number}.jsonl", session_of(chance))
    convert("sqlite")
    store = SqliteSessionStore(SessionPlace(agent_dir=agent_dir))
    listed = store.list()

    assert len({info.path for info in listed}) == len(listed) == 30
    for info in listed:
        assert list(store.open(info.path).entries) is not None


# What is there already


def test_a_second_run_copies_nothing_and_what_has_grown_is_continued(convert, written):
    path = written("a.jsonl", lines({"type": "label", "id": "a"}))
    assert convert("sqlite")[1] == f"{path} -> 0199\n1 converted.\n"
    assert convert("sqlite")[1] == "1 already there.\n"
    with path.open("ab") as file:
        file.write(b'{"type":"label","id":"b"}')
    assert convert("sqlite")[1] == f"{path} -> 0199\n1 continued.\n"
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    assert convert("jsonl")[1] == f"0199 -> {path}\n1 continued.\n"
    assert path.read_bytes() == whole


def test_two_versions_that_differ_both_stay_and_are_named(convert, written):
    path = written("a.jsonl", lines({"type": "label", "id": "a"}))
    convert("sqlite")
    other = lines({"type": "label", "id": "b"})
    path.write_bytes(other)

    assert convert("sqlite", "--remove") == (
        1,
        "1 left, 0 removed.\n",
        f"{path}: left, the database has another version of it, '0199'; both stay\n",
    )
    assert convert("jsonl", "--remove") == (
        1,
        "1 left, 0 removed.\n",
        f"0199: left, {str(path)!r} has another version of it; both stay\n",
    )
    assert path.read_bytes() == other


def test_sessions_of_one_id_are_kept_apart(convert, written, sessions):
    written("a.jsonl", lines({"type": "label", "id": "a"}))
    written("b.jsonl", lines({"type": "label", "id": "b"}))
    before = contents(sessions)

    assert [line.rpartition(" ")[2] for line in convert("sqlite", "--remove")[1].splitlines()[:2]] == ["0199", "0199~2"]
    convert("jsonl", "0199~2")
    assert [path.name for path in contents(sessions)] == ["b.jsonl"]
    convert("jsonl")
    assert contents(sessions) == before


def test_copies_of_a_session_are_files_of_their_own(convert, written, sessions):
    whole = lines({"type": "label", "id": "a"})
    for name, data in (("a.jsonl", whole), ("b.jsonl", whole), ("c.jsonl", whole[:-10])):
        written(name, data)
    before = contents(sessions)

    assert convert("sqlite", "--remove")[1].splitlines()[-1] == "3 converted, 3 removed."
    assert convert("jsonl", "--remove")[1].splitlines()[-1] == "3 converted, 3 removed."
    assert contents(sessions) == before


def test_copies_from_elsewhere_get_files_of_their_own(convert, sessions, tmp_path):
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_bytes(lines({"type": "label", "id": name}))
        convert("sqlite", str(tmp_path / name))
    assert convert("jsonl", "--remove")[1].splitlines()[-1] == "2 converted, 2 removed."

    stem = "2026-01-01T00-00-00-000Z_0199"
    assert sorted(path.name for path in contents(sessions)) == [f"{stem}.jsonl", f"{stem}~2.jsonl"]


def test_a_fork_that_was_converted_is_listed_under_its_parent(convert, written, agent_dir):
    from pi_hookspecs import SessionPlace
    from pi_session_sqlite.store import SqliteSessionStore

    parent = written("a.jsonl", lines())
    written("b.jsonl", lines(id="0200", parentSession=str(parent)))
    convert("sqlite")
    listed = SqliteSessionStore(SessionPlace(agent_dir=agent_dir)).list()

    assert {info.id: info.parent_session_path for info in listed} == {"0199": None, "0200": "0199"}


def test_a_session_of_the_database_gets_the_file_that_pi_would_give_it(convert, agent_dir, sessions):
    from pi_hookspecs import SessionPlace
    from pi_hookspecs.entries import SessionHeader
    from pi_session_sqlite.store import SqliteSessionStore
    from pi_testing.store_contract import entry

    store = SqliteSessionStore(SessionPlace(agent_dir=agent_dir))
    for session_id in ("0199", "../../up"):
        header = SessionHeader(id=session_id, timestamp="2026-02-03T04:05:06.789Z", cwd="/home/me")
        store.create(header).append([entry(0)])
    convert("jsonl")

    names = sorted(str(path.relative_to(agent_dir)) for path in agent_dir.rglob("*.jsonl"))
    stamp = "sessions/--home-me--/2026-02-03T04-05-06-789Z"
    assert names == [f"{stamp}_-..-up.jsonl", f"{stamp}_0199.jsonl"]
    assert {path.stat().st_mode & 0o077 for path in (sessions, *sessions.rglob("*"))} == {0}


# What stays


def test_files_that_are_no_sessions_stay_and_are_named(convert, written, sessions):
    written("notes.jsonl", b'{"a":1}\n')
    written("empty.jsonl", b"")
    written("a.jsonl", lines())
    code, shown, said = convert("sqlite", "--remove")

    assert (code, shown.splitlines()[-1]) == (1, "1 converted, 2 left, 1 removed.")
    assert [line.partition("left, ")[2] for line in said.splitlines()] == [
        "it is not a session: it is empty",
        "it is not a session: its first line is not a session header",
    ]
    assert sorted(path.name for path in contents(sessions)) == ["empty.jsonl", "notes.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_a_file_that_another_process_uses_is_copied_and_stays(convert, written):
    import fcntl

    path = written("a.jsonl", lines())
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, shown, said = convert("sqlite", "--remove")

    assert (code, shown.splitlines()[-1]) == (1, "1 converted, 0 removed.")
    assert said == f"{path}: not removed, another process has it open\n"
    assert path.exists()


def test_sessions_can_be_named_by_file_and_by_id(convert, written, sessions, tmp_path):
    elsewhere = tmp_path / "talk.jsonl"
    elsewhere.write_bytes(lines(id="talk"))
    written("a.jsonl", lines())
    written("b.jsonl", lines(id="0200"))

    assert convert("sqlite", str(elsewhere), "0200")[1].splitlines()[-1] == "2 converted."
    assert convert("jsonl", "tal", "--remove")[1].splitlines()[-1] == "1 converted, 1 removed."
    assert (sessions / "--home-me-project--" / "2026-01-01T00-00-00-000Z_talk.jsonl").read_bytes() == lines(id="talk")
    with pytest.raises(UserError, match="No session in the database begins with 'nope'"):
        convert("jsonl", "nope")
    with pytest.raises(UserError, match="No session found matching 'nope'"):
        convert("sqlite", "nope")


def test_a_database_that_another_process_writes_is_named(convert, written, agent_dir, monkeypatch):
    monkeypatch.setattr("pi_session_sqlite.sqlite._PATIENCE", 0.05)
    path = written("a.jsonl", lines())
    convert("sqlite")
    with path.open("ab") as file:
        file.write(b'{"type":"label","id":"b"}')
    with closing(sqlite3.connect(agent_dir / "sessions.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match="is in use by another process"):
            convert("sqlite", "--remove")

    assert path.exists()


def test_without_sessions_there_is_nothing_to_do(convert):
    assert convert("sqlite")[:2] == (0, "There are no sessions to convert.\n")
    assert convert("jsonl")[:2] == (0, "There are no sessions to convert.\n")
    with pytest.raises(click.UsageError):
        convert("csv")


CONVERT = """
import sys
from pathlib import Path
import pi_session_jsonl, pi_session_sqlite
from pi_core import PluginHost, Settings
from pi_session_jsonl.command import run_sessions
host = PluginHost(Settings.in_memory(agent_dir=Path(sys.argv[1])), installed=False)
host.add(pi_session_jsonl, "session-jsonl")
host.add(pi_session_sqlite, "session-sqlite")
run_sessions(["convert", "--to", sys.argv[2], "--remove"], host)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_conversion_that_is_killed_loses_nothing(convert, written, sessions, agent_dir):
    for number in range(60):
        written(f"{number}.jsonl", lines(*({"type": "label", "id": f"{each}"} for each in range(50)), id=str(number)))
    before = contents(sessions)
    for target in ("sqlite", "jsonl", "sqlite"):
        command = [sys.executable, "-c", CONVERT, str(agent_dir), target]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(20):
            running.stdout.readline()
        running.send_signal(signal.SIGKILL)
        running.communicate()
    assert convert("jsonl", "--remove")[0] == 0

    assert contents(sessions) == before


def test_what_an_ended_conversion_left_is_removed_unless_it_still_runs(convert, written):
    import fcntl

    kept = [
        written(name, b"x")
        for name in (".a.jsonl.12.new", ".b.jsonl.new", "c.jsonl.12.new", ".d.jsonl.12.new", ".12.new")
    ]
    with kept[0].open("rb") as running:
        fcntl.flock(running, fcntl.LOCK_EX)
        _, _, stderr = convert("sqlite")

    assert stderr == f"{kept[3]}: removed, because an interrupted conversion had not completed it\n"
    assert [path.exists() for path in kept] == [True, True, True, False, True]
