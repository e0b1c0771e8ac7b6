"""Where a session's file is, what it looks like, and who may read it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

from pi_hookspecs import UserError
from pi_hookspecs.rare_entries import CustomEntry
from pi_hookspecs.session_store import SessionStore, StoredSession
from pi_session_jsonl import place as _place
from pi_session_jsonl import register_session_stores
from pi_session_jsonl.store import JsonlSessionStore
from pi_testing import for_each


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_the_store_is_registered_and_fits_the_contract(store, header):
    assert register_session_stores() == [JsonlSessionStore]
    assert store.name == "jsonl"
    assert isinstance(store, SessionStore)
    assert isinstance(store.create(header()), StoredSession)


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/user/project", "--home-user-project--"),
        ("/", "----"),
        ("/a/b:c\\d", "--a-b-c-d--"),
        ("/a/../b/", "--b--"),
    ],
)
def test_a_folder_is_named_after_the_working_directory(cwd, name):
    assert _place.folder_name(cwd) == name


@for_each("letter", ["x", "é", "海", "\U0001f30a", "\udcff"])
def test_the_folder_of_a_long_path_fits_into_a_name_and_is_its_own(letter, tmp_path):
    paths = [f"/{letter * 40}/{letter * length}" for length in (210, 240, 241, 2000)]
    names = [_place.folder_name(path) for path in paths]

    assert len({*names}) == len(paths)
    assert all(len(os.fsencode(name)) <= 255 for name in names)
    assert all(name.startswith(f"--{letter * 20}") and name.endswith("--") for name in names)
    for name in names:
        (tmp_path / name).mkdir()


def test_a_file_is_named_after_time_and_id(store, header, place):
    session = store.create(header("/home/me/project"))

    folder = place.agent_dir / "sessions" / "--home-me-project--"
    assert session.file == folder / "2026-02-03T04-05-06-789Z_0199.jsonl"
    assert session.reference == str(session.file)


def test_a_chosen_folder_is_used_as_it_is(place, header, tmp_path):
    store = JsonlSessionStore(evolve(place, session_dir=tmp_path / "mine"))

    assert store.create(header()).file.parent == tmp_path / "mine"


def test_nothing_is_stored_before_the_first_append(store, header, place):
    session = store.create(header())
    session.sync()
    session.close()

    assert not place.agent_dir.exists()


def test_the_first_append_writes_header_and_entries_at_once(store, header, user_entry, answered, monkeypatch):
    writes = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: writes.append(bytes(data)) or write(fd, data))
    session = store.create(header(parent_session="/p.jsonl"))
    session.append([user_entry("a"), answered("b", "a")])
    session.append([user_entry("c", "b")])

    assert [data.count(b"\n") for data in writes] == [3, 1]
    assert writes[0].startswith(
        b'{"type":"session","version":3,"id":"0199","timestamp":"2026-02-03T04:05:06.789Z",'
        b'"cwd":"/home/me/project","parentSession":"/p.jsonl"}\n'
    )
    assert session.file.read_bytes() == b"".join(writes)
    assert [line.get("parentId") for line in lines_of(session.file)[1:]] == [None, "a", "b"]


def test_only_the_owner_may_look(store, header, user_entry):
    session = store.create(header())
    session.append([user_entry("a")])

    assert stat.S_IMODE(session.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(session.file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(session.file.parent.parent.stat().st_mode) == 0o700


def test_a_file_that_is_there_is_not_touched(store, header, user_entry):
    first = store.create(header())
    first.append([user_entry("a")])
    before = first.file.read_bytes()

    with pytest.raises(FileExistsError, match="0199"):
        store.create(header()).append([user_entry("b")])
    assert first.file.read_bytes() == before


def test_a_new_session_keeps_the_path_it_was_given(store, header, user_entry, tmp_path):
    session = store.create(header(), str(tmp_path / "deep" / "own.jsonl"))
    session.append([user_entry("a")])

    assert [line["type"] for line in lines_of(tmp_path / "deep" / "own.jsonl")] == ["session", "message"]


def test_an_empty_file_becomes_a_session(store, user_entry, tmp_path):
    path = tmp_path / "empty.jsonl"
    path.touch()
    session = store.open(str(path))
    session.append([user_entry("a")])

    assert [line["type"] for line in lines_of(path)] == ["session", "message"]
    assert session.header.cwd == str(Path.cwd())
    assert len(store.open(str(path)).entries) == 1


def test_what_was_stored_is_there_again(store, header, user_entry, answered):
    session = store.create(header())
    entries = [
        user_entry("a"),
        answered("b", "a"),
        CustomEntry(id="c", parent_id="b", timestamp="t", custom_type="x", data=[1]),
    ]
    session.append(entries[:2])
    session.append(entries[2:])
    session.close()

    again = store.open(session.reference)

    assert again.header == session.header
    assert list(again.entries) == entries
    assert (again.entries.index.ids, again.entries.index.parent_ids) == (["a", "b", "c"], [None, "a", "b"])
    assert again.entries.index.types == ["message", "message", "custom"]
    assert again.notices == []


def test_a_file_that_is_missing_is_named(store, tmp_path):
    with pytest.raises(UserError, match=r"There is no session file '.*none.jsonl'"):
        store.open(str(tmp_path / "none.jsonl"))


def test_a_fork_copies_lines_byte_for_byte(store, header, write, line):
    odd = b'{"parentId":"a", "id":"b",  "type":"from the future","n":1.0,"big":12345678901234567890123,"e":"\\u00e9"}'
    known = b'{"type":"label","id":"c","parentId":"b","timestamp":"t","targetId":"a","label":null,"new":{"z":[ ]}}'
    source = store.open(write(line("a"), odd, known))

    fork = store.fork(source, header("/other", "0200", parent_session=source.reference), [0, 1, 2])

    assert fork.file.read_bytes().split(b"\n")[2:] == [odd, known, b""]
    assert (fork.header.id, fork.header.parent_session) == ("0200", source.reference)
    assert list(fork.entries) == list(source.entries)


def test_in_a_fork_entries_without_ids_keep_those_that_they_were_given(store, header, write):
    source = store.open(write(*[{"type": "custom", "timestamp": "t", "customType": "x"}] * 3))
    ids = source.entries.index.ids

    fork = store.fork(source, header(), [1, 2])

    assert fork.entries.index.ids == ids[1:]
    assert fork.entries.index.parent_ids == ids[:2]


def test_a_fork_takes_what_was_appended_too(store, header, write, line, user_entry):
    source = store.open(write(line("a"), line("b", "a")))
    source.append([user_entry("c", "b"), user_entry("d", "c")])

    fork = store.fork(source, header(session_id="0200"), [0, 2, 3])

    assert fork.entries.index.ids == ["a", "c", "d"]


def test_a_fork_of_a_session_that_is_no_file_is_written_as_usual(store, header, user_entry):
    class InMemory:
        entries = (user_entry("a"), user_entry("b", "a"))

    assert store.fork(InMemory(), header(), [1]).entries.index.ids == ["b"]


def test_a_fork_that_cannot_be_stored_leaves_nothing(store, header, user_entry, place):
    place.agent_dir.mkdir()
    (place.agent_dir / "sessions").touch()
    source = type("InMemory", (), {"entries": (user_entry("a"),)})()

    with pytest.raises(OSError, match="sessions"):
        store.fork(source, header(), [0])


@pytest.mark.parametrize(("sync", "expected"), [("never", 0), ("turn", 2), ("entry", 3)])
def test_entries_are_synced_to_disk_according_to_the_policy(sync, expected, place, header, user_entry, monkeypatch):
    forced = []
    monkeypatch.setattr(os, "fsync", forced.append)
    session = JsonlSessionStore(evolve(place, sync=sync)).create(header())
    session.append([user_entry("a")])
    session.append([user_entry("b", "a")])
    session.sync()
    session.sync()

    assert len(forced) == expected  # with a new file its folder once


def test_a_new_session_imports_little(tmp_path):
    program = """
import sys
from pathlib import Path
import pi_session_jsonl
from pi_hookspecs.entries import SessionHeader
from pi_hookspecs.session_store import SessionPlace
(make,) = pi_session_jsonl.register_session_stores()
make(SessionPlace(agent_dir=Path("/nowhere"))).create(SessionHeader(id="a", timestamp="t", cwd="/c"))
print(sorted({"orjson", "cattrs", "shutil", "pi_session_kit.lines", "pi_session_jsonl.command"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stdout == "[]\n"
