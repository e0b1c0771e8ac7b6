"""The contract that holds for every front end, over lines of JSON."""

from __future__ import annotations

import json

import pytest

from pi_testing import ModeContract

pytestmark = pytest.mark.slow


class TestRpc(ModeContract):
    mode = "rpc"
    supports = frozenset(("talks", "dialogs"))
    failed_code = 0

    def typed(self, prompt):
        return json.dumps({"type": "prompt", "message": prompt}) + "\n"

    def agreed(self, output):
        asked = next(json.loads(line) for line in output.splitlines() if "extension_ui_request" in line)
        return json.dumps({"type": "extension_ui_response", "id": asked["id"], "confirmed": True}) + "\n"

    def check_output(self, out):
        assert all(isinstance(json.loads(line), dict) for line in out.splitlines())
