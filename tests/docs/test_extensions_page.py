"""The extension on the page docs/extensions.md works unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_core.host.extensions import LocalExtensions
from pi_core.host.extensions.needs import dependencies_of
from pi_testing import text, tool_call

PAGE = (Path(__file__).parents[2] / "docs" / "extensions.md").read_text(encoding="utf-8")
EXAMPLE, REPLACES, NEEDS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def pi_host(pi_agent_dir, tmp_path):
    """A host with the page's extension."""
    (pi_agent_dir / "extensions").mkdir()
    (pi_agent_dir / "extensions" / "todo.py").write_text(EXAMPLE)
    host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir), installed=False)
    LocalExtensions(host, cwd=tmp_path).load()
    return host


async def test_the_example_keeps_a_to_do(pi_session, fake_ui):
    await pi_session.prompt("/todo buy milk")

    assert [notice.message for notice in fake_ui.notices] == ["Kept: buy milk"]


def test_the_block_is_read():
    assert dependencies_of(NEEDS) == ("httpx>=0.28",)


@pytest.mark.pi(entry_points=["tools"])
class TestReplacing:
    @pytest.fixture
    def pi_host(self, pi_agent_dir, tmp_path):
        (pi_agent_dir / "extensions").mkdir()
        (pi_agent_dir / "extensions" / "secrets.py").write_text(REPLACES)
        host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir))
        LocalExtensions(host, cwd=tmp_path).load()
        return host

    async def test_the_tool_delegates_to_the_one_that_it_has_replaced(self, pi_session, script, tmp_path):
        (tmp_path / "a.txt").write_text("one\n")
        script.turn(tool_call("read", path="a.txt"), tool_call("read", path=".env")).turn(text("Done."))

        await pi_session.prompt("look")

        read, refused = script.requests[1].tool_results
        assert read.text == "one\n"
        assert "'.env' may hold a secret" in refused.text
