"""The contract that holds for every tool, over the two of memory."""

from __future__ import annotations

import pytest

import pi_memory
from pi_testing import ToolContract, arguments

pytestmark = pytest.mark.pi(plugins={"memory": pi_memory}, settings={"memory": {"enabled": True}})


class TestRemember(ToolContract):
    tool = "remember"
    works = arguments(text="Prefers short answers")
    fails = arguments(text=" ")
    answers = (True,)


class TestForget(ToolContract):
    tool = "forget"
    works = arguments(text="short answers")
    fails = arguments(text="nobody wrote this")
    answers = (True,)

    @pytest.fixture(autouse=True)
    def _remembered(self, pi_agent_dir):
        text = "# Memory\n\n## Preferences\n- Prefers short answers\n- Prefers tea\n"
        (pi_agent_dir / "MEMORY.md").write_text(text)
