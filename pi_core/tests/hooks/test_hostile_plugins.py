"""Misbehaving plugins: the run continues, and the report names the plugin."""

from __future__ import annotations

import time

from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import hookimpl
from pi_testing import text


class Sleeper:
    @hookimpl
    def activate(self, pi):
        time.sleep(60)


async def test_activate_that_blocks_is_ended_by_the_timeout_of_the_settings(tmp_path, pi_agent_dir, script):
    script.turn(text("still here"))
    settings = Settings.in_memory({"hooks": {"timeout": 1}}, agent_dir=pi_agent_dir)
    session = create_agent_session(
        cwd=tmp_path,
        host=PluginHost(settings, installed=False),
        plugins={"script": script, "sleeper": Sleeper()},
        settings=settings,
        model=script.model,
    )
    errors = []
    session.subscribe(errors.append, "extension_error")

    async with session:
        answer = await session.prompt("hi")

    assert answer.text == "still here"
    assert [(error.extension_path, error.event) for error in errors] == [("sleeper", "activate")]
