"""Code mode is loaded where it is enabled, or where an MCP server has tools that only scripts can call."""

from __future__ import annotations

import json

import pi_codemode
from pi_core import Settings
from pi_core.host.conditions import condition_of, is_met
from pi_testing import for_each

PLAIN = {"command": "tides"}


@for_each(
    ("file", "entry", "settings", "loaded"),
    [
        (None, None, {}, False),
        (None, None, {"enabled": True}, True),
        ("agent/mcp.json", PLAIN, {}, False),
        ("agent/mcp.json", {**PLAIN, "exposure": "deferred"}, {}, False),
        ("agent/mcp.json", {**PLAIN, "exposure": "code"}, {}, True),
        ("project/.mcp.json", {**PLAIN, "toolExposure": {"wind": "codemode"}}, {}, True),
        ("project/.pi/mcp.json", {**PLAIN, "exposure": "codemode"}, {}, True),
    ],
)
def test_the_file_of_servers_alone_is_no_reason(tmp_path_factory, file, entry, settings, loaded):
    folder = tmp_path_factory.mktemp("when")
    (folder / "agent").mkdir()
    (folder / "project" / ".pi").mkdir(parents=True)
    if file is not None:
        (folder / file).write_text(json.dumps({"mcpServers": {"tides": entry}}, indent=2))
    found = Settings.in_memory({"codemode": settings}, folder / "agent")

    assert is_met(condition_of(pi_codemode), found, folder / "project") is loaded
