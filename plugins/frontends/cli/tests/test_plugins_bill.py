"""``pi plugins bill`` and ``pi plugins --timing``: what each plugin cost, by session."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from pi_cli.plugins_command import run_plugins
from pi_core import create_agent_session
from pi_core.conversation import bill as stored
from pi_core.conversation.bill import append_bill, bill_file, read_bills
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_hookspecs import PiError
from pi_testing import text

pytestmark = pytest.mark.slow

COSTLY = """
from pi_hookspecs import Context, PromptSection, SideRequest, SystemPromptResult, UserMessage, hookimpl, tool

@tool
def tide(place: str) -> str:
    '''Look the tide up.'''
    raise ValueError("no tide here")

@hookimpl
def register_tools():
    return [tide]

@hookimpl
def turn_start(event):
    raise ValueError("the sea is rough")

@hookimpl
async def turn_end(event, ctx):
    question = UserMessage(content="[]", timestamp=0)
    await ctx.complete(Context(messages=[question]), SideRequest(purpose="tides"))
"""


@pytest.fixture
def host(tmp_path):
    return PluginHost(Settings.in_memory({}, tmp_path / "agent"), installed=False)


@pytest.fixture
def bill(host, capsys):
    """Run ``pi plugins bill --json`` in this process."""

    def run(*arguments):
        capsys.readouterr()
        code = run_plugins(["bill", "--json", *arguments], host)
        return code, json.loads(capsys.readouterr().out)

    return run


def record(host, session="s1", days_ago=0.0, **plugins):
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    append_bill(host.settings.agent_dir, session, "/work", at, plugins)


def test_a_session_is_billed_by_plugin(fake):
    fake.install("acme", COSTLY)
    call = json.dumps([["tide", {"place": "Ystad"}]])

    fake.run("--model", "fake/tools", "-p", call)
    rows = {each["plugin"]: each for each in json.loads(fake.run("plugins", "bill", "--json").stdout)["plugins"]}

    acme = rows["acme"]
    assert acme["importMs"] > 0
    assert (acme["toolCalls"], acme["toolFailures"]) == (1, 1)
    assert acme["requests"] == 2  # one for each turn
    assert acme["hookCalls"] >= 4
    assert acme["failures"] >= 2
    assert acme["toolTokens"] > 10
    assert rows["pi"]["promptTokens"] > 10
    assert "acme" in fake.run("plugins", "bill", "--sort", "toolCalls").stdout.splitlines()[1]


def test_timing_shows_what_a_start_costs(pi):
    pi.install("acme", "from pi_hookspecs import hookimpl\n@hookimpl\ndef session_start(event): pass\n")

    rows = json.loads(pi.run("plugins", "--timing", "--json").stdout)["plugins"]

    (acme,) = [each for each in rows if each["plugin"] == "acme"]
    assert acme["importMs"] > 0
    assert acme["hookCalls"] == 1
    assert not list(read_bills(pi.agent_dir))


def test_sessions_are_added_up(host, bill):
    record(host, tides={"hookCalls": 2, "longestMs": 5.0, "promptTokens": 10, "dollars": 0.25})
    record(
        host, "s2", tides={"hookCalls": 3, "longestMs": 4.0, "promptTokens": 12, "dollars": 0.5}, moon={"hookMs": 9.0}
    )

    code, found = bill()
    (first, second) = found["plugins"]

    assert (code, found["sessions"], first["plugin"]) == (0, 2, "moon")
    assert second["hookCalls"] == 5
    assert second["longestMs"] == 5.0
    assert second["promptTokens"] == 12
    assert second["dollars"] == 0.75


def test_one_session_and_the_last_days_are_chosen(host, bill):
    record(host, "s1", days_ago=5, old={"hookCalls": 1})
    record(host, "s2", new={"hookCalls": 1})

    assert [each["plugin"] for each in bill("--session", "s1")[1]["plugins"]] == ["old"]
    assert [each["plugin"] for each in bill("--days", "2")[1]["plugins"]] == ["new"]
    assert bill("--days", "0")[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["bill", "--session", "x"],
        ["bill", "--session", "s"],
        ["bill", "--session", "s1", "--days", "1"],
        ["bill", "--days", "soon"],
        ["bill", "--days", "nan"],
        ["bill", "--sort", "colour"],
        ["bill", "more"],
        ["--days", "1"],
        ["--sort", "dollars"],
        ["show", "x", "--timing"],
    ],
)
def test_wrong_use_is_an_error(host, arguments):
    record(host, "s1", tides={"hookCalls": 1})
    record(host, "s2", tides={"hookCalls": 1})

    with pytest.raises(PiError):
        run_plugins(arguments, host)


def test_nothing_recorded_is_no_bill(bill):
    assert bill() == (1, {"sessions": 0, "plugins": []})


def test_the_file_stays_below_its_limit_and_keeps_the_newest(host, monkeypatch):
    monkeypatch.setattr(stored, "LIMIT", 2000)
    for number in range(60):
        record(host, f"s{number}", tides={"hookCalls": number})

    sessions = [each["session"] for each in read_bills(host.settings.agent_dir)]

    assert bill_file(host.settings.agent_dir).stat().st_size <= 2000
    assert sessions == [f"s{number}" for number in range(60 - len(sessions), 60)]


def test_lines_that_are_no_bill_are_left_out(host):
    record(host, tides={"hookCalls": 1})
    with bill_file(host.settings.agent_dir).open("a") as file:
        file.write('{"session": "s2", "at": "x", "project": "", "plugins": {"tides": {"hookMs": "much"}}}\n[]\n{"cut')

    assert [each["session"] for each in read_bills(host.settings.agent_dir)] == ["s1"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "cache").write_text("a file")

    append_bill(tmp_path, "s", "/work", "2026-11-23T00:00:00+00:00", {})


ADDING = """
from attrs import evolve
from pi_hookspecs import BeforeAgentStartResult, ContextResult, CustomMessage, UserMessage, hookimpl

@hookimpl
def before_agent_start(event):
    return BeforeAgentStartResult(messages=[CustomMessage(custom_type="tide", content="ebb " * 100, timestamp=0)])

@hookimpl
def context(event):
    return ContextResult(messages=[*event.messages, UserMessage(content="flow" * 25, timestamp=0)])
"""


@pytest.fixture
def billed(tmp_path, script):
    """A function that makes a stored session of a program, with a plugin that adds messages."""
    file = tmp_path / "adding.py"
    file.write_text(ADDING)

    def make():
        settings = Settings.in_memory({}, tmp_path / "agent")
        return create_agent_session(
            cwd=tmp_path,
            agent_dir=tmp_path / "agent",
            settings=settings,
            model=script.model,
            plugins={"script": script},
            extensions=[file],
        )

    return make


async def test_messages_that_a_plugin_adds_are_billed_and_each_conversation_has_a_line(billed, script, tmp_path):
    script.turn(text("one")).turn(text("two"))
    async with billed() as session:
        await session.prompt("look")
        first = session.session_id
        await session.new_session()
        await session.prompt("look again")
        second = session.session_id

    bills = [*read_bills(tmp_path / "agent")]

    assert [each["session"] for each in bills] == [first, second]
    assert [each["plugins"]["adding"]["messageTokens"] for each in bills] == [125, 125]
    assert not list((tmp_path / "agent" / "cache" / "bills").glob("*"))


def ended_process():
    """Return the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        return process.pid


async def test_a_process_that_is_killed_leaves_its_bill(billed, script, tmp_path):
    script.turn(text("one"))
    async with billed() as session:
        await session.prompt("look")
        (draft,) = (tmp_path / "agent" / "cache" / "bills").glob("*.json")
        left = draft.read_bytes()
    bill_file(tmp_path / "agent").unlink()
    draft.with_name(f"{ended_process()}-x.json").write_bytes(left)

    assert [each["plugins"]["adding"]["messageTokens"] for each in read_bills(tmp_path / "agent")] == [125]
    assert [each["plugins"]["adding"]["messageTokens"] for each in read_bills(tmp_path / "agent")] == [125]
