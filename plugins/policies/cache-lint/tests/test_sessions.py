"""Ordinary sessions raise no alarm, and what is expected, evicted or cheap is distinguished from what is avoidable."""

from __future__ import annotations

import json
import random

import pytest
from attrs import evolve

import pi_cache_lint
import pi_session_jsonl
from pi_cache_lint.first import own_entries
from pi_cache_lint.report import lines_of, summary_of
from pi_core import create_agent_session
from pi_core.conversation.offered_tools import OfferedTools
from pi_core.session import ReadOnlySession, SessionManager
from pi_hookspecs import Compaction, PromptSection, SystemPromptResult, hookimpl, tool
from pi_testing import error, text, thinking, tool_call, usage

CACHED = usage(input=200, cache_read=0, cache_write=60_000)
READ = usage(input=200, cache_read=60_000, cache_write=200)
MISSED = usage(input=300, cache_read=0, cache_write=60_100)


@pytest.mark.parametrize("seed", range(50))
async def test_an_ordinary_session_raises_no_alarm(pi_session, script, fake_ui, breaks, seed):
    chance = random.Random(seed)  # noqa: S311 - the same sessions in each run
    sizes = 2_000
    for number in range(chance.randint(2, 5)):
        for _ in range(chance.randint(0, 3)):
            calls = [tool_call(chance.choice(["ls", "read", "bash"])) for _ in range(chance.randint(1, 3))]
            script.turn(thinking("hm"), *calls, usage(input=90, cache_read=sizes, cache_write=700))
            sizes += 700
        if chance.random() < 0.2:
            script.turn(error("400 that is not valid"))
        else:
            script.turn(text(f"answer {number}"), usage(input=90, cache_read=sizes, cache_write=400))
            sizes += 400
        await pi_session.prompt(f"question {number}")

    assert fake_ui.notices == []
    assert breaks(pi_session) == []


async def test_another_model_is_expected(pi_session, script, breaks, fake_ui):
    other = evolve(script.model, id="other")
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.set_model(other)
    await pi_session.prompt("second")

    (found,) = breaks(pi_session)
    assert (found["kind"], found["link"], found["plugin"]) == ("expected", "model: another model", None)
    assert fake_ui.notices == []


async def test_navigation_is_expected(pi_session, script, breaks, fake_ui):
    script.turn(text("one"), CACHED).turn(text("two"), READ).turn(text("three"), MISSED)
    await pi_session.prompt("first")
    await pi_session.prompt("second")
    messages = [each for each in ReadOnlySession(pi_session.session_manager).branch() if each.type == "message"]
    await pi_session.navigate_tree(messages[2].id)
    await pi_session.prompt("another")

    (found,) = breaks(pi_session)
    assert (found["kind"], found["link"]) == ("expected", "messages[2]: navigation")
    assert fake_ui.notices == []


class Compacts:
    @hookimpl
    def register_services(self):
        return [self]

    async def compact(self, request, ctx):
        branch = ctx.session.branch()
        return Compaction(summary="much was said", first_kept_entry_id=branch[-1].id, tokens_before=60_000)


@pytest.mark.parametrize("pi_plugins", [{"cache-lint": pi_cache_lint, "compacts": Compacts()}])
async def test_compaction_is_expected(pi_session, script, breaks, fake_ui):
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.compact()
    await pi_session.prompt("second")

    (found,) = breaks(pi_session)
    assert (found["kind"], found["link"]) == ("expected", "messages[0]: compaction")
    assert fake_ui.notices == []


async def test_an_eviction_by_the_provider_is_no_break_of_ours(pi_session, script, breaks, fake_ui):
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    (found,) = breaks(pi_session)
    assert (found["kind"], found["link"], found["plugin"]) == ("evicted", "provider", None)
    assert found["dollars"] == pytest.approx(0.16254)
    assert fake_ui.notices == []


async def test_a_cache_that_is_too_old_is_expected(pi_session, script, breaks, monkeypatch):
    clock = iter(range(1_000, 100_000, 400))
    monkeypatch.setattr("pi_cache_lint.first.time.time", lambda: next(clock))
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    (found,) = breaks(pi_session)
    assert (found["kind"], found["link"]) == ("expected", "lifetime: lifetime passed")


class Clock:
    second = 0

    @hookimpl
    def system_prompt(self, event):
        self.second += 1
        return SystemPromptResult(sections=[PromptSection(name="clock", text=str(self.second))])


@pytest.fixture
def with_clock(pi_plugins):
    pi_plugins["clock"] = Clock()


async def test_a_break_of_less_than_a_cent_is_only_recorded(with_clock, pi_session, script, breaks, fake_ui):
    script.turn(text("one"), usage(input=3_000)).turn(text("two"), usage(input=3_100))
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    (found,) = breaks(pi_session)
    assert (found["kind"], found["plugin"]) == ("avoidable", "clock")
    assert 0 < found["dollars"] < 0.01
    assert fake_ui.notices == []


async def test_a_culprit_is_reported_once(with_clock, pi_session, script, breaks, fake_ui):
    script.turn(text("one"), CACHED).turn(text("two"), MISSED).turn(text("three"), MISSED)
    for prompt in ("first", "second", "third"):
        await pi_session.prompt(prompt)

    assert len(breaks(pi_session)) == 2
    assert len(fake_ui.notices) == 1


@pytest.mark.parametrize("store", ["jsonl", "sqlite"])
async def test_a_resumed_session_is_compared_with_what_was_stored(
    with_clock, script, breaks, pi_host, tmp_path, fake_ui, store
):
    pi_host.add(pi_session_jsonl, "session-jsonl")
    pi_host.add(pytest.importorskip("pi_session_sqlite"), "session-sqlite")
    pi_host.settings.set("sessionStore", store)
    pi_host.add(script, "script")
    options = {"host": pi_host, "model": script.model, "ui": fake_ui, "cwd": tmp_path}
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    manager = SessionManager.create(tmp_path, tmp_path / "sessions", host=pi_host)
    async with create_agent_session(session_manager=manager, **options) as session:
        await session.prompt("first")
    manager = SessionManager.open(manager.reference, tmp_path / "sessions", host=pi_host)
    async with create_agent_session(session_manager=manager, **options) as resumed:
        await resumed.prompt("second")

        found = breaks(resumed)
    assert [each["plugin"] for each in found] == ["clock"]


async def test_the_report_has_the_form_that_programs_read(with_clock, pi_session, script, fake_ui):
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.prompt("second")
    summary = summary_of(pi_session.session_manager.entries())
    await pi_session.prompt("/cache")

    assert list(json.loads(json.dumps(summary))) == ["hitRate", "dollarsLost", "breaks"]
    assert [list(each) for each in summary["breaks"]] == [["request", "kind", "link", "plugin", "hook", "dollars"]]
    assert fake_ui.notices[-1].message.splitlines() == list(lines_of(summary))
    assert "clock lost $0.1625" in fake_ui.notices[-1].message


async def test_the_tools_are_listed_once_for_a_request_and_not_once_for_each(pi_session, script, monkeypatch):
    listed = []
    infos = OfferedTools.infos
    monkeypatch.setattr(OfferedTools, "infos", lambda self: listed.append(self) or infos(self))

    def height():
        """Return how high the tide is."""

    for name in ("high", "low", "ebb", "flood"):
        pi_session.add_tool(tool(name=name)(height), "tides")
    script.turn(text("ok"))

    await pi_session.prompt("go")

    assert len(script.requests[0].tools) >= 4
    assert len(listed) <= 2


async def test_only_entries_of_plugins_are_read_to_find_a_stored_chain(pi_session, script, monkeypatch):
    for number in range(10):
        script.turn(text(f"answer {number}"), CACHED)
        await pi_session.prompt("question")
    branch = ReadOnlySession(pi_session.session_manager).branch()
    read, of = [], branch._tree.entry
    monkeypatch.setattr(branch._tree, "entry", lambda number: (read.append(number), of(number))[1])

    found = [*own_entries(branch)]

    assert found == [*own_entries([*branch])]
    assert {branch._tree.type(number) for number in read[: len(read) - len(branch)]} <= {"custom"}
