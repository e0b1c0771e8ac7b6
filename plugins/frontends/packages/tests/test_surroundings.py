"""``pi doctor`` also checks models, settings and programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_packages.surroundings import surroundings


@pytest.fixture
def rows(bench, monkeypatch):
    def found(**environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        return [(row["check"], row["state"], row["message"]) for row in json.loads(bench.run("doctor", "--json")[1])]

    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    return found


def test_without_a_key_it_says_where_to_get_one(rows):
    assert ("models", "warning", "no provider has a key or a login") in rows()


def test_with_a_key_it_says_which_model_is_used(bench, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    host = PluginHost(Settings.load(bench.cwd, bench.agent_dir))

    assert [row["state"] for row in surroundings(host) if row["check"] == "models"] == ["ok"]


def test_a_default_model_that_does_not_exist_is_an_error(rows, bench):
    bench.set("defaultModel", "nope-1")

    assert [(state, "nope-1" in text) for check, state, text in rows(OPENAI_API_KEY="k") if check == "models"] == [
        ("error", True)
    ]


def test_a_program_that_is_missing_is_named(rows, tmp_path):
    missing = [text for check, _, text in rows(PATH=str(tmp_path)) if check == "programs"]

    assert missing == ["bash is not on PATH", "git is not on PATH"]


def test_files_of_claude_code_that_pi_does_not_use_are_named(rows, bench):
    folder = bench.cwd / ".claude"
    (folder / "commands").mkdir(parents=True)
    (folder / "settings.json").write_text('{"permissions": {"deny": ["Read(./.env)"]}, "hooks": {}}')
    (folder / "settings.local.json").write_text("broken")
    (bench.cwd / "CLAUDE.local.md").write_text("x")

    assert [text for check, _, text in rows() if check == "claude code"] == [
        "pi does not use CLAUDE.local.md, .claude/commands, permissions and hooks in .claude/settings.json"
    ]


def test_the_command_may_be_a_link_to_this_installation(rows, tmp_path):
    (tmp_path / "pi").symlink_to(Path(sys.executable).with_name("pi"))

    assert [text for check, _, text in rows(PATH=str(tmp_path)) if check == "command"] == []
