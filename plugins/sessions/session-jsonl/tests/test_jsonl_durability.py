"""Acknowledged entries survive crashes, full disks and concurrent writers."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

START = """
import os, resource, signal, sys, time
from pathlib import Path
from pi_hookspecs.entries import SessionHeader
from pi_hookspecs.rare_entries import CustomEntry
from pi_hookspecs.session_store import SessionPlace
from pi_session_jsonl.store import JsonlSessionStore
folder, path, *rest = sys.argv[1:]
store = JsonlSessionStore(SessionPlace(agent_dir=Path(folder)))
header = SessionHeader(id="h", timestamp="2026-02-03T04:05:06.789Z", cwd="/c")
def entry(name, size=300):
    return CustomEntry(id=name, parent_id=None, timestamp="t", custom_type="x", data="x" * size)
"""

HOLDER = (
    START
    + """
session = store.create(header, path)
session.append([entry("first")])
print("ready", flush=True)
time.sleep(60)
"""
)

KILLED = (
    START
    + """
import random
choose = random.Random(3)

def write_until_killed(pipe):
    session = store.open(path)
    for number in range(10**9):
        name = f"{os.getpid()}-{number}"
        session.append([entry(name, 20_000 if number % 50 == 0 else 300)])
        os.write(pipe, f"{name}\\n".encode())

def start():
    reader, pipe = os.pipe()
    pid = os.fork()
    if not pid:
        write_until_killed(pipe)
    os.close(pipe)
    return pid, os.fdopen(reader, "rb", buffering=0)

store.create(header, path).append([entry("first")])
for _ in range(10):
    writers = [start() for _ in range(5)]
    output = [os.read(pipe.fileno(), 4096) for _, pipe in writers]
    for pid, _ in choose.sample(writers, 5):
        time.sleep(choose.random() * 0.01)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    for line, (_, pipe) in zip(output, writers):
        print((line + pipe.read()).decode().rpartition("\\n")[0])
"""
)


@pytest.mark.slow
def test_a_cut_at_any_byte_loses_only_what_was_not_acknowledged(store, header, user_entry, answered, tmp_path):
    session = store.create(header())
    ends = []
    for number in range(30):
        batch = [user_entry(f"u{number}", None, "é\u2028" * number), answered(f"a{number}")]
        session.append(batch if number % 3 else batch[:1])
        ends.append((session.file.stat().st_size, [f"u{number}", f"a{number}"][: len(batch) if number % 3 else 1]))
    data = session.file.read_bytes()
    choose = random.Random(7)  # noqa: S311 - to cut, not to hide
    start = data.index(b"\n") + 1
    for cut in (choose.randrange(start, len(data) + 1) for _ in range(1000)):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(data[:cut])
        again = store.open(str(path))
        again.append([user_entry("next")])
        again.close()
        acknowledged = [entry_id for end, ids in ends if end <= cut for entry_id in ids]
        opened = store.open(str(path))
        found = [entry.id for entry in opened.entries]
        opened.close()

        assert found[: len(acknowledged)] == acknowledged
        assert found[-1] == "next"
        assert len(found) <= len(acknowledged) + 3


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_it_acknowledged(store, tmp_path):
    path = tmp_path / "s.jsonl"
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(path)]
    acknowledged = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    stored = store.open(str(path)).entries.index.ids

    assert len(acknowledged) >= 50
    assert len({name.partition("-")[0] for name in acknowledged}) == 50
    assert set(acknowledged) <= set(stored)
    assert len(stored) == len(set(stored))


FULL = (
    START
    + """
limit = int(rest[0])
session = store.create(header, path)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
waiting, failures = [], 0
for number in range(40):
    waiting.append(entry(str(number)))
    try:
        session.append(waiting)
        waiting = []
    except OSError as error:
        failures += 1
        assert error.filename == path, error
        if Path(path).exists() and failures > 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if failures == 2 and Path(path).exists():
        print([each.id for each in store.open(path).entries])
print(failures)
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [700, 1000, 1500, 5000, 5001])
def test_a_full_disk_in_mid_append_leaves_a_file_that_loads_and_goes_on(limit, store, tmp_path):
    path = tmp_path / "s.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), str(path), str(limit)], check=True, capture_output=True, text=True
    )
    ids, failures = done.stdout.splitlines()

    assert int(failures) >= 4
    assert ids == str([str(number) for number in range(len(ids.split(",")))])
    assert store.open(str(path)).entries.index.ids == [str(number) for number in range(40)]


@pytest.mark.slow
def test_a_disk_that_is_full_from_the_start_leaves_no_file(store, tmp_path):
    path = tmp_path / "s.jsonl"
    program = FULL.replace("range(40)", "range(3)")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(path), "40"], check=True, capture_output=True, text=True
    )

    assert done.stdout.splitlines() == ["3"]
    assert not path.exists()


def test_a_batch_that_was_stored_in_part_is_not_stored_twice(store, header, user_entry, monkeypatch):
    session = store.create(header())
    session.append([user_entry("a")])
    write, room = os.write, [400]

    def full(fd, data):
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        size = write(fd, data[: room[0]])
        room[0] -= size
        return size

    batch = [user_entry("b", "a"), user_entry("c", "b", "x" * 300), user_entry("d", "c")]
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left") as failure:
        session.append(batch)
    monkeypatch.setattr(os, "write", write)
    session.append([*batch, user_entry("e", "d")])

    assert failure.value.filename == session.reference
    assert [line[:25] for line in session.file.read_bytes().split(b"\n")[2:4]] == [
        b'{"type":"message","id":"b', b'{"type":"message","id":"c'
    ]  # fmt: skip
    assert store.open(session.reference).entries.index.ids == ["a", "b", "c", "d", "e"]


def test_entries_that_could_not_be_forced_to_the_disk_are_not_written_twice(store, header, user_entry, monkeypatch):
    from attrs import evolve

    store.place = evolve(store.place, sync="entry")
    session = store.create(header())
    session.append([user_entry("a")])
    sync = os.fsync

    def fail(fd):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        session.append([user_entry("b", "a")])
    monkeypatch.setattr(os, "fsync", sync)
    session.append([user_entry("b", "a"), user_entry("c", "b")])

    assert store.open(session.reference).entries.index.ids == ["a", "b", "c"]


def test_two_writers_of_one_file_keep_their_lines_whole(store, header, user_entry):
    one = store.create(header())
    one.append([user_entry("a")])
    two = store.open(one.reference)
    for number in range(50):
        one.append([user_entry(f"one{number}", "a")])
        two.append([user_entry(f"two{number}", "a")])

    assert store.open(one.reference).entries.index.ids[1:] == [f"{who}{n}" for n in range(50) for who in ("one", "two")]


def test_what_another_program_left_torn_does_not_tear_ours(store, header, user_entry):
    session = store.create(header())
    session.append([user_entry("a")])
    with session.file.open("ab") as other:
        other.write(b'{"type":"message","id":"torn')
    session.append([user_entry("b", "a")])

    assert store.open(session.reference).entries.index.ids == ["a", "b"]


def test_a_second_process_on_a_session_gets_a_notice_about_the_first(store, header, user_entry, tmp_path):
    path = tmp_path / "s.jsonl"
    command = [sys.executable, "-c", HOLDER, str(tmp_path), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        second = store.open(str(path))
        second.append([user_entry("mine")])
        first.kill()
    third = store.open(str(path))

    (notice,) = second.notices
    assert notice.startswith(f"Process {first.pid} already has the session {str(path)!r} open.")
    assert notice.endswith("fork the session to keep them separate.")
    assert third.notices == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["s.jsonl"]


def test_a_session_that_was_closed_is_free(store, header, user_entry):
    session = store.create(header())
    session.append([user_entry("a")])
    session.close()
    session.close()

    assert store.open(session.reference).notices == []


def test_a_file_that_took_the_place_of_ours_is_appended_to(store, header, user_entry):
    session = store.create(header())
    session.append([user_entry("a")])
    copy = session.file.with_suffix(".copy")
    shutil.copyfile(session.file, copy)
    copy.replace(session.file)
    session.append([user_entry("b", "a")])

    assert store.open(session.reference).entries.index.ids == ["a", "b"]


def test_a_file_that_was_removed_is_reported(store, header, user_entry):
    session = store.create(header())
    session.append([user_entry("a")])
    session.file.unlink()

    with pytest.raises(FileNotFoundError) as failure:
        session.append([user_entry("b", "a")])
    assert failure.value.filename == session.reference
    assert not Path(session.reference).exists()
