"""The guard on duty: what it lets through, asks about and refuses, and what the model gets to read."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import pi_guardrails
from pi_core import FanOutUI, Settings
from pi_testing import for_each, make_tool, text, tool_call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pi_core import AgentSession
    from pi_testing import FakeTool, FakeUI, ScriptedProvider

ON: dict[str, Any] = {"enabled": True}

pytestmark = pytest.mark.pi(plugins={"guardrails": pi_guardrails}, settings={"guardrails": ON})


def ruled(*rules: Any, **more: Any) -> pytest.MarkDecorator:
    return pytest.mark.pi(settings={"guardrails": {**ON, "rules": list(rules), **more}})


async def run(session: AgentSession, script: ScriptedProvider, name: str = "bash", /, **arguments: Any) -> str:
    script.turn(tool_call(name, arguments=arguments)).turn(text("ok"))
    await session.prompt("please")
    results = [message for message in session.messages if message.role == "toolResult"]
    return results[-1].content[0].text


async def test_a_harmless_command_runs_unasked(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    await run(pi_session, script, command="ls -la")

    assert len(fake_tools["bash"].calls) == 1
    assert not fake_ui.asked


async def test_a_dangerous_command_runs_when_the_user_says_yes(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    fake_ui.answers(True)

    await run(pi_session, script, command="rm -rf build")

    assert len(fake_tools["bash"].calls) == 1
    question = fake_ui.asked[0].text
    assert question.startswith("rm -rf build\n\ndelete: it deletes folders")
    assert fake_ui.asked[0].options == ("Allow once", "Always allow", "Refuse")


async def test_a_refusal_names_rule_reason_and_how_to_allow(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    fake_ui.answers(False)

    result = await run(pi_session, script, command="rm -rf build")

    assert not fake_tools["bash"].calls
    assert result.startswith("Guardrails refused this call (delete): it deletes folders and everything in them")
    assert "the user was asked and refused" in result
    assert "guardrails.rules" in result


async def test_a_question_that_nobody_answers_is_not_reported_as_a_refusal_by_the_user(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    pi_session.ui, pi_session.has_ui = FanOutUI(wait=0.01), True

    result = await run(pi_session, script, command="rm -rf build")

    assert not fake_tools["bash"].calls
    assert "nobody was there to answer within" in result
    assert "the user was asked" not in result


async def test_without_anybody_to_ask_the_call_is_refused(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    pi_session.has_ui = False

    result = await run(pi_session, script, command='echo "unclosed')

    assert not fake_tools["bash"].calls
    assert "there is no user to ask" in result
    assert not fake_ui.asked


async def test_what_is_never_allowed_is_not_asked(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    await run(pi_session, script, command="rm -rf /")

    assert not fake_tools["bash"].calls
    assert not fake_ui.asked


@pytest.mark.parametrize("name", ["write", "edit"])
@pytest.mark.parametrize(
    "path", [".env", "sub/../.env", "link", "@.env", ".git/hooks/pre-commit", "~/.ssh/config", "/etc/hosts"]
)
async def test_protected_files_are_asked_about_whatever_they_are_called(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_tools: dict[str, FakeTool],
    fake_ui: FakeUI,
    tmp_path: Path,
    name: str,
    path: str,
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / ".env")
    fake_ui.answers(False)
    more = {"content": "x"} if name == "write" else {"oldText": "a", "newText": "b"}

    result = await run(pi_session, script, name, path=path, **more)

    assert "-path)" in result
    assert not fake_tools[name].calls


@pytest.mark.parametrize("path", ["src/app.py", ".env.example", "environment.txt", "gitignore"])
async def test_other_files_are_written_unasked(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], path: str
) -> None:
    await run(pi_session, script, "write", path=path, content="x")

    assert len(fake_tools["write"].calls) == 1


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("~/notes.txt", "outside"),
        ("/notes.txt", "outside"),
        (".envrc", "runs-later"),
        (".husky/pre-commit", "runs-later"),
    ],
)
async def test_files_elsewhere_and_files_that_run_later_are_asked_about(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], path: str, rule: str
) -> None:
    pi_session.has_ui = False

    result = await run(pi_session, script, "write", path=path, content="x")

    assert f"({rule})" in result
    assert not fake_tools["write"].calls


@pytest.mark.parametrize(
    "path",
    [
        *("AGENTS.md", "sub/AGENTS.MD", "CLAUDE.md", ".mcp.json", ".claude/agents/x.md", ".agents/skills/x/SKILL.md"),
        *(
            ".gitmodules",
            ".gitattributes",
            "tests/conftest.py",
            ".zed/tasks.json",
            ".hg/hgrc",
            ".idea/x.xml",
        ),
        *(".jj/repo/config.toml", "opencode.json", ".clinerules", ".roo/mcp.json", ".continue/config.yaml"),
        *(".aider.conf.yml", ".travis.yml", ".drone.yml", "Jenkinsfile", "azure-pipelines.yml", ".direnv/x.rc"),
        *("bitbucket-pipelines.yml", ".yarn/releases/yarn.cjs", ".github/workflows/ci.yml"),
    ],
)
async def test_files_that_agents_git_and_tests_follow_are_asked_about(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI, path: str
) -> None:
    fake_ui.answers(False)

    result = await run(pi_session, script, "write", path=path, content="x")

    assert "runs-later" in result
    assert fake_tools["write"].calls == []


async def test_the_question_shows_what_is_dangerous_in_a_long_command(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    fake_ui.answers(False)
    harmless = "\n".join(f"echo line {number}" for number in range(120))

    await run(pi_session, script, "bash", command=f"{harmless}\nrm -rf ~/Music\n{harmless}\nrm -rf ~/Videos")

    shown = fake_ui.asked[0].text
    assert "echo line 0\n" in shown
    assert "/Music" in shown
    assert shown.endswith("rm -rf ~/Videos\n\ndelete: it deletes folders and everything in them.")
    assert len(shown) < 4000
    assert not fake_tools["bash"].calls


@ruled(protectedPaths=["!.envrc"])
async def test_a_name_that_the_user_takes_out_is_written_unasked(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    await run(pi_session, script, "write", path=".envrc", content="x")

    assert len(fake_tools["write"].calls) == 1


async def test_settings_of_the_guard_are_guarded(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    fake_ui.answers(False)

    result = await run(pi_session, script, "write", path=str(pi_agent_dir / "settings.json"), content="{}")

    assert "protected-path" in result


@ruled({"command": "git push *", "action": "allow"}, {"command": "make *", "action": "deny", "reason": "use just"})
@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("git push --force", True),
        ("git push --force && rm -rf /", False),
        ("git push --force; make all", False),
        ("git push --force > .env", False),
        ("env make all", False),
    ],
)
async def test_a_rule_speaks_of_one_simple_command(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_tools: dict[str, FakeTool],
    command: str,
    runs: bool,
) -> None:
    pi_session.has_ui = False

    await run(pi_session, script, command=command)

    assert bool(fake_tools["bash"].calls) == runs


@ruled({"path": "./generated/**", "action": "deny"}, {"path": ".env.local", "action": "allow"})
@pytest.mark.parametrize(
    ("name", "arguments", "runs"),
    [
        ("write", {"path": "generated/a/b.py", "content": ""}, False),
        ("read", {"path": "generated/a/b.py"}, False),
        ("bash", {"command": "touch generated/x"}, False),
        ("bash", {"command": "echo x > generated/x"}, False),
        ("write", {"path": ".env.local", "content": ""}, True),
        ("write", {"path": ".env", "content": ""}, False),
    ],
)
async def test_a_rule_may_speak_of_files(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_tools: dict[str, FakeTool],
    name: str,
    arguments: dict[str, str],
    runs: bool,
) -> None:
    pi_session.has_ui = False

    await run(pi_session, script, name, **arguments)

    assert bool(fake_tools[name].calls) == runs


@ruled({"tool": "bash", "action": "allow"})
async def test_a_rule_for_a_whole_tool_allows_what_is_not_understood(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    await run(pi_session, script, command='echo "unclosed')

    assert len(fake_tools["bash"].calls) == 1


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"command": "x"}, "guardrails.rules must be a list"),
        (["x"], "guardrails.rules[0] must be an object"),
        ([{"action": "allow"}, {"action": "maybe"}], "guardrails.rules[1].action must be 'allow', 'ask' or 'deny'"),
        ([{"action": "ask", "pth": "x"}], "unknown key 'pth'"),
        ([{"action": "ask", "path": 3}], "guardrails.rules[0].path must be a string"),
        ([{"action": "ask", "path": "x", "command": "y"}], "both command and path"),
    ],
)
async def test_wrong_rules_shut_the_gate_and_say_so(
    session_of: Callable[[Settings], Awaitable[AgentSession]],
    tmp_path: Path,
    script: ScriptedProvider,
    fake_tools: dict[str, FakeTool],
    rules: Any,
    problem: str,
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"guardrails": ON}))
    session = await session_of(Settings.load(tmp_path, tmp_path, trust=False))
    file.write_text(json.dumps({"guardrails": {**ON, "rules": rules}}))
    session.settings.reload()

    result = await run(session, script, command="ls")

    assert not fake_tools["bash"].calls
    assert problem in result


@ruled(protectedPaths=["secrets", "!.env"])
@pytest.mark.parametrize(("path", "runs"), [("secrets/a.txt", False), ("a/secrets", False), (".env", True)])
async def test_the_user_adds_and_takes_out_protected_names(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], path: str, runs: bool
) -> None:
    pi_session.has_ui = False

    await run(pi_session, script, "write", path=path, content="x")

    assert bool(fake_tools["write"].calls) == runs


async def test_the_users_own_command_is_judged_too(pi_session: AgentSession, fake_ui: FakeUI) -> None:
    result = await pi_session.execute_bash("rm -rf /")

    assert result.cancelled
    assert "delete-root" in result.output


@pytest.mark.pi(settings={})
async def test_it_is_off_by_default(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    await run(pi_session, script, command="rm -rf /")

    assert len(fake_tools["bash"].calls) == 1
    assert not pi_session.hooks.listens("tool_call")


def test_importing_the_plugin_imports_no_parser() -> None:
    code = (
        "import sys, pi_guardrails; print([n for n in sys.modules if n.startswith(('pi_guardrails.', 'tree_sitter'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


async def test_always_is_a_rule_that_counts_at_once_and_can_be_undone(
    session_of: Callable[[Settings], Awaitable[AgentSession]],
    tmp_path: Path,
    script: ScriptedProvider,
    fake_tools: dict[str, FakeTool],
    fake_ui: FakeUI,
) -> None:
    other = {"tool": "bash", "command": "sudo *", "action": "deny"}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"guardrails": {**ON, "rules": [other]}}))
    session = await session_of(Settings.load(tmp_path, tmp_path, trust=False))
    fake_ui.answers("always", False)

    await run(session, script, command="rm -rf build*")
    await run(session, script, command="rm -rf build*")
    await run(session, script, command="rm -rf builder")

    assert len(fake_tools["bash"].calls) == 2
    assert "delete: it deletes folders" in fake_ui.asked[0].text
    assert "protected-path: it may change" in fake_ui.asked[0].text
    allowed, *paths, denied = await session.ctx.list_permissions()
    assert [(each.store, each.what, each.allowed) for each in (allowed, denied)] == [
        ("Guard rules", "bash rm -rf build[*]", True),
        ("Guard rules", "bash sudo *", False),
    ]

    for each in (allowed, *paths):
        await session.ctx.remove_permission(each)

    assert json.loads(file.read_text())["guardrails"]["rules"] == [other]
    fake_ui.answers(False)
    await run(session, script, command="rm -rf build*")
    assert len(fake_tools["bash"].calls) == 2


@pytest.mark.pi(tools=[make_tool("powershell")])
async def test_each_command_of_powershell_is_asked_about(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    fake_ui.answers(False)

    refused = await run(pi_session, script, "powershell", command="Remove-Item -Recurse C:\\")

    assert "it runs PowerShell, which is not analysed; the user was asked and refused" in refused
    assert fake_ui.asked[0].text.startswith("Remove-Item -Recurse")


ASKED = "the user was asked and refused"
POWERSHELL = {
    "guardrails": {
        "enabled": True,
        "rules": [
            {"tool": "powershell", "command": "remove-item*", "action": "deny", "reason": "nothing is removed"},
            {"tool": "powershell", "command": "Get-*", "action": "allow"},
        ],
    }
}


@for_each(
    ("command", "outcome"),
    [
        ("Get-ChildItem -Path src", "ran"),
        ("get-content 'a b.txt'", "ran"),
        ("Set-Content a.txt x", ASKED),
        ("Get-ChildItem | Remove-Item", "nothing is removed"),
        ("Get-Date; REMOVE-ITEM -Recurse x", "nothing is removed"),
        ("Get-Item (rm x)", ASKED),
        ("Get-Item $(Invoke-Expression $x)", ASKED),
        ("Get-Item `\nx", ASKED),
        ("Get-Date\nSet-Date 0", ASKED),
        ("Get-Process | Stop-Process", ASKED),
        ("Get-Process | Get-Item", ASKED),
        ("", ASKED),
    ],
)
@pytest.mark.pi(tools=[make_tool("powershell", "ran")], settings=POWERSHELL)
async def test_rules_for_powershell_allow_one_plain_command_and_deny_any_part(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, command: str, outcome: str
) -> None:
    if outcome == ASKED:
        fake_ui.answers(False)

    assert outcome in await run(pi_session, script, "powershell", command=command)


@pytest.mark.pi(settings={"guardrails": {"limits": {"run": {"requests": 2}}, "protectedPaths": ["x"]}})
async def test_settings_without_the_switch_are_named_at_the_start(pi_session: AgentSession, fake_ui: FakeUI) -> None:
    messages = [each.message for each in fake_ui.notices]

    assert messages == ["guardrails.limits, guardrails.protectedPaths has no effect: guardrails.enabled is not set."]


@pytest.mark.pi(settings={"guardrails": {"enabled": False, "protectedPaths": ["x"]}})
async def test_a_guard_that_was_switched_off_is_not_mentioned(pi_session: AgentSession, fake_ui: FakeUI) -> None:
    assert fake_ui.notices == []
