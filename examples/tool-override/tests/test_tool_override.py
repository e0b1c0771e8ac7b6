"""The plugin's read is used in place of pi's, and hands on to it."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(entry_points=["tools"])


async def test_secrets_are_refused_the_rest_is_read_and_all_is_noted(pi_session, script, tmp_path, pi_agent_dir):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / ".env").write_text("KEY=secret")
    script.turn(tool_call("read", path="a.txt", offset=2), tool_call("read", path=".env")).turn(text("Done."))

    await pi_session.prompt("look")

    read, refused = script.requests[1].tool_results
    assert read.text == "two\n"
    assert refused.is_error
    assert "'.env' may hold a secret" in refused.text
    assert (pi_agent_dir / "read.log").read_text() == "read a.txt\nrefused .env\n"
