"""The dependency does its work when the tool is called."""

from __future__ import annotations

import json

from pi_testing import text, tool_call


async def test_yaml_comes_as_json(pi_session, script, tmp_path):
    (tmp_path / "a.yaml").write_text("base: &base {colour: red}\ncar:\n  <<: *base\n  since: 2020-01-02\n")
    script.turn(tool_call("read_yaml", path="a.yaml")).turn(text("Red."))

    await pi_session.prompt("which colour?")

    output = json.loads(script.requests[1].tool_results[0].text)
    assert output["car"] == {"colour": "red", "since": "2020-01-02"}
