"""``codemode`` keeps what every tool promises."""

from __future__ import annotations

import pytest

import pi_codemode
import pi_tools
from pi_testing import ToolContract, arguments

pytestmark = pytest.mark.pi(
    plugins={"codemode": pi_codemode, "tools": pi_tools}, settings={"codemode": {"enabled": True}}
)


class TestCodeMode(ToolContract):
    tool = "codemode"
    works = arguments(code="1 + 1")
    fails = arguments(code="exit('There is no table for this day.')")
    takes_long = arguments(code="import asyncio\nawait asyncio.sleep(60)")
