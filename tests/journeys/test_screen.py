"""The full screen: every command of ``/help`` in sessions of every kind."""

from __future__ import annotations

import pytest
from journey.kinds import KINDS, SERVER_PROCESS, TOOL_CALLS, Kind, call
from journey.matrix import lines_of, without_arguments
from journey.screen import ALT_DOWN, ENTER, ESCAPE, SIZES, Screen

pytestmark = pytest.mark.journeys

WALKED = {"fresh", "with everything on"}
"""Kinds of sessions in which each list and dialog gets all keys and sizes."""

TURNS = 4
"""In the others, one of so many does, another one in each kind; the rest are opened, used once and closed."""


@pytest.mark.parametrize("name", KINDS)
def test_every_command(name, state_of, server, record_property):
    kind = KINDS[name]
    turn = [*KINDS].index(name)
    state = state_of(kind)
    with Screen(state, server) as screen:
        for line in kind.live:
            screen.enter(line)
        commands = screen.commands()
        assert not without_arguments(commands), "These take arguments, of which the matrix has none."
        for number, line in enumerate(lines_of([*commands], str(state.session or "missing.jsonl"))):
            screen.command(line, walk=name in WALKED or (number + turn) % TURNS == 0)
        screen.ask()
        for line in [*screen.opened]:
            screen.take(line)
            screen.ask()
        screen.terminal.type("/quit\r")
        assert screen.terminal.ends() == 0
    assert not state.processes()
    record_property("steps", screen.tried)


@pytest.mark.parametrize("size", SIZES)
def test_an_approval_is_remembered_and_undone(size, state_of, server):
    kind = Kind(settings={"guardrails": {"enabled": True}}, size=size, open=False)
    with Screen(state_of(kind), server) as screen:
        screen.enter(call("bash", command="rm -rf new"))
        screen.terminal.sees("Let bash do this?", "Allow once", "Always allow", "Refuse")
        screen.resized()
        screen.terminal.sees("Let bash do this?", "Allow once", "Always allow", "Refuse")
        screen.press("a")
        screen.back()
        screen.enter("/permissions")
        screen.terminal.sees("Remembered decisions", "allowed")
        screen.resized()
        screen.press(ENTER)
        screen.terminal.sees("Undo it")
        screen.press(ENTER)
        screen.back()
        screen.enter(call("bash", command="rm -rf new"))
        screen.terminal.sees("Allow once")
        screen.press("n")
        screen.ask()


@pytest.mark.parametrize("size", SIZES)
def test_what_runs_is_opened_and_stopped_from_the_strip(size, state_of, server):
    kind = Kind(settings={"agents": {"enabled": True}}, size=size, open=False)
    state = state_of(kind)
    with Screen(state, server) as screen:
        screen.enter(call("bash", **SERVER_PROCESS))
        screen.terminal.sees("▸ 1 process")
        screen.press(ALT_DOWN)
        screen.terminal.sees("Running and waiting", "tide g")
        screen.resized()
        screen.press(ENTER)
        screen.resized()
        screen.press(ESCAPE)
        screen.back()
        screen.press(ALT_DOWN)
        screen.press("s")
        screen.terminal.until(lambda: "▸" not in screen.terminal.text, "the end of the strip")
        screen.back()
        screen.ask()
        screen.terminal.type("/quit\r")
        assert screen.terminal.ends() == 0
    assert not state.processes()


def test_each_tool_that_is_offered_has_a_call(state_of, server):
    state = state_of(KINDS["with everything on"])

    assert state.session is not None
    assert {"bash", "task", "todo"} <= server.tools()
    assert server.tools() <= TOOL_CALLS.keys()
