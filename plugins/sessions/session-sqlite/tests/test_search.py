"""What a search finds, and how the index follows the session files."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_hookspecs import SessionPlace, UserError
from pi_session_sqlite.index import SearchIndex
from pi_session_sqlite.places import index_of
from pi_session_sqlite.query import parse_query
from pi_session_sqlite.sources import Files
from pi_testing import for_each


def ids(hits):
    return [hit.entry for hit in hits]


def test_a_hit_says_where_it_is(stored, line, search):
    path = stored("one", line("a1", "How is the tide at Dover today?"))

    (hit,) = search("DOVER tide")

    assert (hit.session, hit.id, hit.cwd, hit.entry) == (str(path), "one", "/home/me/project", "a1")
    assert (hit.role, hit.tool, hit.timestamp) == ("user", None, "2026-02-03T04:05:06.789Z")
    assert hit.snippet == "How is the tide at Dover today?"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("retry", ["r"]),
        ("etr", ["r"]),
        ("re", ["r", "p"]),
        ("R", ["r", "p", "d"]),
        ('"retry the"', ["r"]),
        ('"the retry"', []),
        ("retry -request", []),
        ("retry -re", []),
        ('retry "', []),
        ("retry OR nothing", []),
        ("retry*", []),
        ("50%", ["p"]),
        ("5_%", []),
        ("NEAR(a", []),
        ("修正", ["c"]),
        ("修", ["c"]),
        ("错误的代", ["c"]),
        ("🦊", ["e"]),
        ("ÄRGER", ["d"]),
        ("ä", ["d"]),
        ("a\0b", []),
        ("\ud800", []),
        (r"c:\x", ["b"]),
    ],
)
def test_queries_mean_their_words(stored, line, search, query, found):
    stored(
        "one",
        line("r", "Retry\n   the request"),
        line("p", "50% or more"),
        line("c", "修正错误的代码"),
        line("e", "a 🦊 jumps"),
        line("d", "Ärger"),
        line("b", "c:\\x"),
    )

    assert sorted(ids(search(query))) == sorted(found)


@for_each("query", ["", "  ", "-word", '""', '-"a b"'])
def test_a_query_without_a_word_is_refused(query):
    with pytest.raises(UserError, match="has no word to look for"):
        parse_query(query)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=20))
def test_no_query_is_an_error_of_sqlite(stored, line, search, query):
    stored("one", line("a", "text"))
    with suppress(UserError):  # there is no word in it
        search(query)


LETTERS = "aAbÄäß\u03a3\u03c3\u03c2修\U0001f600_%"
"""With those whose case Python and SQLite do not know alike: three sigmas, a sharp s."""


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(f"{LETTERS}- \u0130\u0131", min_size=1, max_size=6), min_size=1, max_size=8),
    word=st.text(LETTERS, min_size=1, max_size=2),
)
def test_a_word_of_one_or_two_letters_is_found_in_each_text_that_has_it(tmp_path_factory, line, texts, word):
    folder = tmp_path_factory.mktemp("short")
    entries = [line(str(number), text) for number, text in enumerate(texts)]
    rows = [{"type": "session", "id": "one", "cwd": "/"}, *entries]
    (folder / "one.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    with closing(SearchIndex(folder / "index.sqlite", Files([str(folder)]))) as index:
        index.update()
        found = {int(each) for each in ids(index.search(parse_query(word)))}

    assert found == {number for number, text in enumerate(texts) if word.lower() in text.lower()}


PIECES = st.sampled_from(["tide", "tid", "side", "ti", "e", "Ti de", "idet", "dover", "Ä", "xtidex"])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(PIECES, min_size=1, max_size=4).map(" ".join), min_size=4, max_size=25),
    terms=st.lists(PIECES, min_size=1, max_size=3, unique=True),
    excluded=st.lists(PIECES, max_size=2, unique=True),
    most=st.integers(1, 30),
)
def test_the_latest_entries_that_match_are_found_however_many_words_there_are(
    tmp_path_factory, line, texts, terms, excluded, most
):
    folder = tmp_path_factory.mktemp("combined")
    entries = [line(str(number), text) for number, text in enumerate(texts)]
    rows = [{"type": "session", "id": "one", "cwd": "/"}, *entries]
    (folder / "one.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    query = parse_query(" ".join([*(f'"{each}"' for each in terms), *(f'-"{each}"' for each in excluded)]))
    with (
        closing(SearchIndex(folder / "index.sqlite", Files([str(folder)]))) as index,
        pytest.MonkeyPatch.context() as m,
    ):
        index.update()
        m.setattr("pi_session_sqlite.index._MOST_RANKED", most)
        m.setattr("pi_session_sqlite.index._SAMPLES", 3)
        found = {int(each) for each in ids(index.search(query, limit=100))}

    def matches(text):
        has = [each.lower() in text.lower() for each in terms]
        return all(has) and not any(each.lower() in text.lower() for each in excluded)

    assert sorted(found) == [number for number, text in enumerate(texts) if matches(text)][-most:]


@pytest.mark.parametrize("query", ["zq", "word zq", "zq -absent", "-ab zq", "Ö", '"a ö"', "word -zq"])
def test_short_words_are_found_whether_few_entries_have_them_or_many(stored, line, search, monkeypatch, query):
    stored("one", line("a", "a word with ZQ"), line("b", "word"), line("c", "a ö word"), line("d", "ab zq"))
    from_index = ids(search(query))
    monkeypatch.setattr("pi_session_sqlite.index._MOST_TRIGRAMS", -1)

    assert ids(search(query)) == from_index
    assert from_index


def test_the_index_of_an_older_pi_is_made_again(stored, line, search, agent_dir):
    stored("one", line("a", "word"))
    search("word")
    with closing(sqlite3.connect(agent_dir / "cache" / "search.sqlite")) as connection:
        connection.execute("DROP TABLE trigrams")
        connection.execute("PRAGMA user_version=1")

    assert ids(search("wo")) == ["a"]


def test_calls_results_and_commands_are_found_by_tool_and_role(stored, line, search):
    call = {"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "git rebase main"}}
    stored(
        "one",
        line("a", [{"type": "text", "text": "I rebase."}, call], "assistant"),
        line("b", [{"type": "text", "text": "rebase done"}], "toolResult", toolName="bash"),
        line("c", None, "bashExecution", command="git rebase", output="ok"),
        {"type": "compaction", "id": "d", "summary": "They rebase."},
        {"type": "session_info", "id": "e", "name": "A rebase"},
        line("f", "rebase", "system"),
        {"type": "custom", "id": "g", "data": "rebase"},
    )

    assert sorted(ids(search("rebase"))) == ["a", "a", "b", "c", "d", "e"]
    assert sorted(ids(search("rebase", tool="bash"))) == ["a", "b", "c"]
    assert ids(search("rebase", role="toolResult")) == ["b"]


def test_entries_are_filtered_by_folder_and_time(stored, line, search):
    stored("one", line("a", "word", time="2026-01-01T00:00:00Z"), line("b", "word"), cwd="/one")
    stored("two", line("c", "word"), cwd="/two")

    assert ids(search("word", cwd="/two")) == ["c"]
    assert sorted(ids(search("word", since=1_768_000_000_000))) == ["b", "c"]


def test_the_best_is_first_and_the_number_is_limited(stored, line, search):
    stored("one", line("a", "word " + "x " * 900), line("b", "word and word"), line("c", "a word"))

    assert ids(search("word", limit=2)) == ["b", "c"]


def test_a_text_with_the_trigrams_of_an_excluded_word_is_found_if_it_is_not_in_it(stored, line, search):
    stored("one", line("a", "word bcd abc"), line("b", "word abcd"), line("c", "WORD ABCD"), line("d", "word"))

    assert sorted(ids(search("word -abcd"))) == ["a", "d"]
    assert sorted(ids(search("word -abcd -bcd"))) == ["d"]
    assert sorted(ids(search('word -"bcd a"'))) == ["b", "c", "d"]
    assert ids(search("word -a -\u00c4")) == ["d"]


def test_an_excluded_letter_leaves_out_no_text_with_another_letter_that_has_the_same_capital(stored, line, search):
    stored("one", line("a", "word \u03c3"), line("b", "word \u03c2"), line("c", "word \u03a3"))

    assert sorted(ids(search("word -\u03c2"))) == ["a", "c"]


def test_the_first_50000_characters_of_an_entry_are_searched(stored, line, search):
    stored("one", line("a", "x" * 49_990 + " here" + " " * 50 + "there"))

    assert ids(search("here")) == ["a"]
    assert ids(search("there")) == []


def test_of_more_than_1000_matches_those_stored_last_are_ranked(stored, line, search):
    stored("one", line("best", "word word word"), *(line(f"{number}", "word and more") for number in range(1000)))
    found = ids(search("word", limit=2000))

    assert len(found) == 1000
    assert "best" not in found


def test_of_too_many_sessions_the_latest_are_indexed_and_the_others_forgotten(stored, line, search, agent_dir):
    paths = [stored(name, line(name, "word")) for name in ("old", "new")]
    os.utime(paths[0], (1, 1))
    assert sorted(ids(search("word"))) == ["new", "old"]
    size = paths[1].stat().st_size
    index = SearchIndex(agent_dir / "cache" / "search.sqlite", Files([str(paths[0].parent)]), most=size + 10)
    with closing(index):
        assert index.update()
        assert ids(index.search(parse_query("word"))) == ["new"]
        assert "the 1 that were stored last were searched, 1 older ones were not" in index.notices[0]
        paths[1].unlink()
        assert index.update()
        assert (ids(index.search(parse_query("word"))), index.notices) == (["old"], [])


def test_what_is_appended_rewritten_or_deleted_is_followed(stored, line, search):
    path = stored("one", line("a", "first word"))
    assert ids(search("word")) == ["a"]
    stored("one", line("b", "second word"), end="")
    assert ids(search("word")) == ["a"]  # a line that is being written
    with path.open("ab") as file:
        file.write(b"\n")
    assert sorted(ids(search("word"))) == ["a", "b"]
    path.write_bytes(path.read_bytes().replace(b"first word", b"[secret:x]"))
    assert ids(search("word")) == ["b"]
    assert ids(search("first")) == []
    path.unlink()
    assert search("word") == []


def test_a_secret_that_was_removed_from_a_session_leaves_the_database_too(stored, line, search, agent_dir):
    path = stored("one", line("a", "the key is hunter2-swordfish-9931"), line("b", "word"))
    assert ids(search("hunter2-swordfish")) == ["a"]
    path.write_bytes(path.read_bytes().replace(b"hunter2-swordfish-9931", b"[secret:x:3f9a]"))
    assert ids(search("word")) == ["b"]

    assert search("hunter2") == []
    assert not [file for file in (agent_dir / "cache").iterdir() if b"swordfish" in file.read_bytes()]


def test_not_even_trigrams_of_a_removed_text_stay(stored, line, search, agent_dir):
    path = stored("one", line("a", "zqxj"))
    search("zqxj")
    path.write_bytes(path.read_bytes().replace(b"zqxj", b"gone"))
    search("gone")

    assert b"zqx" not in (agent_dir / "cache" / "search.sqlite").read_bytes()


def test_damaged_lines_and_other_files_are_passed_over(stored, line, search):
    path = stored("one", line("a", "word"))
    with path.open("ab") as file:
        file.write(b'{"type": "message", \xff\xfe\n[1]\n{"type": "message", "id": 3, "message": {"content": 7}}\n')
    stored("one", line("b", "lone \ud800 word"))
    (path.parent / "notes.jsonl").write_bytes(b"word\n\n")
    (path.parent / "empty.jsonl").write_bytes(b"")

    assert sorted(ids(search("word"))) == ["a", "b"]


def test_a_damaged_index_is_made_again(stored, line, search, agent_dir):
    stored("one", line("a", "word"))
    search("word")
    database = agent_dir / "cache" / "search.sqlite"
    database.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    assert ids(search("word")) == ["a"]
    database.write_bytes(b"no database " * 1000)
    assert ids(search("word")) == ["a"]
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert ids(search("word")) == ["a"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version=99", r"made by a newer pi \(version 99, known: 3\). Update pi, or remove the file"),
        ("PRAGMA application_id=7", "a database of another program. Move it to another place"),
    ],
)
def test_a_database_of_others_is_named_and_left_alone(stored, line, search, agent_dir, statement, message):
    session = stored("one", line("a", "word"))
    before = session.read_bytes()
    search("word")
    database = agent_dir / "cache" / "search.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(statement)
    content = database.read_bytes()

    with pytest.raises(UserError, match=message):
        search("word")
    assert database.read_bytes() == content
    assert session.read_bytes() == before


def test_a_folder_that_cannot_be_used_is_named(stored, line, search, agent_dir):
    stored("one", line("a", "word"))
    (agent_dir / "cache").write_text("a file")

    with pytest.raises(UserError, match=r"search\.sqlite' cannot be used"):
        search("word")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_its_user_can_read_the_index(stored, line, search, agent_dir):
    stored("one", line("a", "word"))
    search("word")

    assert (agent_dir / "cache" / "search.sqlite").stat().st_mode & 0o077 == 0


def test_while_another_process_writes_what_was_there_is_found(stored, line, search, agent_dir, monkeypatch):
    monkeypatch.setattr("pi_session_sqlite.sqlite._PATIENCE", 0.05)
    stored("one", line("a", "word"))
    search("word")
    stored("one", line("b", "word"))
    with closing(sqlite3.connect(agent_dir / "cache" / "search.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(index_of("jsonl", SessionPlace(agent_dir=agent_dir))) as index:
            assert not index.update()
            assert ids(index.search(parse_query("word"))) == ["a"]
    assert sorted(ids(search("word"))) == ["a", "b"]


UPDATE = """
import sys
from pathlib import Path
from pi_hookspecs import SessionPlace
from pi_session_sqlite.index import SearchIndex
from pi_session_sqlite.places import index_of
print("begun", flush=True)
index_of("jsonl", SessionPlace(agent_dir=Path(sys.argv[1]))).update()
"""


@pytest.mark.slow
def test_two_processes_at_once_and_kills_leave_each_entry_once(stored, line, search, agent_dir):
    for number in range(30):
        stored(f"s{number}", *(line(f"{number}-{each}", f"word {'filler ' * 50}") for each in range(20)))
    running = [
        subprocess.Popen([sys.executable, "-c", UPDATE, str(agent_dir)], stdout=subprocess.PIPE) for _ in range(3)
    ]
    running[0].stdout.readline()
    running[0].kill()
    for each in running:
        each.communicate()
    found = ids(search("word", limit=1000))

    assert len(found) == len(set(found)) == 600
