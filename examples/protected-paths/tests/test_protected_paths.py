"""Protected files stay as they are, by whatever path they are named."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call


@pytest.mark.parametrize("path", [".env", "src/../.env", ".git/config", "web/node_modules/x/index.js"])
@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_protected_file_is_not_written(tool, path, pi_session, script, fake_tools):
    script.turn(tool_call(tool, path=path), tool_call(tool, path="src/env.py")).turn(text("I will ask."))

    await pi_session.prompt("change it")

    assert script.requests[1].tool_results[0].text == f"{path!r} is protected. Ask the user to change it."
    assert fake_tools[tool].calls == [{"path": "src/env.py"}]


async def test_link_to_a_protected_file_is_protected(pi_session, script, fake_tools, tmp_path):
    (tmp_path / "harmless.txt").symlink_to(tmp_path / ".env")
    script.turn(tool_call("write", path="harmless.txt")).turn(text("I will ask."))

    await pi_session.prompt("change it")

    assert fake_tools["write"].calls == []
