"""What becomes of each part of fifteen homes and projects, and that a second import finds all of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from projects import PROJECTS, SECRET

each_project = pytest.mark.parametrize("name", PROJECTS)


@each_project
def test_every_part_has_its_outcome_and_a_second_import_finds_it_there(machine, name):
    agent, (files, expected) = PROJECTS[name]
    machine.write(files)

    dry = machine.outcomes(agent, "--approve", "--dry-run")
    untouched = machine.snapshot()
    first = machine.outcomes(agent, "--approve")
    written = machine.snapshot()
    second = machine.outcomes(agent, "--approve")

    assert dry == expected
    assert untouched == {}
    assert first == expected
    assert {key: value for key, value in second.items() if value in ("taken", "differently")} == {
        key: value for key, value in expected.items() if key == "instructions CLAUDE.md" and name == "claude old"
    }
    assert machine.snapshot() == written
    assert [path for path, data in written.items() if SECRET.encode() in data] == []


@each_project
def test_no_project_is_used_before_it_is_trusted(machine, name):
    agent, (files, _) = PROJECTS[name]
    machine.write({key: value for key, value in files.items() if not key.startswith("~/")})

    rows = machine.rows(agent)

    assert [row for row in rows if row["outcome"] != "not"] == []
    assert machine.snapshot() == {}
