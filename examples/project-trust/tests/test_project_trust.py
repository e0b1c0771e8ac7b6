"""Where a project lies decides whether what it brings along counts."""

from __future__ import annotations

import json

import pytest

from pi_core import PluginHost, ProjectTrust, Settings, ask_for_trust, create_agent_session
from pi_testing import text


@pytest.fixture
def thinking_in(tmp_path, pi_agent_dir, pi_plugins, script):
    """Prompt in a project that asks for a thinking level of its own; returns the level, and who decided."""

    async def thinking_in(folder):
        project = tmp_path / folder
        (project / ".pi").mkdir(parents=True)
        (project / ".pi" / "settings.json").write_text(json.dumps({"defaultThinkingLevel": "high"}))
        host = PluginHost(Settings.in_memory({"trustedFolders": [str(tmp_path / "work")]}), installed=False)
        for name, plugin in pi_plugins.items():
            host.add(plugin, name)
        trust = await ask_for_trust(host, ProjectTrust.decide(project, pi_agent_dir))
        settings = Settings.load(project, pi_agent_dir, trust=trust)
        plugins = {"script": script.turn(text("Done."))}
        async with create_agent_session(
            cwd=project, settings=settings, host=host, model=script.model, plugins=plugins
        ) as session:
            await session.prompt("go")
        return script.requests[-1].options.reasoning, trust.why

    return thinking_in


async def test_projects_below_a_trusted_folder_count(thinking_in):
    assert await thinking_in("work/acme") == ("high", "plugin 'project-trust' says so")


async def test_projects_in_downloads_do_not(thinking_in):
    assert await thinking_in("work/Downloads/acme") == ("medium", "plugin 'project-trust' says so")


async def test_of_others_it_has_no_opinion(thinking_in):
    levels = {(await thinking_in(folder))[0] for folder in ("work/acme", "elsewhere/acme")}

    assert levels == {"high", "medium"}
