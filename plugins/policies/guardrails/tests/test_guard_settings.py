"""Settings of the guard that cannot hold: no run begins before they are mended, and the error says where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pi_guardrails
from pi_core import PluginHost, Settings
from pi_guardrails.settings import is_enabled, limits_of
from pi_hookspecs import UserError
from pi_testing import text, tool_call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pi_core import AgentSession
    from pi_testing import FakeTool, ScriptedProvider

    SessionOf = Callable[[Settings], Awaitable[AgentSession]]

pytestmark = pytest.mark.pi(plugins={"guardrails": pi_guardrails})

NUMBER = "must be a number of at least 0, not"


def guarded(**settings: Any) -> pytest.MarkDecorator:
    return pytest.mark.pi(settings={"guardrails": settings})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"limits": {"run": {"requests": "5"}}}, f"guardrails.limits.run.requests {NUMBER} '5'"),
        ({"limits": {"run": {"tokens": -1}}}, f"guardrails.limits.run.tokens {NUMBER} -1"),
        ({"limits": {"session": {"dollars": True}}}, f"guardrails.limits.session.dollars {NUMBER} True"),
        ({"limits": {"run": {"toolCallsPerMinute": [3]}}}, f"guardrails.limits.run.toolCallsPerMinute {NUMBER} [3]"),
        ({"limits": {"run": 5}}, "guardrails.limits.run must be an object, not 5"),
        ({"limits": [5]}, "guardrails.limits must be an object, not [5]"),
        ({"limits": {"run": {"request": 5}}}, "guardrails.limits.run.request does not exist; use one of dollars, "),
        ({"limits": {"day": {}}}, "guardrails.limits.day does not exist; use one of run, session"),
        ({"rules": {"command": "x"}}, "guardrails.rules must be a list, not"),
        ({"rules": [{"action": "maybe"}]}, "guardrails.rules[0].action must be 'allow', 'ask' or 'deny', not 'maybe'"),
        ({"protectedPaths": "secrets"}, "guardrails.protectedPaths must be a list, not 'secrets'"),
        ({"protectedPaths": ["a", 3]}, "guardrails.protectedPaths[1] must be a name, not 3"),
        ({"enabled": "true"}, "guardrails.enabled must be true or false, not 'true'"),
        ({"enabled": 1}, "guardrails.enabled must be true or false, not 1"),
        ({"rule": []}, "guardrails.rule does not exist; use one of enabled, limits, protectedPaths, rules"),
    ],
)
async def test_settings_that_cannot_hold_refuse_the_run_and_name_file_key_and_value(
    session_of: SessionOf, script: ScriptedProvider, tmp_path: Path, given: dict[str, Any], problem: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"guardrails": {"enabled": True, **given}}, indent=1))
    session = await session_of(Settings.load(tmp_path, tmp_path, trust=False))
    script.turn(text("never said"))

    answer = await session.prompt("go")

    assert answer is not None
    assert answer.stop_reason == "error"
    assert f"Guardrails refuse every run until the settings are fixed: setting {problem}" in answer.error_message
    assert f"({file}:" in answer.error_message
    assert not script.requests


@guarded(enabled="on")
async def test_a_switch_that_is_neither_on_nor_off_refuses_the_users_own_commands_too(pi_session: AgentSession) -> None:
    result = await pi_session.execute_bash("ls")

    assert result.cancelled
    assert "guardrails.enabled must be true or false" in result.output


@pytest.mark.parametrize("settings", [{"guardrails": True}, {"guardrails": {"enable": True}}])
def test_a_guard_with_an_unclear_setting_stays_on(settings: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="guardrails"):
        is_enabled(Settings.in_memory(settings))


@guarded(enabled=False, limits={"run": {"requests": "5"}}, rule=[])
async def test_a_guard_that_is_off_refuses_nothing(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("said"))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.stop_reason == "stop"
    assert not pi_session.hooks.listens("tool_call")


def test_a_limit_without_end_is_none_that_holds() -> None:
    settings = Settings.in_memory({"guardrails": {"limits": {"run": {"dollars": float("inf")}}}})

    with pytest.raises(UserError, match="must be a number of at least 0, not inf"):
        limits_of(settings)


def test_a_limit_that_is_null_is_none() -> None:
    settings = Settings.in_memory({"guardrails": {"limits": {"run": {"requests": None, "tokens": 7}}}})

    assert limits_of(settings) == {("run", "tokens"): 7}


@pytest.mark.pi(entry_points=["budgets"])
@guarded(enabled=True, limits={"run": {"requests": "5"}})
async def test_mended_settings_let_the_next_run_begin(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("said"))
    refused = await pi_session.prompt("go")
    pi_session.settings.set("guardrails.limits.run.requests", 5)

    await pi_session.reload()
    answer = await pi_session.prompt("go")

    assert refused is not None
    assert refused.stop_reason == "error"
    assert answer is not None
    assert answer.stop_reason == "stop"


def settings_of(tmp_path: Path, everywhere: str | bytes, project: str = "") -> Settings:
    """Return the settings of a user's file and a trusted project's."""
    (tmp_path / "project" / ".pi").mkdir(parents=True)
    (tmp_path / "project" / ".pi" / "settings.json").write_text(project)
    file = tmp_path / "settings.json"
    file.write_bytes(everywhere if isinstance(everywhere, bytes) else everywhere.encode())
    settings = Settings.load(tmp_path / "project", tmp_path, trust=True, environ={})
    PluginHost(settings).declare_settings(settings)
    return settings


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"guardrails": {"enabled": true}\n "theme": "dark"}', "settings.json:2:2: Expecting ',' delimiter"),
        ('{"guardrails": {"limits": {"run": {"dollars": NaN}}}}', "settings.json: cannot be read: NaN is not JSON"),
        ('[{"guardrails": {"enabled": true}}]', "settings.json: must contain a JSON object, not "),
        ('{"theme": "dark",\n "guard', "settings.json:2:2: Unterminated string"),
        ('{"theme": {"name": "dark"}', "settings.json:1:27: Expecting ',' delimiter"),
        ('{"theme": tru', "settings.json:1:11: Expecting value"),
        ('{"theme": {"name": "dark"}\n// end', "settings.json:2:1: Expecting ',' delimiter"),
        (b'{"theme": "\xff"}', "settings.json: cannot be read: "),
    ],
)
async def test_a_broken_file_that_may_have_switched_the_guard_on_refuses_runs_and_commands(
    session_of: SessionOf, script: ScriptedProvider, tmp_path: Path, text: str | bytes, where: str
) -> None:
    session = await session_of(settings_of(tmp_path, text))

    answer = await session.prompt("go")
    command = await session.execute_bash("ls")

    assert answer is not None
    assert not script.requests
    for output in (answer.error_message, command.output):
        assert f"Guardrails refuse every run until the settings are fixed: {tmp_path / where}" in output
        assert ", in a file that may set guardrails. Edit the file" in output


@pytest.mark.parametrize(
    "typed",
    ['{"theme": "dark",}', '{"theme": dark}', '{"theme": "dark"} // mine', '// mine\r\n{"a": 1}\r\n\n // end\n', "[]"],
)
async def test_a_typing_mistake_unrelated_to_the_guard_refuses_nothing(
    session_of: SessionOf, script: ScriptedProvider, tmp_path: Path, typed: str
) -> None:
    session = await session_of(settings_of(tmp_path, typed))
    script.turn(text("said"))

    answer = await session.prompt("go")

    assert answer is not None
    assert answer.stop_reason == "stop"
    assert not session.hooks.listens("tool_call")


BROKEN = '{"guardrails": {"enabled": true} "theme": "dark"}'


def test_a_stronger_place_that_switches_the_guard_off_settles_it(tmp_path: Path) -> None:
    assert not is_enabled(settings_of(tmp_path, BROKEN, '{"guardrails": {"enabled": false}}'))


def test_a_weaker_place_that_switches_the_guard_off_does_not(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="in a file that may set guardrails"):
        is_enabled(settings_of(tmp_path, '{"guardrails": {"enabled": false}}', BROKEN))


async def test_a_file_that_breaks_while_the_guard_is_on_duty_shuts_the_gate(
    session_of: SessionOf, tmp_path: Path
) -> None:
    session = await session_of(settings_of(tmp_path, '{"guardrails": {"enabled": true, "rules": []}}'))
    (tmp_path / "settings.json").write_text(BROKEN)
    session.settings.reload()

    command = await session.execute_bash("ls")

    assert command.cancelled
    assert "Guardrails refuse every call until the settings are fixed" in command.output


@pytest.mark.parametrize(
    ("command", "problem"),
    [("curl x", "yours"), ("make deploy", "theirs"), ("make test", None)],
)
async def test_the_rules_of_a_trusted_project_add_to_the_users_rules(
    session_of: SessionOf,
    script: ScriptedProvider,
    fake_tools: dict[str, FakeTool],
    tmp_path: Path,
    command: str,
    problem: str | None,
) -> None:
    own = [
        {"command": "curl *", "action": "deny", "reason": "yours"},
        {"command": "make test", "action": "allow"},
    ]
    project = [
        {"command": "curl *", "action": "allow"},
        {"command": "make *", "action": "deny", "reason": "theirs"},
    ]
    (tmp_path / "agent").mkdir()
    (tmp_path / ".pi").mkdir()
    (tmp_path / "agent" / "settings.json").write_text(json.dumps({"guardrails": {"enabled": True, "rules": own}}))
    (tmp_path / ".pi" / "settings.json").write_text(json.dumps({"guardrails": {"rules": project}}))
    session = await session_of(Settings.load(tmp_path, tmp_path / "agent", trust=True))
    script.turn(tool_call("bash", arguments={"command": command})).turn(text("ok"))

    await session.prompt("go")

    refusals = [message.text for message in session.messages if message.role == "toolResult" and message.is_error]
    assert [problem in each for each in refusals] == ([True] if problem else [])
    assert bool(fake_tools["bash"].calls) is (problem is None)


async def test_a_mistake_in_the_users_rules_is_found_under_those_of_a_project(
    session_of: SessionOf, script: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / ".pi").mkdir()
    file = tmp_path / "agent" / "settings.json"
    file.write_text(json.dumps({"guardrails": {"enabled": True, "rules": [{"action": "maybe"}]}}))
    (tmp_path / ".pi" / "settings.json").write_text(json.dumps({"guardrails": {"rules": []}}))
    session = await session_of(Settings.load(tmp_path, tmp_path / "agent", trust=True))
    script.turn(text("never said"))

    answer = await session.prompt("go")

    assert answer is not None
    assert f"guardrails.rules[0].action must be 'allow', 'ask' or 'deny', not 'maybe' ({file})" in answer.error_message
