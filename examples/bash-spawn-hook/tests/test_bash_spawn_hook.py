"""Commands of the model are started as the plugin says."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(entry_points=["tools"])


async def test_commands_see_the_variable_and_the_users_file(pi_session, script, tmp_path):
    (tmp_path / ".pi").mkdir()
    (tmp_path / ".pi" / "env").write_text("export STAGE=test\n")
    script.turn(tool_call("bash", command='echo "$PI_SPAWN_HOOK $STAGE"')).turn(text("Done."))

    await pi_session.prompt("go")

    assert script.requests[1].tool_results[0].text.strip() == "1 test"


async def test_without_the_file_commands_run_as_they_are(pi_session, script):
    script.turn(tool_call("bash", command="echo $PI_SPAWN_HOOK; pwd")).turn(text("Done."))

    await pi_session.prompt("go")

    assert script.requests[1].tool_results[0].text.splitlines() == ["1", str(pi_session.cwd)]
