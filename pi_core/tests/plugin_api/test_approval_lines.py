"""Approvals at the terminal of a command that has no session."""

from __future__ import annotations

import io

import pytest

from pi_core.plugin_api.approval_lines import approve_on_line
from pi_hookspecs import Approval, approval_choices
from pi_testing import for_each

ASKED = Approval(
    "Install these\x1b[2J packages?",
    what="tides 1.0\nwaves 2.0",
    why="A plugin is code.",
    choices=approval_choices(always="until the list changes"),
)

SHOWN = """\
Install these\\x1b[2J packages?
  tides 1.0
  waves 2.0
  A plugin is code.
  y  Allow once
  a  Always allow: until the list changes
  n  Refuse
"""


@for_each(
    ("typed", "answer"),
    [
        *(("y\n", "once"), (" YES \n", "once"), ("a\n", "always"), ("n\n", None), ("no\n", None), ("\n", None)),
        *(("", None), ("what?\ny\n", "once"), ("1\n2\n3\ny\n", None)),
    ],
)
def test_a_key_answers_and_anything_else_refuses(typed: str, answer: str | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(typed))
        patch.setattr("sys.stderr", said := io.StringIO())

        assert approve_on_line(ASKED) == answer
    assert said.getvalue().startswith(f"{SHOWN}Answer [y/a/N]: ")
    assert ("'what?' is not one of them; pressing Enter alone refuses." in said.getvalue()) is typed.startswith("what")
