"""What ``pi import`` writes for parts whose form changes, and what it says without the extra ``mcp``."""

from __future__ import annotations

import json

import pytest

from pi_core import PluginHost, Settings
from pi_core.host.advice import install_command
from pi_import.command import run as run_command
from pi_import.commands import template_of
from pi_import.tool_forms import from_claude, from_codex, to_claude, to_gemini
from pi_testing import for_each


@for_each(
    ("body", "values", "expected"),
    [
        ("Fix $ARGUMENTS", {}, "Fix $ARGUMENTS\n"),
        ("Fix $ARGUMENTS[0] and $ARGUMENTS[1]", {}, "Fix $1 and $2\n"),
        ("From $0 to $1", {}, "From $1 to $2\n"),
        ("Costs $10", {}, "Costs $10\n"),
        ("State: !`git status`", {}, "State: (run `git status` and use its output)\n"),
        ("Diff: !{git diff --stat} @{a.md}", {}, "Diff: (run `git diff --stat` and use its output) @a.md\n"),
        ("x", {"description": 'a "b"', "model": "m"}, '---\ndescription: "a \\"b\\""\n---\nx\n'),
        ("x", {"argument-hint": ["file"]}, '---\nargument-hint: "[file]"\n---\nx\n'),
    ],
)
def test_a_command_becomes_a_template(body, values, expected):
    assert template_of(body, values, []) == expected


@for_each(
    ("ours", "theirs", "gemini"),
    [
        (("bash", {"command": "x", "timeout": 2}), ("Bash", {"command": "x", "timeout": 2000}), "run_shell_command"),
        (("read", {"path": "a", "offset": 3}), ("Read", {"file_path": "/w/a", "offset": 3}), "read_file"),
        (("write", {"path": "/a", "content": "c"}), ("Write", {"file_path": "/a", "content": "c"}), "write_file"),
        (
            ("edit", {"path": "/a", "edits": [{"oldText": "x", "newText": "y"}]}),
            ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}),
            "replace",
        ),
        (("find", {"pattern": "*.py"}), ("Glob", {"pattern": "*.py"}), "glob"),
        (("mcp__x__y", {"a": 1}), ("mcp__x__y", {"a": 1}), "mcp__x__y"),
    ],
)
def test_a_call_has_the_form_of_each_agent(ours, theirs, gemini):
    assert to_claude(*ours, "/w") == theirs
    assert to_gemini(*ours, "/w") == (gemini, theirs[1])
    back = from_claude(*theirs)
    assert back[0] == ours[0]
    assert back[1] == {**ours[1], **({"path": theirs[1]["file_path"]} if "file_path" in theirs[1] else {})}


@for_each(
    ("name", "arguments", "command"),
    [
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ("shell", {"command": ["git", "log", "a b"]}, "git log 'a b'"),
        ("exec_command", {"cmd": "make"}, "make"),
        ("shell_command", {"command": "make"}, "make"),
        ("shell", {"command": []}, ""),
    ],
)
def test_a_command_of_codex_is_one_of_bash(name, arguments, command):
    assert from_codex(name, arguments) == ("bash", {"command": command})


@pytest.mark.slow
def test_what_is_written_for_each_kind(machine):
    machine.write(
        {
            "~/.codex/config.toml": (
                'model = "m"\nmodel_provider = "p"\n[model_providers.p]\nname = "P"\nbase_url = "http://p/v1"\n'
                'env_key = "P_KEY"\nwire_api = "chat"\n'
            ),
            "~/.codex/rules/a.rules": 'prefix_rule(pattern=["git", ["push"]], decision="prompt", justification="Why")',
            ".opencode/agent/docs.md": "---\ndescription: Docs\ntools:\n  bash: false\nsteps: 5\n---\nWrite.\n",
            ".gemini/settings.json": json.dumps(
                {"hooks": {"BeforeTool": [{"matcher": "x", "hooks": [{"command": "c", "timeout": 5000}]}]}}
            ),
            ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: S\n---\nx\n",
        }
    )

    for agent in ("codex", "opencode", "gemini", "claude"):
        assert machine.run(agent, "--approve", "--yes")[0] == 0

    assert machine.read("models.json")["providers"] == {
        "p": {
            "baseUrl": "http://p/v1",
            "api": "openai-completions",
            "name": "P",
            "apiKey": "$P_KEY",
            "models": [{"id": "m"}],
        }
    }
    assert machine.read("settings.json")["guardrails"]["rules"] == [
        {"tool": "bash", "command": command, "action": "ask", "reason": "Why"} for command in ("git push", "git push *")
    ]
    assert machine.read(".pi/agents/docs.md") == (
        '---\nname: docs\ndescription: "Docs"\ndisallowedTools: ["bash"]\nmaxTurns: 5\n---\nWrite.\n'
    )
    assert machine.read(".pi/hooks.json")["hooks"] == {
        "PreToolUse": [
            {"matcher": "x", "agent": "gemini", "hooks": [{"type": "command", "command": "c", "timeout": 5.0}]}
        ]
    }
    assert machine.read(".pi/settings.json")["skills"] == ["../.claude/skills"]
    settings = Settings.load(machine.work, trust=True)
    assert settings.problems == []


def test_servers_without_the_extra_are_named_with_it(machine, monkeypatch, capsys):
    machine.write({"~/.claude.json": json.dumps({"mcpServers": {"db": {"command": "x"}}})})
    host = PluginHost(Settings.load(machine.work))
    find = host.find
    monkeypatch.setattr(host, "find", lambda hook, name: None if name == "mcp" else find(hook, name))

    run_command(["claude", "--dry-run"], host)

    assert "db  (~/.claude.json)" in (out := capsys.readouterr().out)
    assert f"it needs the extra mcp: {install_command('mcp')}, then pi import again" in out


def test_without_files_of_the_agent_there_is_nothing_to_do(machine):
    code, out, _ = machine.run("aider")

    assert code == 0
    assert out == "There is nothing of aider to import, neither in your home folder nor here.\n"
    assert machine.snapshot() == {}
