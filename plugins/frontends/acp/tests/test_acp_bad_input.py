"""What goes wrong: broken lines, wrong parameters, no key, a provider that fails, plugins that print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # each starts programs that take seconds


async def error_of(editor, method: str, **params) -> tuple[int, str]:
    from acp.exceptions import RequestError

    with pytest.raises(RequestError) as caught:
        await editor.agent._conn.send_request(method, params)
    return caught.value.code, str(caught.value)


async def new(editor, folder: Path) -> str:
    return (await editor.agent.new_session(cwd=str(folder), mcp_servers=[])).session_id


BROKEN = {
    b'{"jsonrpc": "2.0", "id": 7, "method"': -32700,
    b"\xff\xfe": -32700,
    b"[" * 100_000: -32700,
    b"[]": -32600,
    b'{"jsonrpc": "2.0", "id": 7}': -32600,
    b'{"jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": [1]}': -32602,
    b'{"jsonrpc": "2.0", "id": 7, "method": "session/unknown"}': -32601,
}


@pytest.mark.slow
async def test_a_broken_line_is_answered_and_the_next_one_served(run_acp):
    async with run_acp() as editor:
        for line in BROKEN:
            editor.post(line)
        await editor.until(lambda: len(editor.messages) == len(BROKEN))

        assert [each["error"]["code"] for each in editor.messages] == [*BROKEN.values()]
        assert (await editor.start()).protocol_version == 1


async def test_unknown_notifications_and_answers_are_ignored(run_acp):
    async with run_acp() as editor:
        editor.post(b'{"jsonrpc": "2.0", "method": "session/whistle", "params": {}}')
        editor.post(b'{"jsonrpc": "2.0", "id": 99, "result": {}}')
        editor.post(b'{"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "?"}}')

        await editor.start()

        assert len(editor.messages) == 1


async def test_wrong_parameters_are_named(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)

        errors = {
            "relative": await error_of(editor, "session/new", cwd="work", mcpServers=[]),
            "absent": await error_of(editor, "session/new", cwd="/nowhere/at/all", mcpServers=[]),
            "cwd": await error_of(editor, "session/new", mcpServers=[]),
            "server": await error_of(editor, "session/new", cwd=str(work), mcpServers=[{"command": "x"}]),
            "prompt": await error_of(editor, "session/prompt", sessionId=session, prompt="Hello"),
            "audio": await error_of(editor, "session/prompt", sessionId=session, prompt=[{"type": "audio"}]),
            "mode": await error_of(editor, "session/set_mode", sessionId=session, modeId="yolo"),
            "model": await error_of(
                editor, "session/set_config_option", sessionId=session, configId="model", value="no"
            ),
            "method": await error_of(editor, "authenticate", methodId="fax"),
        }
        unknown = await error_of(editor, "session/prompt", sessionId="unknown", prompt=[])

        assert {code for code, _ in errors.values()} == {-32602}
        assert "'cwd' must be an absolute path, not 'work'" in errors["relative"][1]
        assert unknown[0] == -32002


async def test_without_a_key_signing_in_is_required(run_acp, work, tmp_path):
    agent_dir = tmp_path / "agent"
    agent_dir.mkdir()
    (agent_dir / "settings.json").write_text('{"defaultProvider": "anthropic", "defaultModel": "claude-sonnet-4-5"}')
    async with run_acp(PI_CODING_AGENT_DIR=str(agent_dir)) as editor:
        answer = await editor.start(auth={"terminal": True})

        code, message = await error_of(editor, "session/new", cwd=str(work), mcpServers=[])

        assert [each.type for each in answer.auth_methods] == ["terminal", "env_var"]
        assert code == -32000
        assert "ANTHROPIC_API_KEY" in message


async def test_a_failing_provider_is_an_error_with_its_text(run_acp, work):
    from acp.exceptions import RequestError

    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)

        with pytest.raises(RequestError, match=r"^overheated$"):
            await editor.say(session, "fail")

        assert (await editor.say(session, "long")).stop_reason == "max_tokens"


async def test_signing_out_removes_the_login_of_the_sessions(run_acp, work, tmp_path, acp_agent_dir):
    agent_dir = tmp_path / "agent"
    agent_dir.mkdir()
    (agent_dir / "settings.json").write_text((acp_agent_dir / "settings.json").read_text())
    keys = {name: {"type": "api_key", "key": "made-up"} for name in ("fake", "anthropic")}
    (agent_dir / "auth.json").write_text(json.dumps(keys))
    async with run_acp(PI_CODING_AGENT_DIR=str(agent_dir)) as editor:
        await editor.start()
        await new(editor, work)

        await editor.agent._conn.send_request("authenticate", {"methodId": "api-key"})
        await editor.agent._conn.send_request("logout", {})

        assert [*json.loads((agent_dir / "auth.json").read_text())] == ["anthropic"]


async def test_a_session_stays_open_when_it_cannot_be_loaded_again(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)

        code, _ = await error_of(editor, "session/load", sessionId=session, cwd="/nowhere/at/all", mcpServers=[])

        assert code == -32602
        assert (await editor.say(session, "Hello")).stop_reason == "end_turn"


async def test_what_plugins_print_goes_to_stderr(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)

        await editor.say(session, "/loud")
        await editor.ended()

        errors = (await editor.process.stderr.read()).decode()
        assert [word for word in ("printed", "written", "from a program") if word in errors] == [
            "printed",
            "written",
            "from a program",
        ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("sideways",), 2, "takes options only, not 'sideways'"),
        (("--thinking", "deep"), 2, "--thinking must be one of off, minimal, low, medium, high"),
        (("--model",), 2, "Option '--model' requires a value"),
        (("--modle", "x"), 1, "Unknown option of pi acp: --modle. Did you mean --model or"),
    ],
)
async def test_wrong_arguments_are_refused(run_acp, arguments, code, message):
    async with run_acp(after=arguments, code=code) as editor:
        errors = (await editor.process.stderr.read()).decode()

        assert message in errors
