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


def test_a_default_model_whose_provider_has_no_key_is_a_warning(bench, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    bench.set("defaultProvider", "anthropic")
    bench.set("defaultModel", "claude-opus-4-5")
    host = PluginHost(Settings.load(bench.cwd, bench.agent_dir))

    (row,) = [each for each in surroundings(host) if each["check"] == "models"]

    assert row["state"] == "warning"
    assert row["message"] == "anthropic/claude-opus-4-5 is the default, and its provider has no key"


def test_a_default_model_that_does_not_exist_is_an_error(rows, bench):
    bench.set("defaultModel", "nope-1")

    assert [(state, "nope-1" in text) for check, state, text in rows(OPENAI_API_KEY="k") if check == "models"] == [
        ("error", True)
    ]


def test_a_program_that_is_missing_is_named(rows, tmp_path):
    missing = [text for check, _, text in rows(PATH=str(tmp_path)) if check == "programs"]

    assert missing == ["bash is not on PATH", "git is not on PATH"]


def test_files_of_other_agents_are_named_until_they_are_taken_over(rows, bench, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".codex" / "sessions").mkdir(parents=True)
    (bench.cwd / ".claude" / "commands").mkdir(parents=True)
    (bench.cwd / ".claude" / "settings.json").write_text("{}")

    named = [text for check, _, text in rows() if check == "other agents"]
    done = {"claude": [str(bench.cwd.resolve())], "codex": ["user"]}
    (bench.agent_dir / "imports.json").write_text(json.dumps(done))

    assert named == [
        "there are files of Claude Code: .claude/settings.json, .claude/commands",
        "there are files of codex: ~/.codex/sessions",
    ]
    assert [text for check, _, text in rows() if check == "other agents"] == []


def test_the_command_may_be_a_link_to_this_installation(rows, tmp_path):
    (tmp_path / "pi").symlink_to(Path(sys.executable).with_name("pi"))

    assert [text for check, _, text in rows(PATH=str(tmp_path)) if check == "command"] == []
