"""What a row of the report says is what happens: order of rules, names, models, and what is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pi_import.commands import _OWN
from pi_import.sessions.codex import _output as codex_output
from pi_testing import for_each

DOCS = Path(__file__).resolve().parents[4] / "docs"
SKILL = "---\nname: {0}\ndescription: {1}\n---\nx\n"


def why(machine, *arguments):
    """Return outcome and reason of each thing, by kind and name."""
    return {f"{row['kind']} {row['name']}": (row["outcome"], row["why"]) for row in machine.rows(*arguments)}


def rules(machine):
    return [
        (rule["action"], rule.get("command") or rule.get("path"))
        for rule in machine.read(".pi/settings.json")["guardrails"]["rules"]
    ]


def test_what_claude_code_denies_comes_before_what_it_asks_about_in_whichever_file(machine):
    machine.write(
        {
            ".claude/settings.json": json.dumps(
                {"permissions": {"ask": ["Read(./**)", "Bash(docker:*)"], "deny": ["Read(./.env)"]}}
            ),
            ".claude/settings.local.json": json.dumps({"permissions": {"deny": ["Bash(docker rm:*)"]}}),
        }
    )

    machine.run("claude", "--approve", "--yes")

    assert rules(machine) == [
        ("deny", "./.env"),
        ("deny", "docker rm"),
        ("deny", "docker rm *"),
        ("ask", "./**"),
        ("ask", "docker"),
        ("ask", "docker *"),
    ]


def test_a_rule_of_a_later_import_comes_before_the_weaker_ones_of_an_earlier_one(machine):
    machine.write({".claude/settings.json": json.dumps({"permissions": {"ask": ["Bash(git:*)"]}})})
    machine.run("claude", "--approve", "--yes")
    machine.write(
        {".claude/settings.json": json.dumps({"permissions": {"ask": ["Bash(git:*)"], "deny": ["Bash(git push)"]}})}
    )

    machine.run("claude", "--approve", "--yes")

    assert rules(machine) == [("deny", "git push"), ("ask", "git"), ("ask", "git *")]


def test_rules_of_opencode_keep_their_order_whatever_their_rows_say(machine):
    machine.write(
        {"opencode.json": json.dumps({"permission": {"read": {"src/**": "ask", "*.env": "deny", "a.env": "ask"}}})}
    )

    machine.run("opencode", "--approve", "--yes")

    assert rules(machine) == [("ask", "a.env"), ("deny", "*.env"), ("ask", "src/**")]


def test_a_project_allows_nothing_and_its_user_does(machine):
    allowed = json.dumps({"permissions": {"allow": ["Bash(git:*)"], "deny": ["Bash(rm)"]}})
    machine.write({".claude/settings.json": allowed, "~/.claude/settings.json": allowed})

    found = {(row["scope"], row["name"]): row for row in machine.rows("claude", "--approve", "--yes")}

    assert rules(machine) == [("deny", "rm")]
    assert found["project", "allow Bash(git:*)"]["outcome"] == "not"
    assert "in your own settings.json" in found["project", "allow Bash(git:*)"]["why"]
    assert found["user", "allow Bash(git:*)"]["outcome"] == "taken"


def test_the_switch_of_the_guard_is_one_row(machine):
    machine.write(
        {
            ".claude/settings.json": json.dumps({"permissions": {"deny": ["Bash(a)"]}}),
            ".claude/settings.local.json": json.dumps({"permissions": {"deny": ["Bash(b)"]}}),
        }
    )

    names = [row["name"] for row in machine.rows("claude", "--approve", "--dry-run")]

    assert names.count("guardrails.enabled") == 1


def test_front_matter_that_is_not_yaml_keeps_its_texts_and_its_differences(machine):
    machine.write(
        {
            ".claude/commands/fix.md": "---\nargument-hint: [issue] [priority]\ndescription: Fix: it\n"
            "allowed-tools: Bash(gh:*)\n---\nFix $1\n"
        }
    )

    (row,) = machine.rows("claude", "--approve")

    assert (row["outcome"], row["why"]) == ("differently", "its tools are not restricted")
    assert machine.read(".pi/prompts/fix.md") == (
        '---\ndescription: "Fix: it"\nargument-hint: "[issue] [priority]"\n---\nFix $1\n'
    )


def test_a_command_that_pi_has_itself_gets_another_name(machine):
    machine.write({".claude/commands/compact.md": "Mine\n"})

    found = why(machine, "claude", "--approve")

    assert found == {"command /compact": ("differently", "as /my-compact, because pi has a command /compact")}
    assert machine.read(".pi/prompts/my-compact.md") == "Mine\n"


def test_all_commands_of_pi_are_known():
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("commands.md", "line-mode.md"))

    assert set(re.findall(r"^\| `/([a-z-]+)", pages, re.MULTILINE)) - set(_OWN.split()) == set()


def test_named_arguments_of_codex_are_reported_and_all_arguments_reach_the_model(machine):
    machine.write({"~/.codex/prompts/fix.md": "Fix $FILE, $$HOME, $1\n"})

    (row,) = machine.rows("codex")

    assert row["why"] == "pi does not replace $FILE; the model gets all arguments"
    assert machine.read("prompts/fix.md").endswith("\n\n$ARGUMENTS\n")


def test_a_skill_or_an_agent_that_pi_cannot_offer_is_not_called_taken_over(machine):
    machine.write(
        {
            ".claude/skills/good/SKILL.md": SKILL.format("good", "Good"),
            ".claude/skills/bare/SKILL.md": "no front matter\n",
            ".claude/skills/colon/SKILL.md": SKILL.format("colon", "Use when: asked"),
            ".claude/agents/good.md": "---\ndescription: Use when: asked\n---\nx\n",
            ".claude/agents/bare.md": "x\n",
        }
    )

    found = why(machine, "claude", "--approve", "--dry-run")

    assert {name: outcome for name, (outcome, _) in found.items()} == {
        "skill good": "taken",
        "skill bare": "not",
        "skill colon": "not",
        "agent good": "already",
        "agent bare": "not",
    }
    assert found["agent bare"][1] == "its front matter has no description, by which the model chooses"
    assert found["skill colon"][1].startswith("its front matter is broken YAML")


def test_a_hook_whose_matcher_would_close_all_tools_is_left_out(machine):
    hooks = [{"matcher": each, "hooks": [{"type": "command", "command": "true"}]} for each in ("(", "*", "Edit|Write")]
    machine.write({"~/.claude/settings.json": json.dumps({"hooks": {"PreToolUse": hooks}})})

    found = why(machine, "claude")

    assert found["hook PreToolUse (: true"] == ("not", "its matcher is not a regular expression")
    assert [group.get("matcher") for group in machine.read("hooks.json")["hooks"]["PreToolUse"]] == ["*", "Edit|Write"]


def test_settings_that_nothing_corresponds_to_are_one_row(machine):
    for name, content in (
        ("~/.claude/settings.json", json.dumps({"language": "german", "cleanupPeriodDays": 9, "$schema": "x"})),
        ("~/.codex/config.toml", "personality = 'friendly'\nfile_opener = 'vscode'\n"),
        ("~/.config/opencode/opencode.json", json.dumps({"username": "me", "watcher": {"ignore": []}})),
        ("~/.gemini/settings.json", json.dumps({"privacy": {"a": 1}, "security": {"b": 2}})),
        ("~/.aider.conf.yml", "analytics: true\nchat-language: German\n"),
    ):
        machine.write({name: content})
    expected = {
        "claude": "language, cleanupPeriodDays",
        "codex": "personality, file_opener",
        "opencode": "username, watcher",
        "gemini": "privacy, security",
        "aider": "analytics, chat-language",
    }

    for agent, names in expected.items():
        assert why(machine, agent) == {
            f"setting {names}": ("not", "pi import does not know them; pi help settings lists pi's settings")
        }


def test_a_model_that_pi_does_not_list_is_used_as_it_is_and_the_row_says_so(machine):
    machine.write(
        {
            "~/.claude/settings.json": json.dumps({"model": "claude-next-9", "effortLevel": "max"}),
            "~/.gemini/settings.json": json.dumps({"model": {"name": "auto"}}),
        }
    )

    found = why(machine, "claude")

    assert found["model claude-next-9"] == (
        "differently",
        "pi does not list this model of anthropic; it uses the name as it is",
    )
    assert found["setting effort max"] == ("taken", "")
    assert machine.read("settings.json")["defaultThinkingLevel"] == "max"
    assert why(machine, "gemini") == {"model auto": ("not", "pi chooses no model for each request; /model selects one")}


def test_folders_and_files_outside_the_project_are_reported(machine, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "evil.md").write_text("x")
    machine.write({"opencode.json": json.dumps({"instructions": ["../outside/*.md"]}), ".claude/x": ""})
    (machine.work / ".claude" / "commands").symlink_to(tmp_path / "outside")

    assert why(machine, "claude", "--approve") == {"setting commands": ("not", "it is a link out of the project")}
    assert why(machine, "opencode", "--approve") == {"instructions evil.md": ("not", "it is outside the project")}


@for_each(("agent", "name"), [("claude", "CLAUDE.md"), ("gemini", "GEMINI.md")])
def test_instructions_of_subfolders_are_named(agent, name, machine):
    machine.write(
        {
            f"packages/api/{name}": "x",
            f"packages/web/{name}": "x",
            f"node_modules/x/{name}": "x",
            f".hidden/{name}": "x",
            f"a/b/c/d/e/{name}": "x",
        }
    )

    found = why(machine, agent, "--approve")

    assert {key: outcome for key, (outcome, _) in found.items() if "packages" in key} == {
        f"instructions packages/api/{name}, packages/web/{name}": "not"
    }
    assert len(found) == 1


def test_everything_that_waits_for_trust_is_listed(machine):
    names = (".mcp.json", ".claude/rules/a.md", ".claude/CLAUDE.md", ".claude/agents/a.md", ".claude/settings.json")
    machine.write(dict.fromkeys(names, "{}"))

    assert {row["name"] for row in machine.rows("claude")} == {
        ".mcp.json",
        ".claude/rules",
        ".claude/CLAUDE.md",
        ".claude/agents",
        ".claude/settings.json",
    }


def test_servers_say_where_they_are_which_are_off_and_which_were_for_one_folder(machine):
    machine.write(
        {
            ".mcp.json": json.dumps({"mcpServers": {"a": {"command": "a"}}}),
            ".claude/settings.json": json.dumps({"disabledMcpjsonServers": ["a"]}),
            "~/.claude.json": json.dumps({"projects": {"@WORK@": {"mcpServers": {"b": {"command": "b"}}}}}),
        }
    )

    rows = {(row["name"], row["outcome"]): (row["source"], row["why"]) for row in machine.rows("claude", "--approve")}

    assert rows == {
        ("a", "already"): (".mcp.json", "pi reads it where it is, and asks before it starts the server"),
        ("a", "not"): (".claude/settings.json", "it is disabled there: pi mcp disable a -l disables it here, too"),
        ("b", "differently"): ("~/.claude.json", "it was for this folder alone, and starts in every folder here"),
    }


def test_agents_of_codex_become_agent_files(machine):
    machine.write(
        {
            "~/.codex/agents/reviewer.toml": 'name = "reviewer"\ndescription = "Reviews"\nmodel = "gpt-5.2"\n'
            'developer_instructions = """\nReview.\n"""\n',
            "~/.codex/agents/broken.toml": "name = [",
        }
    )

    found = why(machine, "codex")

    assert found["agent reviewer"] == ("differently", "model is left out")
    assert found["agent broken"][0] == "not"
    assert machine.read("agents/reviewer.md") == '---\nname: reviewer\ndescription: "Reviews"\n---\nReview.\n'


@for_each("text", ['{/* c */ "model": "opus"}', '{"model": "opus", // c\n /* d\n e */ }', '{"model": "opus" /* } */}'])
def test_json_with_comments_is_read(text, machine):
    machine.write({"~/.claude/settings.json": text})

    assert why(machine, "claude", "--dry-run")["model opus"][0] == "differently"


def test_tools_that_opencode_does_not_offer_are_denied(machine):
    machine.write({"opencode.json": json.dumps({"tools": {"webfetch": False, "bash": True, "unknown": False}})})

    found = why(machine, "opencode", "--approve")

    assert found["permission tools webfetch off"][0] == "taken"
    assert found["permission tools unknown off"] == ("not", "pi has no tool of this name")
    assert machine.read(".pi/settings.json")["guardrails"]["rules"] == [{"tool": "fetch", "action": "deny"}]


def test_lists_and_files_are_described_in_words(machine):
    machine.write(
        {
            ".claude/settings.json": json.dumps(
                {"permissions": {"additionalDirectories": ["../a", "../b"], "allow": [""]}}
            )
        }
    )
    (machine.work / ".claude" / "commands").mkdir()
    (machine.work / ".claude" / "commands" / "latin.md").write_bytes(b"caf\xe9")

    found = why(machine, "claude", "--approve")

    assert sorted(found) == ["command /latin", "permission additionalDirectories ../a, ../b"]
    assert found["command /latin"][1] == "it is not text in UTF-8"


@pytest.mark.parametrize(
    ("metadata", "failed"),
    [({"exit_code": 0}, False), ({"exit_code": 1}, True), ({"exit_code": None}, False), ({}, False), (None, False)],
    ids=str,
)
def test_a_command_of_codex_failed_only_if_it_has_an_exit_code(metadata, failed):
    content, is_error = codex_output(json.dumps({"output": "done", "metadata": metadata}))

    assert (content[0].text, is_error) == ("done", failed)
