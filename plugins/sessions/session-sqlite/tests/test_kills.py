"""The index and the store survive kills at any moment: nothing acknowledged is lost, and the databases are sound."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

KILLS = int(os.environ.get("PI_TEST_SQLITE_KILLS", "250"))

INDEX = """
import json, os, random, signal, sys, time
from contextlib import closing
from pathlib import Path
from pi_hookspecs import SessionPlace
from pi_session_sqlite.places import index_of
from pi_session_sqlite.query import parse_query

agent_dir, kills = Path(sys.argv[1]), int(sys.argv[2])
folder, place = agent_dir / "sessions" / "--w--", SessionPlace(agent_dir=agent_dir)
folder.mkdir(parents=True)
chance = random.Random(24)
expected, written, landed = {}, 0, 0


def write(path, mode):
    global written
    with path.open(mode) as file:
        if mode == "w":
            expected[path] = set()
            file.write(json.dumps({"type": "session", "id": path.stem, "cwd": "/w"}) + "\\n")
        for _ in range(chance.randint(1, 8)):
            written += 1
            expected[path].add(str(written))
            message = {"role": "user", "content": f"word {'filler ' * 40}"}
            file.write(json.dumps({"type": "message", "id": str(written), "message": message}) + "\\n")


def change():
    for _ in range(4):
        path = folder / f"{chance.randint(0, 20)}.jsonl"
        if path not in expected or chance.random() < 0.3:
            write(path, "w")
        elif chance.random() < 0.2:
            path.unlink()
            del expected[path]
        else:
            write(path, "a")


def check():
    with closing(index_of("jsonl", place)) as index:
        assert index.update()
        found = [hit.entry for hit in index.search(parse_query("word"), limit=10**6)]
        wanted = set().union(*expected.values())
        assert len(found) == len(set(found)) == min(len(wanted), 1000), (len(found), len(wanted))
        assert set(found) <= wanted
        index._database.execute("INSERT INTO found (found) VALUES ('integrity-check')")
        assert index._database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


change()
check()
for number in range(kills):
    change()
    child = os.fork()
    if not child:
        with closing(index_of("jsonl", place)) as index:
            index.update()
        os._exit(0)
    time.sleep(chance.uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    landed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    if number % 5 == 0:
        check()
check()
print(landed)
"""


STORE = """
import os, random, signal, sqlite3, sys, time
from contextlib import closing
from pathlib import Path
from pi_hookspecs import SessionPlace
from pi_session_sqlite.store import SqliteSessionStore
from pi_testing.store_contract import entry, header

agent_dir, kills = Path(sys.argv[1]), int(sys.argv[2])
chance, landed = random.Random(24), 0


def store():
    return SqliteSessionStore(SessionPlace(agent_dir=agent_dir, sync=chance.choice(["turn", "never"])))


def append(name, pipe):
    session = store().create(header(name))
    for number in range(0, 1000, 2):
        session.append([entry(number, "x" * chance.randint(0, 3000)), entry(number + 1)])
        os.write(pipe, b"%d\\n" % number)
    os._exit(0)


def check(name, acknowledged):
    found = [info for info in store().list() if info.id == name]
    ids = [*store().open(name).entries.index.ids] if found else []
    assert ids == [entry(number).id for number in range(len(ids))]  # in their order, each once
    assert len(ids) % 2 == 0  # both of an append, or none
    assert len(ids) >= acknowledged
    with closing(sqlite3.connect(agent_dir / "sessions.sqlite")) as database:
        assert database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    if found:
        store().delete(name)


for run in range(kills):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        append(f"s{run}", writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        said = [lines.readline() for _ in range(chance.randint(0, 4))]
        time.sleep(chance.uniform(0, 0.003))
        os.kill(child, signal.SIGKILL)
        landed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        said += [line for line in lines if line.endswith(b"\\n")]
    check(f"s{run}", 2 * len(said))
print(landed)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("driver", [INDEX, STORE], ids=["index", "store"])
def test_kills_at_any_moment_lose_nothing(tmp_path, driver):
    command = [sys.executable, "-c", driver, str(tmp_path / "agent"), str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0  # children that had not ended before
