"""docs/reference/sendable.md has every rule by which requests are made, with its source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pi_provider_kit import RULES, SOURCES, Rules

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_script_writes() -> None:
    script = ROOT / "tools" / "build_sendable_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_every_field_that_an_api_sets_has_a_source() -> None:
    sourced = {field for each in SOURCES for field in each.fields}
    defaults = Rules()
    used = {
        field
        for rules in RULES.values()
        for field in Rules._fields
        if getattr(rules, field) != getattr(defaults, field)
    }

    assert used - sourced == set()
    assert sourced <= set(Rules._fields)
    assert all(each.says and each.source for each in SOURCES)
