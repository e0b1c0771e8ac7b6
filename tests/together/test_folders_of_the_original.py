"""Three folders of users of the original 1.x, put together from its documentation, have the same effects here."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest

from pi_core import create_agent_session

SKILL = "---\nname: pdf-tools\ndescription: Fills in forms of PDF files.\n---\nUse the script.\n"
SHARED = {"lastChangelogVersion": "1.6.0", "enableInstallTelemetry": False}


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a context manager that starts a session with the files of an agent directory."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    agent_dir, cwd = tmp_path / "agent", tmp_path / "work"
    cwd.mkdir()

    @asynccontextmanager
    async def started(files, **options):
        for name, content in files.items():
            file = agent_dir / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        async with create_agent_session(cwd=cwd, agent_dir=agent_dir, **options) as session:
            yield session

    return started


def tools_of(session):
    return {tool.name for tool in session.agent.state.tools}


async def test_a_cloud_provider_with_a_stored_address_and_changed_tools(start):
    files = {
        "settings.json": {
            **SHARED,
            "defaultProvider": "azure",
            "defaultModel": "gpt-5.5",
            "defaultThinkingLevel": "high",
            "defaultTools": ["-write", "+grep"],
            "httpIdleTimeoutMs": "disabled",
            "quietStartup": "header",
            "compaction": {"enabled": False},
        },
        "auth.json": {
            "azure": {
                "type": "api_key",
                "key": "stored-key",
                "env": {"AZURE_OPENAI_BASE_URL": "https://tides.example/openai/v1"},
            }
        },
    }
    async with start(files) as session:
        auth = await session.models.get_api_key_and_headers(session.model)

        assert (session.model.id, session.thinking_level) == ("gpt-5.5", "high")
        assert auth.api_key == "stored-key"
        assert auth.env["AZURE_OPENAI_BASE_URL"] == "https://tides.example/openai/v1"
        assert {"read", "bash", "edit", "grep"} <= tools_of(session)
        assert "write" not in tools_of(session)
        assert session.settings.get("compaction.enabled") is False
        assert [each for each in session.problems() if "settings" in each] == []


async def test_an_own_server_with_instructions_skills_and_templates(start):
    files = {
        "settings.json": {**SHARED, "defaultProvider": "ollama-box", "defaultModel": "qwen3-coder", "theme": "dusk"},
        "models.json": {
            "$schema": "https://elsewhere.test/models.schema.json",
            "providers": {
                "ollama-box": {
                    "baseUrl": "http://127.0.0.1:9/v1",
                    "api": "openai-completions",
                    "apiKey": "ollama",
                    "compat": {"supportsDeveloperRole": False, "maxTokensField": "max_tokens"},
                    "models": [
                        {
                            "id": "qwen3-coder",
                            "name": "Qwen3 Coder",
                            "reasoning": True,
                            "input": ["text", "image"],
                            "contextWindow": 65_536,
                            "maxTokens": 8_192,
                            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                            "thinkingLevelMap": {"off": "none", "xhigh": "max"},
                        }
                    ],
                },
                "anthropic": {"modelOverrides": {"claude-opus-5": {"name": "Opus", "maxTokens": 4_096}}},
            },
        },
        "AGENTS.md": "Answer like the tide table.",
        "APPEND_SYSTEM.md": "Name the harbour.",
        "prompts/review.md": "---\ndescription: Reviews a file\n---\nReview $1 for $2.\n",
        "skills/pdf-tools/SKILL.md": SKILL,
    }
    async with start(files) as session:
        commands = {each.name for each in await session.get_commands()}
        prompt = (await session.runtime.prompts.build()).text
        overridden = session.models.get_model("anthropic", "claude-opus-5")
        model = session.model

        assert (model.reference, model.name, model.context_window) == ("ollama-box/qwen3-coder", "Qwen3 Coder", 65_536)
        assert model.compat["maxTokensField"] == "max_tokens"
        assert model.thinking_level_map["xhigh"] == "max"
        assert await session.models.get_api_key("ollama-box") == "ollama"
        assert (overridden.name, overridden.max_tokens) == ("Opus", 4_096)
        assert "Answer like the tide table." in prompt
        assert "Name the harbour." in prompt
        assert "Fills in forms of PDF files." in prompt
        assert {"review", "skill:pdf-tools"} <= commands
        assert [each for each in session.problems() if "models.json" in each] == []


async def test_servers_that_are_switched_off_and_models_to_cycle_through(start, tmp_path):
    touched = tmp_path / "started"
    files = {
        "settings.json": {
            **SHARED,
            "defaultProvider": "anthropic",
            "defaultModel": "claude-opus-5",
            "enabledModels": ["anthropic/claude-opus-5:high", "anthropic/*haiku-5-5"],
            "extensions": ["-builtin:mcp"],
            "skills": ["~/elsewhere"],
            "hideThinkingBlock": True,
        },
        "auth.json": {"anthropic": {"type": "api_key", "key": "stored-key"}},
        "mcp.json": {"mcpServers": {"tides": {"command": "touch", "args": [str(touched)]}}},
        "keybindings.json": {"app.session.new": "ctrl+shift+n", "tui.altScreen.pageUp": []},
        "SYSTEM.md": "You are a tide table.",
    }
    async with start(files) as session:
        prompt = (await session.runtime.prompts.build()).text
        scope = session.models.scope(session.settings.get("enabledModels"))

        assert session.model.reference == "anthropic/claude-opus-5"
        assert "You are a tide table." in prompt
        assert "expert coding assistant" not in prompt
        assert [each.model.id for each in scope.models] == ["claude-opus-5", "claude-haiku-5-5"]
        assert not any("tides" in name for name in tools_of(session))
        assert session.settings.get("hideThinkingBlock") is True
    assert not touched.exists()
