"""The full screen: every command of ``/help`` in sessions of every kind."""

from __future__ import annotations

import pytest
from journey.kinds import KINDS, TOOL_CALLS
from journey.matrix import lines_of, without_arguments
from journey.screen import Screen

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


def test_each_tool_that_is_offered_has_a_call(state_of, server):
    state = state_of(KINDS["with everything on"])

    assert state.session is not None
    assert {"bash", "task", "todo"} <= server.tools()
    assert server.tools() <= TOOL_CALLS.keys()
