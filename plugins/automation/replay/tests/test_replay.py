"""Replays in this process: sessions against themselves, with a change, cut off, steered and compacted."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_core.session import ReadOnlySession
from pi_hookspecs import ToolResult, UserError, hookimpl, tool
from pi_replay.compare import text_distance
from pi_replay.recording import Recording
from pi_replay.replay import Replay
from pi_replay.tools import RecordedTools
from pi_testing import ScriptedProvider, error, text, tool_call

runs = []


@tool
async def look(at: str) -> ToolResult:
    """Look at something."""
    runs.append(at)
    if at == "nothing":
        raise ValueError("there is nothing")
    return ToolResult.text(f"{at}, look {len(runs)}", details={"count": len(runs)})


class Marks:
    """A plugin that changes results, and does it again whenever it sees one."""

    @hookimpl
    def tool_result(self, event):
        from pi_hookspecs import ToolResultResult

        return ToolResultResult(content=(evolve(event.content[0], text=event.content[0].text + " (marked)"),))


@pytest.fixture
def started(tmp_path):
    """Sessions in memory that a script answers."""
    own = Settings.in_memory()

    @asynccontextmanager
    async def start(prompts, *plugins, manager=None):
        script = ScriptedProvider()
        for turns in prompts:
            for steps in turns:
                script.turn(*steps)
        host = PluginHost(own, installed=False)
        for number, each in enumerate((script, Marks(), *plugins)):
            host.add(each, f"plugin-{number}")
        async with create_agent_session(
            cwd=tmp_path,
            host=host,
            settings=own,
            model=script.model,
            custom_tools=[look],
            session_manager=manager or SessionManager.in_memory(tmp_path),
        ) as session:
            yield session

    return start


@pytest.fixture
def recorded(started):
    """Runs prompts, and returns the session as it is stored."""

    async def record(prompts):
        async with started(prompts) as session:
            for number in range(len(prompts)):
                await session.prompt(f"Prompt {number}")
            return ReadOnlySession(session.session_manager)

    return record


@pytest.fixture
def replayed(started):
    """Replays a session with a script, and returns the report."""

    async def replay(stored, prompts, **options):
        recording = Recording.of(stored, **options)
        tools = RecordedTools(recording.turns)
        async with started(prompts, tools) as session:
            return await Replay(session, recording, tools, changes_models=True).run()

    return replay


def asks(*places):
    return [tool_call("look", at=each) for each in places]


TWO = [[asks("a", "nothing"), [text("One.")]], [[*asks("a"), text("Let me see.")], asks("b", "a"), [text("Two.")]]]


async def test_a_session_replayed_against_itself_has_no_divergence_and_runs_no_tool(recorded, replayed):
    stored = await recorded(TWO)
    runs.clear()

    report = await replayed(stored, TWO)

    assert (report.divergence, report.error, runs) == (None, None, [])
    assert [(row.has_equal_calls, row.distance) for row in report.rows] == [(True, 0), (True, 0)]


async def test_the_results_are_those_of_the_recording_with_what_plugins_made_of_them(started, recorded):
    stored = await recorded(TWO)
    recording = Recording.of(stored)
    tools = RecordedTools(recording.turns)

    async with started(TWO, tools) as session:
        await Replay(session, recording, tools, changes_models=True).run()
        again = ReadOnlySession(session.session_manager)

    def results(view):
        messages = [entry.message for entry in view.branch() if entry.type == "message"]
        return [(m.text, m.details, m.is_error) for m in messages if m.role == "toolResult"]

    assert results(again) == results(stored)
    assert len({each[0] for each in results(again)}) > 2


async def test_the_first_call_that_was_not_recorded_is_the_divergence(recorded, replayed):
    stored = await recorded(TWO)
    changed = [TWO[0], [TWO[1][0], asks("b", "elsewhere"), [text("Never sent.")]]]

    report = await replayed(stored, changed)

    found = report.divergence
    assert (found.turn, found.entry) == (2, report.rows[1].turn.entry)
    assert (found.call.arguments, found.recorded.arguments) == ({"at": "elsewhere"}, {"at": "a"})
    assert report.rows[1].changed_arguments == 1
    assert report.error is None


async def test_a_call_after_the_last_recorded_one_stands_beside_none(recorded, replayed):
    stored = await recorded([[[text("Done.")]]])

    report = await replayed(stored, [[asks("a"), [text("Done.")]]])

    assert report.divergence.recorded is None


async def test_another_text_is_no_divergence_but_has_a_distance(recorded, replayed):
    stored = await recorded(TWO)

    report = await replayed(stored, [TWO[0], [*TWO[1][:-1], [text("Twelve.")]]])

    assert report.divergence is None
    assert [row.distance > 0 for row in report.rows] == [False, True]


async def test_a_failed_request_ends_the_replay_and_is_reported(recorded, replayed):
    stored = await recorded(TWO)

    report = await replayed(stored, [[[error('402: {"error": {"message": "No credit."}}\nBuy some.')]]])

    assert len(report.rows) == 1
    assert "Prompt 1 failed" in report.error
    assert "No credit. Buy some." in report.error
    assert "{" not in report.error


async def test_what_the_user_sent_meanwhile_is_sent_at_the_same_place(started, replayed):
    prompts = [[asks("a"), asks("b"), [text("Done.")]]]
    async with started(prompts) as session:
        sent = []

        def steer(event):
            if event.message.role == "assistant" and not sent:
                sent.append(session.steer("And b!"))

        session.subscribe(steer, "message_end")
        await session.prompt("Look")
        stored = ReadOnlySession(session.session_manager)
    recording = Recording.of(stored)

    report = await replayed(stored, prompts)

    assert [each.text for each in recording.turns[0].steered[1]] == ["And b!"]
    assert (len(recording.turns), report.divergence) == (1, None)


async def test_a_prompt_that_was_aborted_ends_where_it_was_aborted(started, replayed):
    prompts = [[asks("a"), asks("b"), [text("Done.")]]]
    async with started(prompts) as session:

        def abort(event):
            if event.message.role == "toolResult":
                session.parts.lifecycle.request_abort()

        session.subscribe(abort, "message_end")
        await session.prompt("Look")
        stored = ReadOnlySession(session.session_manager)

    report = await replayed(stored, prompts)

    assert (report.divergence, report.error) == (None, None)
    assert len(report.rows[0].answers) <= 2


async def test_until_names_the_last_prompt(recorded, replayed):
    stored = await recorded(TWO)
    answer = next(each.id for each in stored.branch() if each.type == "message" and each.message.role == "assistant")

    assert len(Recording.of(stored, answer).turns) == 1
    with pytest.raises(UserError, match="no such entry"):
        Recording.of(stored, "00000000")


async def test_a_session_is_replayed_from_its_last_compaction_on(started, replayed):
    prompts = [*TWO, [asks("after"), [text("Three.")]]]
    manager = SessionManager.in_memory()
    async with started(prompts, manager=manager) as session:
        await session.prompt("Prompt 0")
        await session.prompt("Prompt 1")
        compaction = manager.append_compaction("What was.", manager.get_leaf_id(), 1000)
        stored = ReadOnlySession(manager)
        with pytest.raises(UserError, match="Nothing follows its last compaction"):
            Recording.of(stored)
        await session.prompt("Prompt 2")

    recording = Recording.of(stored)

    assert recording.compaction is not None
    assert recording.compaction in str(compaction)
    assert [turn.text for turn in recording.turns] == ["Prompt 2"]


async def test_an_empty_session_is_refused(recorded):
    with pytest.raises(UserError, match="no prompt that was answered"):
        Recording.of(await recorded([]))


async def test_a_path_is_replaced_in_prompts_and_arguments_but_not_within_another_name(recorded):
    stored = await recorded([[asks("/a/b/c.txt", "/a/bc"), [text("Done.")]]])

    recording = Recording.of(stored).moved("/a/b", "/work tree")

    assert [call.arguments["at"] for call in recording.turns[0].calls] == ["/work tree/c.txt", "/a/bc"]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
async def test_two_hundred_sessions_replayed_against_themselves_have_no_divergence(part, recorded, replayed):
    chosen = random.Random(part)  # noqa: S311 - generates test data
    for _ in range(50):
        prompts = generated(chosen)
        stored = await recorded(prompts)
        report = await replayed(stored, prompts)
        assert (report.divergence, report.error) == (None, None), prompts
        assert all(row.has_equal_calls and not row.distance for row in report.rows), prompts


@pytest.mark.parametrize("seed", range(5))
async def test_a_seeded_change_is_found_at_its_prompt(seed, recorded, replayed):
    chosen = random.Random(seed)  # noqa: S311 - generates test data
    prompts = [*generated(chosen), [asks("x"), [text("End.")]]]
    stored = await recorded(prompts)
    at = chosen.randrange(len(prompts))
    changed = [*prompts]
    changed[at] = [asks("seeded"), *prompts[at]]

    report = await replayed(stored, changed)

    assert report.divergence.turn == at + 1
    assert report.divergence.call.arguments == {"at": "seeded"}


def generated(chosen):
    """A random session: up to four prompts, with up to three answers that call up to three times."""
    names = ["a", "b", "nothing", "é 'x'", 'c"\\d', "long " * 50]
    return [
        [
            *(
                [*asks(*chosen.choices(names, k=chosen.randint(1, 3))), text(chosen.choice(names))]
                for _ in range(chosen.randint(0, 3))
            ),
            [text(chosen.choice(names))],
        ]
        for _ in range(chosen.randint(1, 4))
    ]


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_the_distance_of_texts_lies_between_0_and_1_and_is_0_for_equal_ones(one, other):
    assert 0 <= text_distance(one, other) <= 1
    assert text_distance(one, one) == 0
