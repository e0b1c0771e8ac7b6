"""An MCP server that the editor hands over is used in its session, where the plugin for MCP is installed."""

from __future__ import annotations

import json
import sys

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("pi_mcp", reason="needs pluggypi[mcp]")

SERVER = """
import json
import sys

TOOL = {
    "name": "depth",
    "description": "Depth of a harbour",
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "tides", "version": "1"}
    },
    "tools/list": {"tools": [TOOL]},
}
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request["method"], ANSWERS.get(request["method"])
    if method == "tools/call":
        parent = request["params"]["_meta"].get("traceparent")
        answer = {"content": [{"type": "text", "text": f"6 m, {sys.argv[1]}, {parent}"}]}
    if "id" not in request:
        continue
    result = {"result": answer} if answer else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **result}), flush=True)
"""

PARENT = f"00-{'a' * 32}-{'b' * 16}-01"


async def test_a_server_of_the_editor_offers_its_tools_and_gets_the_trace_of_the_prompt(run_acp, work, tmp_path):
    script = tmp_path / "tides.py"
    script.write_text(SERVER)
    server = {"name": "tides", "command": sys.executable, "args": [str(script), "high tide"], "env": []}
    prompt = [{"type": "text", "text": "call mcp__tides__depth {}"}]
    async with run_acp() as editor:
        await editor.start()
        send = editor.agent._conn.send_request
        made = await send("session/new", {"cwd": str(work), "mcpServers": [server]})
        asked = {"sessionId": made["sessionId"], "prompt": prompt, "_meta": {"traceparent": PARENT}}

        await send("session/prompt", asked)

        (question,) = editor.asked["session/request_permission"]
        result = editor.of("tool_call_update")[-1]
        assert question["toolCall"]["title"] == "mcp__tides__depth"
        assert (result["status"], PARENT in json.dumps(result["content"])) == ("completed", True)
        assert result["content"][0]["content"]["text"].partition("\n")[2].startswith("6 m, high tide")
