"""``pi sessions search`` and ``/search``, as users see them."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing

import click
import pytest

import pi_session_jsonl
import pi_session_sqlite
from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_session_jsonl.command import run_sessions
from pi_testing import for_each, text


@pytest.fixture
def run(agent_dir, capsys):
    """Runs ``pi sessions search ...``; returns the exit code, stdout and stderr."""
    host = PluginHost(Settings.in_memory(agent_dir=agent_dir), installed=False)
    host.add(pi_session_jsonl, "session-jsonl")
    host.add(pi_session_sqlite, "session-sqlite")

    def run(*arguments):
        code = run_sessions(["search", *arguments], host)
        return code, *capsys.readouterr()

    return run


def test_results_show_where_they_are_and_how_to_open_them(run, stored, line):
    stored("0199", line("a", "The tide \x1b[31mis\nhigh"), cwd="/home/me/\x1bproject")

    code, shown, said = run("tide")
    lines = shown.splitlines()

    assert (code, said) == (0, "")
    assert lines[0].endswith(r" user /home/me/\x1bproject")
    assert lines[1:] == [r"  The tide \x1b[31mis high", "  pi --session 0199"]


def test_json_is_one_list(run, stored, line):
    path = stored("0199", line("a", "潮 is high"))

    code, shown, _ = run("潮", "--json")
    (found,) = json.loads(shown)

    assert code == 0
    assert found.pop("score") > 0
    assert found == {
        "session": str(path),
        "id": "0199",
        "cwd": "/home/me/project",
        "entry": "a",
        "role": "user",
        "tool": None,
        "timestamp": "2026-02-03T04:05:06.789Z",
        "snippet": "潮 is high",
    }


@for_each(
    ("arguments", "code"),
    [
        (["--", "--verbose"], 0),
        (["tar", "--", "--verbose"], 0),
        (["--", "tar", "--json"], 1),
        (["tar", "--", "--disable", "x"], 1),
        (["--verbose", "--", "tar"], 0),
    ],
)
def test_words_after_two_dashes_are_words(run, stored, line, arguments, code):
    stored("0199", line("a", "tar --verbose of the archive"))

    assert run(*arguments)[0] == code


def test_nothing_found_is_1_and_an_empty_list(run):
    assert run("tide")[:2] == (1, "Nothing was found.\n")
    assert run("tide", "--json")[:2] == (1, "[]\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'QUERY...'"),
        (["-word"], "The query '-word' has no word to look for"),
        (["word", "--since", "soon"], "--since 'soon' is not a time. Give an age such as 7d or 12h, or a date"),
        (["word", "--rol", "user"], "No such option: '--rol'"),
        (["word", "--limit", "0"], "0 is not in the range 1<=x<=500"),
    ],
)
def test_wrong_use_is_refused(run, arguments, message):
    with pytest.raises(click.UsageError) as refused:
        run(*arguments)

    assert message in refused.value.format_message()


def test_words_phrases_and_exclusions_are_arguments(run, stored, line):
    stored("0199", line("a", "one two"), line("b", "two one"), line("c", "one two three"))

    def entries(*arguments):
        return sorted(each["entry"] for each in json.loads(run(*arguments, "--json")[1]))

    assert entries("one", "two") == ["a", "b", "c"]
    assert entries("one two", "-three", "one") == ["a"]
    assert entries('"one two" -three') == ["a"]


@pytest.mark.pi(entry_points=["session-jsonl", "session-sqlite"], stored=True)
async def test_the_command_switches_to_the_session_that_is_chosen(pi_session, script, fake_ui):
    script.turn(text("High."))
    await pi_session.prompt("How is the tide?")
    first = pi_session.session_id
    await pi_session.new_session()
    fake_ui.never_answers("Open which session?")
    searching = asyncio.create_task(pi_session.prompt("/search tide"))
    dialog = await fake_ui.opened()
    fake_ui.release(next(each for each in dialog.options if "How is the tide?" in each))
    await searching

    assert pi_session.session_id == first


@pytest.mark.pi(entry_points=["session-jsonl", "session-sqlite"], stored=True)
async def test_the_command_says_when_nothing_is_found(pi_session, fake_ui):
    await pi_session.prompt("/search tide")

    assert [notice.message for notice in fake_ui.notices] == ["Nothing was found for 'tide'."]


@pytest.mark.parametrize("store", ["jsonl", "sqlite"])
async def test_the_command_searches_the_folder_of_sessions_that_was_chosen(script, fake_ui, agent_dir, tmp_path, store):
    settings = Settings.in_memory({"sessionStore": store}, agent_dir=agent_dir)
    host = PluginHost(settings, installed=False)
    for module in (pi_session_jsonl, pi_session_sqlite):
        host.add(module, module.__name__)
    host.add(script, "script")
    parts = {"host": host, "settings": settings, "model": script.model, "tools": [], "ui": fake_ui}
    first = SessionManager.create(tmp_path, tmp_path / "chosen", host=host)
    async with create_agent_session(cwd=tmp_path, session_manager=first, **parts) as session:
        script.turn(text("High, the tide."))
        await session.prompt("How is it?")
    second = SessionManager.create(tmp_path, tmp_path / "chosen", host=host)
    async with create_agent_session(cwd=tmp_path, session_manager=second, **parts) as session:
        fake_ui.never_answers("Open which session?")
        searching = asyncio.create_task(session.prompt("/search tide"))
        fake_ui.release((await fake_ui.opened()).options[0])
        await searching

        assert session.ctx.session.reference == first.reference
        assert session.ctx.sessions.place.session_dir == tmp_path / "chosen"


@pytest.mark.parametrize("store", ["jsonl", "sqlite"])
async def test_plugins_search_the_sessions_of_the_store_in_use(script, agent_dir, tmp_path, store):
    settings = Settings.in_memory({"sessionStore": store}, agent_dir=agent_dir)
    host = PluginHost(settings, installed=False)
    host.add(pi_session_jsonl, "session-jsonl")
    host.add(pi_session_sqlite, "session-sqlite")
    manager = SessionManager.create(tmp_path, host=host)
    parts = {"host": host, "settings": settings, "plugins": {"script": script}, "session_manager": manager}
    async with create_agent_session(cwd=tmp_path, model=script.model, tools=[], **parts) as session:
        script.turn(text("High, the tide."))
        await session.prompt("How is it?")
        (found,) = await session.ctx.sessions.search("TIDE -low", tmp_path)

        assert (found.session.path, found.session.first_message) == (manager.reference, "How is it?")
        assert (found.snippet, found.entry_id) == ("High, the tide.", manager.leaf_id)
        for query, folder in (("tide", tmp_path / "elsewhere"), ("-", None), ("ebb", None)):
            assert list(await session.ctx.sessions.search(query, folder)) == []


def test_the_database_of_sessions_is_searched_where_it_is_the_store(run, stored, line, agent_dir):
    from pi_hookspecs import SessionPlace
    from pi_session_sqlite.places import index_of
    from pi_session_sqlite.query import parse_query

    def ids(query):
        with closing(index_of("sqlite", SessionPlace(agent_dir=agent_dir))) as index:
            assert index.update()
            return sorted(f"{hit.session} {hit.entry}" for hit in index.search(parse_query(query)))

    host = PluginHost(Settings.in_memory(agent_dir=agent_dir), installed=False)
    for module in (pi_session_jsonl, pi_session_sqlite):
        host.add(module, module.__name__)
    assert ids("tide") == []
    path = stored("0199", line("a", "The tide"))
    stored("0200", line("b", "The ebb"))
    run_sessions(["convert", "--to", "sqlite"], host)
    assert ids("tide") == ["0199 a"]
    stored("0199", line("c", "Another tide"))
    assert ids("tide") == ["0199 a"]
    run_sessions(["convert", "--to", "sqlite"], host)
    assert ids("tide") == ["0199 a", "0199 c"]
    path.unlink()
    run_sessions(["convert", "--to", "jsonl", "--remove"], host)
    assert ids("tide") == []
