"""The contract that holds for every front end, over those of this distribution."""

from __future__ import annotations

import json

import pytest

from pi_testing import ModeContract

pytestmark = pytest.mark.slow


class TestPrint(ModeContract):
    mode = "print"


class TestJson(ModeContract):
    mode = "json"

    def check_output(self, out):
        assert all(isinstance(json.loads(line), dict) for line in out.splitlines())


class TestLine(ModeContract):
    mode = "line"
    supports = frozenset(("talks", "terminal", "dialogs"))
    ready = "> "
    failed_code = 0

    def agreed(self, output):
        return "y\n"
