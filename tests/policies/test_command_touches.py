"""Every slash command of pi's plugins declares what it touches, so that front ends with limits can permit it."""

from __future__ import annotations

import json

import pytest

from pi_core import create_agent_session

NOTHING = {"about", "budget", "cache", "compact", "diagnostics", "left-out", "redact", "sandbox", "todo"}
"""Commands that use the conversation alone."""


@pytest.mark.slow
async def test_every_command_of_pi_declares_what_it_touches(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "agent" / "agents").mkdir(parents=True)
    (tmp_path / "agent" / "agents" / "scout.md").write_text("---\nname: scout\ndescription: Looks.\n---\nLook.")
    settings = {"todo": {"enabled": True}, "codemode": {"enabled": True}, "agents": {"enabled": True}}
    (tmp_path / "agent" / "settings.json").write_text(json.dumps(settings))

    async with create_agent_session(model="offline/rules", cwd=tmp_path, agent_dir=tmp_path / "agent") as session:
        commands = session.runtime.registrations.find_all("register_commands").values()
        touched = {each.thing.name: each.thing.touches for each in commands}

    assert len(touched) > 12
    assert [name for name, touches in touched.items() if touches is None] == []
    assert {name for name, touches in touched.items() if not touches} <= NOTHING
