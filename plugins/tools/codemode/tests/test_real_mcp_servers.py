"""A session of code mode over MCP servers of other people; ``tools/install_mcp_servers.py`` installs them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import pi_codemode
from pi_testing import text, tool_call

pi_mcp = pytest.importorskip("pi_mcp")

FOLDER = Path(__file__).parents[4] / ".mcp-servers"
NODE, PYTHON = FOLDER / "node" / "node_modules" / ".bin", FOLDER / "python" / "bin"
SERVERS = {
    "memory": {"command": str(NODE / "mcp-server-memory")},
    "all": {"command": str(NODE / "mcp-server-everything"), "args": ["stdio"]},
    "time": {"command": str(PYTHON / "mcp-server-time"), "args": ["--local-timezone", "UTC"]},
}
SCRIPT = """
ports = ["Brest", "Lorient", "Vannes"]
await mcp.memory.create_entities(entities=[
    {"name": port, "entityType": "port", "observations": [f"{len(port)} metres"]} for port in ports
])
graph, now, *echoes = await gather(
    mcp.memory.read_graph(),
    mcp.time.get_current_time(timezone="Europe/Paris"),
    *(mcp.all.echo(message=port) for port in ports),
)
try:
    await mcp.time.get_current_time(timezone="Atlantis/Nowhere")
    refused = ""
except ToolError as error:
    refused = str(error)
picture = await mcp.all.get_tiny_image()
{
    "ports": sorted(each["name"] for each in graph["entities"]),
    "echoes": [port in echo for port, echo in zip(ports, echoes)],
    "paris": "Europe/Paris" in str(now),
    "refused": "Atlantis" in refused,
    "pictures": [len(each.data) > 100 for each in picture.images],
}
"""

pytestmark = [
    pytest.mark.slow,  # each starts programs that take seconds
    pytest.mark.pi(plugins={"codemode": pi_codemode, "mcp": pi_mcp}),
    pytest.mark.skipif(
        not all(Path(each["command"]).exists() for each in SERVERS.values()),
        reason="the servers are not installed; run tools/install_mcp_servers.py",
    ),
]


@pytest.fixture
def servers(pi_agent_dir, tmp_path):
    """Configure the servers: only scripts can call their tools."""
    memory = {**SERVERS["memory"], "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}}
    rows = {name: {**row, "exposure": "codemode"} for name, row in {**SERVERS, "memory": memory}.items()}
    (pi_agent_dir / "mcp.json").write_text(json.dumps({"mcpServers": rows}))


async def connected(session):
    for _ in range(1200):
        if len({each.namespace for each in session.get_all_tools() if each.namespace}) == len(SERVERS):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("not all servers have connected within a minute")


async def test_one_script_works_with_three_servers_whose_tools_the_request_does_not_declare(
    servers, pi_session, script
):
    script.turn(text("Ready.")).turn(tool_call("codemode", code=SCRIPT)).turn(text("Done."))
    await pi_session.prompt("hello")
    await connected(pi_session)
    await pi_session.prompt("go")

    result = script.requests[-1].tool_results[-1]
    assert not result.is_error, result.text
    assert result.details["value"] == {
        "ports": ["Brest", "Lorient", "Vannes"],
        "echoes": [True, True, True],
        "paris": True,
        "refused": True,
        "pictures": [True],
    }
    assert len(result.details["calls"]) == 8
    request = script.requests[1]
    assert "codemode" in request.tools
    assert not [name for name in request.tools if name.startswith("mcp__")]
    assert "mcp.memory.read_graph" in request.system_prompt
