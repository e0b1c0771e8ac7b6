"""The first answer: sent before the rest of pi is imported, whatever comes with the request or after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

REQUEST = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}\n'

UNTIL_ANSWERED = """
import sys
import types

def serve(host, stdin, stdout, greeted, options):
    sys.stderr.write(" ".join(sys.modules))
    return 0

serving = sys.modules["pi_acp.serving"] = types.ModuleType("pi_acp.serving")
serving.serve = serve
sys.argv = ["pi", "acp"]
from pi_cli import main
sys.exit(main())
"""


def test_the_first_answer_imports_no_event_loop_and_no_session(tmp_path):
    environ = {**os.environ, "HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
    for _ in range(2):  # the first start imports all plugins, for the index
        command = [sys.executable, "-c", UNTIL_ANSWERED]
        pi = subprocess.run(command, cwd=tmp_path, env=environ, input=REQUEST, capture_output=True, check=True)

    loaded = set(pi.stderr.decode().split())
    assert json.loads(pi.stdout)["result"]["protocolVersion"] == 1
    assert "pi_acp.greeting" in loaded
    heavy = {"asyncio", "httpx", "pi_acp.agent", "pi_core.hooks.dispatcher", "pi_core.session", "pi_core.conversation"}
    assert loaded & heavy == set()


async def test_what_is_written_together_with_the_first_request_is_answered(run_acp):
    async with run_acp() as editor:
        editor.process.stdin.write(REQUEST + b'{"jsonrpc": "2.0", "id": 2, "method": "no"}\n{"jsonrpc": "2.0", "id"')
        await editor.until(lambda: len(editor.messages) == 2)
        editor.process.stdin.write(b': 3, "method": "never"}\n')
        await editor.until(lambda: len(editor.messages) == 3)

        assert [(each["id"], "result" in each) for each in editor.messages] == [(1, True), (2, False), (3, False)]
        editor.sent[1] = "initialize"


async def test_the_first_request_may_come_in_pieces(run_acp):
    async with run_acp() as editor:
        editor.sent[1] = "initialize"
        for piece in (REQUEST[:20], REQUEST[20:60], REQUEST[60:]):
            editor.process.stdin.write(piece)
            await editor.process.stdin.drain()

        (answer,) = await editor.until(lambda: editor.messages)

        assert answer["result"]["agentInfo"]["name"] == "pi"


async def test_an_editor_that_goes_away_before_its_first_request_ends_pi(run_acp):
    async with run_acp() as editor:
        editor.process.stdin.write(REQUEST[:30])

        assert await editor.ended() == 0
        assert [each["error"]["code"] for each in editor.messages] == [-32700]
