"""Line mode: every command of ``/help`` in sessions of every kind."""

from __future__ import annotations

import pytest
from journey.kinds import KINDS
from journey.line import Line
from journey.matrix import lines_of

pytestmark = pytest.mark.journeys


@pytest.mark.parametrize("name", KINDS)
def test_every_command(name, state_of, server, record_property):
    state = state_of(KINDS[name])
    with Line(state, server) as line:
        for text in state.kind.live:
            line.enter(text)
        for text in lines_of([*line.commands()], str(state.session or "missing.jsonl")):
            line.command(text)
        line.ask()
        for text in [*line.asked]:
            line.take(text)
            line.ask()
        line.terminal.type("/quit\r")
        assert line.terminal.ends() == 0
    assert not state.processes()
    record_property("steps", line.tried)
