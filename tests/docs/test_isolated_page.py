"""docs/isolated-plugins.md: its example is the one there is, its members and its numbers are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pi_isolated.calls import known_members
from pi_isolated.process import CANCEL_GRACE, MAX_LINE
from pi_isolated.registering import UPDATES_PER_SECOND

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "isolated-plugins.md").read_text(encoding="utf-8")


def test_the_manifest_is_that_of_the_example():
    shown = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1]

    assert json.loads(shown) == json.loads((ROOT / "examples" / "no-force-push" / "pi_plugin.json").read_text())


def test_the_members_of_ctx_are_those_that_can_be_called():
    listed = PAGE.partition("The members are ")[2].partition(".\n\n")[0]

    assert re.findall(r"`([\w.]+)`", listed) == sorted(known_members())


def test_the_limits_are_those_of_the_code():
    assert f"of at most {MAX_LINE >> 20} MB in either direction" in PAGE
    assert f"within {CANCEL_GRACE:g} seconds" in PAGE
    assert f"at most {UPDATES_PER_SECOND} times a second" in PAGE
