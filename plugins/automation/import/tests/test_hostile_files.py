"""Files of other agents that are broken, hostile or huge: nothing fails, and nothing leaves its place."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import Settings
from pi_import.agents import AGENTS
from pi_import.commands import template_of
from pi_import.permissions import claude_rules, codex_rules, gemini_rules, opencode_rules
from pi_import.place import LARGEST, Place
from pi_import.sessions import aider, claude, codex, gemini, opencode
from pi_import.tool_forms import from_claude, to_claude
from pi_testing import for_each

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=12,
)
CONFIG = {
    "claude": (".claude/settings.json", "~/.claude.json", ".mcp.json"),
    "codex": ("~/.codex/config.toml", "~/.codex/hooks.json", "~/.codex/rules/a.rules"),
    "opencode": ("opencode.json", "~/.config/opencode/opencode.json"),
    "gemini": (".gemini/settings.json", "~/.gemini/settings.json"),
    "aider": (".aider.conf.yml", "~/.aider.conf.yml"),
}
BROKEN = (
    "",
    "{",
    "[]",
    "null",
    "\0",
    "{" * 100_000,
    '{"a": ' * 5000,
    "\ud800".encode("utf-8", "surrogatepass"),
    "a = [",
)


@pytest.mark.slow
@for_each("agent", list(AGENTS))
def test_broken_files_are_reported_and_nothing_is_written(agent, tmp_path, monkeypatch, capsys):
    from pi_core import PluginHost
    from pi_import.command import run

    home, work, own = (tmp_path / agent / name for name in ("home", "work", "agent"))
    for folder in (home, work, own):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(own))
    monkeypatch.chdir(work)
    for content in BROKEN:
        for name in CONFIG[agent]:
            file = home / name[2:] if name.startswith("~/") else work / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

        code = run([agent, "--approve", "--json"], PluginHost(Settings.load(work)))
        rows = json.loads(capsys.readouterr().out)

        assert (code, [row for row in rows if row["outcome"] not in ("not", "already")]) == (0, [])


def test_links_out_of_the_project_are_not_followed(machine):
    secret = machine.home / "secret.md"
    secret.write_text("the key")
    machine.write({".claude/commands/ok.md": "fine", "GEMINI.md": "@link.md\n"})
    (machine.work / ".claude" / "commands" / "leak.md").symlink_to(secret)
    (machine.work / "link.md").symlink_to(secret)
    (machine.work / ".claude" / "skills").symlink_to(machine.home)
    (machine.home / "x").mkdir()
    (machine.home / "x" / "SKILL.md").write_text("x")

    outcomes = machine.outcomes("claude", "--approve")
    machine.run("gemini", "--approve")

    assert (outcomes["command /ok"], outcomes["command /leak"]) == ("taken", "not")
    assert [path for path, data in machine.snapshot().items() if b"the key" in data] == []
    assert not [key for key in outcomes if key.startswith("skill") and outcomes[key] != "not"]


def test_a_huge_file_is_not_read(machine):
    machine.write({".claude/commands/big.md": "x" * (LARGEST + 1), ".claude/settings.json": " " * (LARGEST + 1)})

    rows = {row["name"]: row["why"] for row in machine.rows("claude", "--approve")}

    assert "1,048,577 bytes" in rows["/big"]
    assert "1,048,577 bytes" in rows["settings.json"]


def test_control_characters_in_names_do_not_reach_the_terminal(machine):
    machine.write({"~/.claude/commands/a\x1b]0;X\x07.md": "x", "~/.claude/skills/s\n\x1b[2J/SKILL.md": "x"})
    rules = {
        "permissions": {"deny": ["Bash(\x1b]0;OWNED\x07)"]},
        "hooks": {"Stop": [{"hooks": [{"command": "\x1b[2J"}]}]},
    }
    machine.write({"~/.claude/settings.json": json.dumps(rules)})

    _, out, err = machine.run("claude", "--dry-run")

    assert {each for each in out + err if not each.isprintable()} <= {"\n"}


def test_what_the_user_wrote_is_kept(machine):
    (machine.agent / "prompts").mkdir()
    (machine.agent / "prompts" / "review.md").write_text("mine")
    (machine.agent / "AGENTS.md").write_text("My own.\n")
    (machine.agent / "settings.json").write_text(
        json.dumps(
            {"defaultModel": "rules", "guardrails": {"enabled": False, "rules": [{"command": "ls", "action": "ask"}]}}
        )
    )
    (machine.agent / "models.json").write_text('{"providers": {} // mine\n}')
    machine.write(
        {
            "~/.claude/CLAUDE.md": "Theirs.\n",
            "~/.claude/commands/review.md": "theirs",
            "~/.claude/settings.json": json.dumps({"model": "opus", "permissions": {"deny": ["Bash(rm:*)"]}}),
            "~/.codex/config.toml": 'model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://p"\n',
        }
    )

    outcomes = machine.outcomes("claude")
    codex_code, *_ = machine.run("codex", "--yes")

    assert (outcomes["command /review"], outcomes["model opus"]) == ("not", "not")
    assert outcomes["setting guardrails.enabled"] == "not"
    assert machine.read("prompts/review.md") == "mine"
    assert machine.read("AGENTS.md").startswith("My own.\n\n<!-- from ~/.claude/CLAUDE.md")
    settings = machine.read("settings.json")
    assert settings["defaultModel"] == "rules"
    assert {"command": "ls", "action": "ask"} in settings["guardrails"]["rules"]
    assert (machine.agent / "models.json").read_text() == '{"providers": {} // mine\n}'
    assert codex_code == 0


@pytest.mark.slow
@pytest.mark.hypothesis
@given(JSON)
def test_no_permissions_fail(value):
    for written in (value, {"deny": value, "allow": [value]}, {"bash": value, "tools": value, "excludeTools": value}):
        for function in (claude_rules, opencode_rules):
            for _, _, rules, _ in function(written, "f"):
                assert all({"tool", "action"} <= rule.keys() for rule in rules)
        if isinstance(written, dict):
            list(gemini_rules(written, "f"))


@pytest.mark.hypothesis
@given(st.text(max_size=80))
def test_no_text_of_rules_or_commands_fails(text):
    list(codex_rules(text, "f"))
    list(codex_rules(f"prefix_rule(pattern=[{text!r}])", "f"))
    list(claude_rules({"deny": [text, f"Bash({text})", f"Read({text})"]}, "f"))
    template_of(text, {"description": text, "argument-hint": text}, [])


@pytest.mark.hypothesis
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4), st.sampled_from(["bash", "read", "edit", "write", "x"]))
def test_a_call_survives_the_way_to_claude_code_and_back(arguments, name):
    theirs, form = to_claude(name, arguments, "/w")

    assert from_claude(theirs, form)[0] == name


@pytest.mark.hypothesis
@given(
    st.lists(
        JSON
        | st.fixed_dictionaries(
            {
                "type": st.sampled_from(["user", "assistant", "response_item"]),
                "uuid": st.just("u"),
                "message": JSON,
                "payload": JSON,
            }
        ),
        max_size=4,
    )
)
def test_no_transcript_fails(objects):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rollout-x.jsonl")
        file.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in objects) + b'{"type": "us')

        for module in (claude, codex):
            found = module.read(file)
            assert found is None or list(found.lines())


@pytest.mark.hypothesis
@given(
    st.fixed_dictionaries(
        {"id": st.just("m"), "sessionId": JSON, "type": st.sampled_from(["user", "gemini"]), "content": JSON},
        optional={"toolCalls": JSON, "thoughts": JSON, "tokens": JSON, "$set": JSON, "$rewindTo": st.just("m")},
    ),
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"])}, optional={"time": JSON, "providerID": JSON}
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "file", "tool", "reasoning", "step-finish"]), "callID": st.just("c")},
        optional={"text": JSON, "state": JSON, "tokens": JSON, "tool": st.just("edit"), "url": JSON, "metadata": JSON},
    ),
    st.text(max_size=60),
)
def test_no_stored_conversation_fails(record, message, part, text):
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "tmp/p/chats/session-1.jsonl": json.dumps(record),
            "tmp/p/chats/session-2.json": json.dumps(record),
            "tmp/p/.project_root": text,
            "storage/session/p/s.json": json.dumps(record),
            "storage/message/s/m.json": json.dumps(message),
            "storage/part/m/p.json": json.dumps(part),
            aider.HISTORY: f"# aider chat started at 2025-01-05 10:11:12\n#### x  \n{text}\n> Model: {text}  \n",
        }
        for name, content in files.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(content, encoding="utf-8")

        found = [*gemini.stored(Path(folder), None), *opencode.stored(Path(folder), None), *aider.stored(Path(folder))]

        assert len(found) == 4
        for each in found:
            transcript = each.read()
            assert transcript is None or list(transcript.lines())


@pytest.mark.hypothesis
@given(st.binary(max_size=200))
def test_any_bytes_are_read_as_an_object_or_reported(data):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(scope="user", root=Path(folder), target=Path(folder), settings=Settings.in_memory())
        for name in ("a.json", "a.toml"):
            file = Path(folder, name)
            file.write_bytes(data)
            assert isinstance(place.object_of(file), dict)
