"""What a server says about its tools: its warnings count, and what would relax a guard only if the user trusts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_mcp.entries import read_entry
from pi_mcp.tools import _annotations

if TYPE_CHECKING:
    from pi_hookspecs import ToolAnnotations

HINTS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def annotations(hints, *, scope="user", **entry) -> ToolAnnotations:
    server, _ = read_entry("a", {"command": "x", **entry}, scope=scope, origin="mcp.json")
    return _annotations(server, {"name": "t", "annotations": hints})


@pytest.mark.parametrize(("scope", "entry"), [("user", {}), ("project", {"trustAnnotations": True}), ("plugin", {})])
def test_a_server_that_is_not_trusted_cannot_relax_anything(scope, entry):
    found = annotations(HINTS, scope=scope, **entry)

    assert (found.read_only, found.destructive, found.idempotent, found.open_world) == (None, None, None, None)


def test_the_users_trust_lets_it():
    found = annotations(HINTS, trustAnnotations=True)

    assert (found.read_only, found.destructive, found.idempotent, found.open_world) == (True, False, True, False)


def test_its_warnings_count_in_any_case():
    found = annotations({name: not value for name, value in HINTS.items()})

    assert (found.read_only, found.destructive, found.idempotent, found.open_world) == (False, True, False, True)
