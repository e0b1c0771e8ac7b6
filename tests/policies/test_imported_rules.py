"""Permissions of other agents, imported as rules of guardrails: what the guard then says about calls."""

from __future__ import annotations

import pytest

import pi_guardrails
from pi_guardrails.findings import worst
from pi_guardrails.guard import findings_of
from pi_guardrails.policy import Policy
from pi_import.permissions import claude_rules, codex_rules, gemini_rules, opencode_rules
from pi_testing import text, tool_call

CLAUDE = {
    "deny": ["Read(./.env)", "Read(./secrets/**)", "Bash(curl:*)", "Edit(*.lock)", "mcp__db__drop"],
    "ask": ["Bash(git push:*)", "Read(~/notes/**)"],
    "allow": ["Bash(rm -rf node_modules)", "Bash(git push --dry-run)", "Bash", "mcp__db"],
}
OPENCODE = {"bash": {"*": "ask", "git status*": "allow", "rm *": "deny"}, "edit": {"*": "deny", "docs/*.md": "allow"}}
GEMINI = {"tools": {"exclude": ["run_shell_command(rm)", "write_file"], "allowed": ["run_shell_command(rm -rf dist)"]}}
CODEX = """
prefix_rule(pattern=["git", ["push", "fetch"]], decision="prompt")
prefix_rule(pattern=["rm"], decision="forbidden")
"""

ROWS = [
    ("claude", "read", {"path": ".env"}, "deny"),
    ("claude", "read", {"path": "sub/../.env"}, "deny"),
    ("claude", "read", {"path": "src/.env.example"}, "allow"),
    ("claude", "read", {"path": "secrets/deep/key"}, "deny"),
    ("claude", "edit", {"path": "deep/uv.lock"}, "deny"),
    ("claude", "write", {"path": "uv.lock"}, "deny"),
    ("claude", "read", {"path": "uv.lock"}, "allow"),
    ("claude", "read", {"path": "~/notes/a.md"}, "ask"),
    ("claude", "bash", {"command": "curl"}, "deny"),
    ("claude", "bash", {"command": "ls && curl x"}, "deny"),
    ("claude", "bash", {"command": "curlew x"}, None),
    ("claude", "bash", {"command": "git push origin main"}, "ask"),
    ("claude", "bash", {"command": "git status"}, "allow"),
    ("claude", "bash", {"command": "rm -rf node_modules"}, "allow"),
    ("claude", "bash", {"command": "rm -rf /"}, "deny"),
    ("claude", "mcp__db__drop", {}, "deny"),
    ("opencode", "bash", {"command": "git status -s"}, "allow"),
    ("opencode", "bash", {"command": "rm x"}, "deny"),
    ("opencode", "bash", {"command": "ls"}, "ask"),
    ("opencode", "bash", {"command": "git status; ls"}, "ask"),
    ("opencode", "write", {"path": "a"}, "deny"),
    ("opencode", "edit", {"path": "docs/a.md"}, "allow"),
    ("gemini", "bash", {"command": "rm x"}, "deny"),
    ("gemini", "bash", {"command": "rm"}, "deny"),
    ("gemini", "write", {"path": "a"}, "deny"),
    ("gemini", "edit", {"path": "a"}, "allow"),
    ("codex", "bash", {"command": "git fetch --all"}, "ask"),
    ("codex", "bash", {"command": "git log"}, "allow"),
    ("codex", "bash", {"command": "sudo rm x"}, "deny"),
]


EVERYTHING = {
    "claude": [
        claude_rules({"allow": [written]}, "f")
        for written in (
            *(
                "Bash",
                "Bash()",
                "Bash(*)",
                "Bash(**)",
                "Bash(* *)",
                "Bash(*:*)",
                "Bash(:*)",
                "Bash( * )",
                "Bash(* * *)",
            ),
            *(
                "Bash(***)",
                "Bash(*\t*)",
                "Bash(* -*)",
                "Edit(**)",
                "Write(//**)",
                "Edit(*)",
                "Edit(~/**)",
                "Edit(**/*)",
            ),
        )
    ],
    "opencode": [
        opencode_rules({tool: {pattern: "allow", "x": "ask"}}, "f")
        for tool, pattern in (("bash", "*"), ("bash", "**"), ("bash", "* *"), ("edit", "**"), ("edit", "/**"))
    ],
    "gemini": [
        gemini_rules({"tools": {"allowed": [f"run_shell_command({each})"]}}, "f") for each in ("*", "**", "* *")
    ],
    "codex": [
        codex_rules(f"prefix_rule(pattern={each!r}, decision='allow')", "f") for each in (["*"], [""], [["", "x"]])
    ],
}
"""Ways to allow everything, which would turn the guard off."""


@pytest.mark.parametrize("agent", EVERYTHING)
def test_what_allows_everything_is_left_out_and_said(agent):
    for found in EVERYTHING[agent]:
        for written, _, ours, why in found:
            assert [rule for rule in ours if rule["action"] == "allow"] == [], written
            assert ours or "would stop that" in why, written


def rules(found):
    return [rule for _, _, ours, _ in found for rule in ours]


SETTINGS = {
    "claude": rules(claude_rules(CLAUDE, "f")),
    "opencode": rules(opencode_rules(OPENCODE, "f")),
    "gemini": rules(gemini_rules(GEMINI, "f")),
    "codex": rules(codex_rules(CODEX, "f")),
}


class Context:
    """What the guard reads of a session."""

    def __init__(self, settings, cwd):
        self.settings, self.cwd = settings, cwd

    def project_files(self):
        return ()


def test_the_guard_decides_about_each_call_as_the_other_agent_did(tmp_path):
    from pi_core import Settings

    wrong = []
    for agent, tool, arguments, verdict in ROWS:
        settings = Settings.in_memory({"guardrails": {"enabled": True, "rules": SETTINGS[agent]}}, tmp_path / "agent")
        policy = Policy.of(Context(settings, tmp_path))
        found = worst(policy.settle(findings_of(tool, arguments, policy), tool))
        if verdict is not None and (found.verdict if found is not None else "allow") != verdict:
            wrong.append((agent, tool, arguments, verdict, found))

    assert wrong == []


@pytest.mark.pi(
    plugins={"guardrails": pi_guardrails}, settings={"guardrails": {"enabled": True, "rules": SETTINGS["claude"]}}
)
async def test_a_session_with_these_rules_refuses_the_call(pi_session, script, fake_tools):
    script.turn(tool_call("read", arguments={"path": ".env"})).turn(text("ok"))

    await pi_session.prompt("show it")

    assert fake_tools["read"].calls == []
