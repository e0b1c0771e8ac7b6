"""Journeys through the whole assembly, as it is installed: ``just journeys`` runs them, no other run does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from journey.installed import install
from journey.kinds import KINDS, Kind, State
from journey.model_server import ModelServer


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with the installed programs."""
    return install()


@pytest.fixture(scope="module")
def server():
    with ModelServer() as server:
        yield server


@pytest.fixture
def state_of(programs: Path, server: ModelServer, tmp_path: Path):
    """Make a state; at the end of the test, no process of it may be left."""
    made = []

    def make(kind: Kind) -> State:
        state = State(kind, tmp_path / str(len(made)), programs, server)
        made.append(state)
        return state

    yield make
    for state in made:
        assert not state.processes(), "processes are left"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest: at the end, all other workers would wait for it."""
    items.sort(key=lambda item: item.path.name != "test_subcommands.py")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many steps were checked in how many kinds of sessions."""
    passed = terminalreporter.stats.get("passed", [])
    steps = [value for report in passed for name, value in report.user_properties if name == "steps"]
    if steps:
        terminalreporter.write_line(
            f"journeys: {sum(steps)} commands and keys checked in {len(steps)} sessions of {len(KINDS)} kinds"
        )
