"""docs/reference/misbehaviour.md is made from the table of plugins that misbehave, which the journeys run."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODES = {"print", "screen"}


def test_every_row_is_tried_and_a_mode_that_a_kind_lacks_has_a_reason(monkeypatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "journeys")
    table = import_module("journey.hostile")

    assert [row for row in table.ROWS if not (row.is_printed or row.is_on_screen)] == []
    for name, kind in table.KINDS.items():
        assert bool(kind.why) is (set(kind.modes) != MODES), name
        assert {*kind.few} <= {*kind.does}, name


def test_the_page_is_what_the_script_writes() -> None:
    script = ROOT / "tools" / "build_misbehaviour_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr
