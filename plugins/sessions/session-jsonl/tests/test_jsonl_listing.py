"""Lists of sessions: right, and fast the second time."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from pi_hookspecs import UserError
from pi_hookspecs.rare_entries import SessionInfoEntry
from pi_session_jsonl import listing
from pi_session_jsonl.store import JsonlSessionStore
from pi_session_kit.summary import summarise, text_of_all
from pi_testing import for_each

NOON = 1_770_000_000_000


def instant(milliseconds):
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@pytest.fixture
def stored(store, header, user_entry, answered):
    """Stores a session with one exchange; returns its path."""

    def make(session_id, cwd="/home/me/project", time=NOON, text="hello", **more):
        session = store.create(header(cwd, session_id, **more))
        session.append([user_entry("a", None, text, time), answered("b", "a", "hi there", time + 500)])
        session.close()
        return session.reference

    return make


@pytest.fixture
def reads(monkeypatch):
    """The files that are read whole while a list is made."""
    read: list[str] = []

    def counted(data):
        read.append(data)
        return summarise(data)

    monkeypatch.setattr(listing, "summarise", counted)
    return read


def test_a_list_says_what_a_session_is(store, stored, user_entry):
    path = stored("one", parent_session="/p.jsonl", text="what is it?")
    session = store.open(path)
    session.append([SessionInfoEntry(id="n", parent_id="b", timestamp="t", name="  Named  ")])

    (info,) = store.list("/home/me/project")

    assert (info.path, info.id, info.cwd, info.name) == (path, "one", "/home/me/project", "Named")
    assert info.parent_session_path == "/p.jsonl"
    assert info.created == datetime(2026, 2, 3, 4, 5, 6, 789_000, UTC)
    assert info.modified == instant(NOON + 500)
    assert (info.message_count, info.first_message) == (2, "what is it?")
    assert info.all_messages_text == "what is it? hi there"


def test_the_newest_comes_first(store, stored):
    stored("old", time=NOON)
    stored("new", time=NOON + 9000)
    stored("mid", time=NOON + 5000)

    assert [info.id for info in store.list("/home/me/project")] == ["new", "mid", "old"]


def test_a_list_of_all_goes_through_every_folder(store, stored):
    stored("one", cwd="/a")
    stored("two", cwd="/b", time=NOON + 1)

    assert [info.id for info in store.list()] == ["two", "one"]
    assert [info.id for info in store.list("/a")] == ["one"]
    assert store.list("/nowhere") == []


def test_a_chosen_folder_holds_sessions_of_all_directories(place, tmp_path, header, user_entry):
    store = JsonlSessionStore(evolve(place, session_dir=tmp_path / "mine"))
    for cwd in ("/a", "/b"):
        store.create(header(cwd, cwd[1:])).append([user_entry("x")])

    assert {info.id for info in store.list()} == {"a", "b"}
    assert [info.id for info in store.list("/a/../a")] == ["a"]
    assert store.latest("/b").endswith("_b.jsonl")
    assert store.latest("/c") is None


def test_what_cannot_be_read_is_left_out(store, stored):
    folder = Path(stored("one")).parent
    (folder / "garbage.jsonl").write_bytes(b"garbage\n")
    (folder / "empty.jsonl").touch()
    (folder / "folder.jsonl").mkdir()
    (folder / "dangling.jsonl").symlink_to("nowhere")
    (folder / "note.txt").write_text("x")

    for _ in range(2):
        assert [info.id for info in store.list("/home/me/project")] == ["one"]


def test_progress_is_reported(store, stored):
    for name in "abc":
        stored(name)
    reported = []
    store.list("/home/me/project", lambda done, total: reported.append((done, total)))

    assert reported == [(1, 3), (2, 3), (3, 3)]


def test_a_session_without_messages_says_so(store, write):
    folder = store.place.agent_dir / "sessions" / "--c--"
    folder.mkdir(parents=True)
    Path(write()).rename(folder / "x.jsonl")

    (info,) = store.list("/c")

    assert (info.first_message, info.message_count, info.modified) == ("(no messages)", 0, info.created)


def test_the_second_list_reads_no_file_again(store, stored, reads):
    for name in "abc":
        stored(name)
    first = store.list("/home/me/project")
    assert len(reads) == 3

    assert store.list("/home/me/project") == first
    assert len(reads) == 3


def test_what_changed_is_read_again(store, stored, user_entry, reads):
    paths = [stored(name) for name in "abc"]
    store.list()
    store.open(paths[1]).append([user_entry("z", None, "more", NOON + 7000)])
    Path(paths[2]).unlink()
    listed = store.list()

    assert [(info.id, info.message_count) for info in listed] == [("b", 3), ("a", 2)]
    assert len(reads) == 4


@pytest.mark.parametrize("change", ["size", "time", "inode"])
def test_the_index_is_never_trusted_over_the_file(change, store, stored, tmp_path, reads):
    path = Path(stored("a", text="hello"))
    store.list()
    before = path.stat()
    data = path.read_bytes().replace(b"hello", b"other" if change != "size" else b"other!")
    if change == "inode":
        (tmp_path / "new").write_bytes(data)
        (tmp_path / "new").replace(path)
    else:
        path.write_bytes(data)
    later = 10**9 if change == "time" else 0  # a file system may not distinguish times this close
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + later))

    assert store.list()[0].first_message.startswith("other")


@pytest.mark.parametrize(
    "damage", [b"", b"garbage", b"[]", b'{"layout":[9]}', b'{"layout":null,"folder":1,"files":[]}']
)
def test_a_damaged_index_is_made_anew(damage, store, stored, place):
    stored("a")
    listed = store.list()
    (index,) = (place.agent_dir / "cache").iterdir()
    good = index.read_bytes()
    index.write_bytes(damage)

    assert store.list() == listed
    assert index.read_bytes() == good


def test_an_index_with_nonsense_about_a_file_is_put_right(store, stored, place):
    stored("a")
    listed = store.list()
    (index,) = (place.agent_dir / "cache").iterdir()
    index.write_bytes(index.read_bytes().replace(b'["a","/home', b'[["a","/home').replace(b"null]]", b"null]]]"))

    assert [info.id for info in store.list()] == [info.id for info in listed]


def test_where_no_index_can_be_written_there_is_none(store, stored, place):
    stored("a")
    (place.agent_dir / "cache").touch()

    assert [info.id for info in store.list()] == ["a"]


def test_only_the_owner_may_read_the_index(store, stored, place):
    stored("a")
    store.list()
    (index,) = (place.agent_dir / "cache").iterdir()

    assert index.stat().st_mode & 0o777 == 0o600


def test_a_clock_that_goes_backwards_does_not_make_a_session_older(store, stored, user_entry):
    path = stored("a", time=NOON)
    store.open(path).append([user_entry("c", "b", "later", NOON - 90_000)])

    assert store.list()[0].modified == instant(NOON + 500)


def test_the_latest_is_what_was_written_to_last(store, stored, user_entry):
    paths = [stored(name) for name in "abc"]
    for number, path in enumerate(paths):
        os.utime(path, (number, number))
    os.utime(paths[0], (100, 100))
    Path(paths[0]).with_name("newer.jsonl").touch()

    assert store.latest("/home/me/project") == paths[0]
    assert store.latest("/other") is None


def test_the_latest_is_no_session_that_worked_for_a_call_of_another_one(store, header, user_entry):
    parent = store.create(header(session_id="0001"))
    parent.append([user_entry("a")])
    child = store.create(header(session_id="0002", parent_session=parent.reference, extra={"parentCall": "call_1"}))
    child.append([user_entry("a")])
    os.utime(parent.reference, (1, 1))

    assert store.latest("/home/me/project") == parent.reference


def test_the_latest_may_be_none_that_can_be_opened(store, stored):
    path = Path(stored("a"))
    os.utime(path, (1, 1))
    garbage = path.with_name("newer.jsonl")
    garbage.write_bytes(b"garbage")

    assert store.latest("/home/me/project") == str(garbage)
    with pytest.raises(UserError, match=f"not a valid pi session: {garbage}"):
        store.open(str(garbage))


@pytest.mark.parametrize("before", [b"", b"x" * 5000 + b"\n", b"\n" * 5000], ids=["nothing", "noise", "blank lines"])
def test_the_latest_may_have_a_long_header_or_something_before_it(before, place, tmp_path):
    store = JsonlSessionStore(evolve(place, session_dir=tmp_path))
    header = b'{"type":"session","id":"h","more":"' + b"m" * 100_000 + b'","cwd":"/c"}'
    (tmp_path / "s.jsonl").write_bytes(before + header)

    assert store.latest("/c") == str(tmp_path / "s.jsonl")


def test_a_working_directory_that_is_gone_still_has_its_sessions(store, stored, tmp_path):
    gone = str(tmp_path / "gone")
    path = stored("a", cwd=gone)

    assert store.latest(gone) == path
    assert store.open(path).header.cwd == gone


START = b'{"type":"message","id":"a","parentId":null,"timestamp":"1970-01-01T00:00:09.000Z","message":'
LINES = {
    "usual": START + b'{"role":"user","content":"T","timestamp":9000}}',
    "timestamp is not last": START + b'{"role":"user","timestamp":9000,"content":[{"type":"text","text":"T"}],"x":1}}',
    "details end it": START + b'{"role":"user","timestamp":9000,"content":"T","details":{"a":1,"timestamp":77}}}',
    "another object ends it": START + b'{"role":"user","timestamp":9000,"content":"T"},"x":{"timestamp":77777}}',
    "other order": b'{"message":{"timestamp":9000,"content":"T","role":"user"},"id":"a","type":"message"}',
    "text that looks like it": START
    + b'{"role":"user","content":[{"type":"text","text":"T"},{"type":"image","data":",\\"timestamp\\":1}}"}]}}',
    "carriage return": START + b'{"role":"user","content":"T","timestamp":9000}}\r',
    "time of the entry": START + b'{"role":"user","content":"T"}}',
}


@for_each("name", LINES)
def test_however_a_message_is_written_its_time_and_text_are_found(name):
    data = b'{"type":"session","id":"h"}\n' + LINES[name] + b"\nnot json\n"
    summary = summarise(data)

    assert (summary.message_count, summary.modified, summary.first_message) == (1, 9000, "T")
    assert text_of_all(data) == "T"


def test_only_user_and_assistant_messages_count():
    texts = b'[{"type":"text","text":"1"},{"type":"text","text":"2"}]'
    data = b"\n".join([
        b'{"type":"session","id":"h"}',
        START + b'{"role":"toolResult","content":[{"type":"text","text":"no"}],"timestamp":99}}',
        START + b'{"role":"assistant","content":' + texts + b',"timestamp":5}}',
        START + b'{"role":"user","content":[],"timestamp":6}}',
        START + b'{"role":"user","content":"three","timestamp":7}}',
        b'{"type":"session_info","id":"e","parentId":"d","timestamp":"t","name":"x"}',
        b'{"type":"session_info","id":"f","parentId":"e","timestamp":"t","name":"  "}',
    ])  # fmt: skip
    summary = summarise(data)

    assert (summary.message_count, summary.modified, summary.first_message, summary.name) == (4, 7, "three", None)
    assert text_of_all(data) == "1 2 three"


def test_system_messages_are_not_counted(store, write, line):
    record = {"role": "system", "content": "", "sections": {"cwd": "/c"}, "timestamp": NOON}
    path = Path(write({**line("s"), "message": record}, line("a", "s", "hi")))
    found = summarise(path.read_bytes())

    assert (found.message_count, found.first_message) == (1, "hi")
