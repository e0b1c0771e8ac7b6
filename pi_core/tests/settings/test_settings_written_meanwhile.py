"""What another process, or another instance, writes into the settings' files is read by a running session."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings, TrustStore, create_agent_session
from pi_core.settings.sources import FileStorage
from pi_hookspecs import ToolCallResult, ToolResult, hookimpl
from pi_testing import make_tool, text, tool_call


@pytest.fixture
def place(tmp_path):
    """Settings of one project as several processes would load them."""

    class Place:
        agent, project = tmp_path / "agent", tmp_path / "project"
        mine, ours = agent / "settings.json", project / ".pi" / "settings.json"

        def load(self, *, trust=True):
            return Settings.load(self.project, self.agent, trust=trust, environ={})

    made = Place()
    made.ours.parent.mkdir(parents=True)
    made.agent.mkdir()
    return made


@pytest.mark.parametrize("scope", ["global", "project"])
def test_what_another_instance_sets_is_in_force(place, scope):
    running = place.load()
    running.set("theme", "light", scope)

    place.load().set("theme", "dark", scope)

    assert running.get("theme") == "dark"
    assert running.get_str("theme", None) == "dark"
    assert running.all() == {"theme": "dark"}
    assert running.origin("theme") == str(place.mine if scope == "global" else place.ours)
    place.load().unset("theme", scope)
    assert running.get("theme") is None


def test_a_half_written_file_keeps_its_previous_values(place):
    place.mine.write_text('{"guardrails": {"enabled": true}}')
    running = place.load()

    place.mine.write_text('{"guardrails": {"enab')

    assert running.get("guardrails.enabled") is True
    assert running.unread("guardrails.enabled") is None
    (problem,) = running.problems
    assert problem.startswith(f"{place.mine}:1:")
    assert problem.endswith("; its previous contents stay in force.")
    place.mine.write_text('{"guardrails": {"enabled": false}}')
    assert running.get("guardrails.enabled") is False


def test_a_removed_file_contributes_nothing(place):
    place.mine.write_text('{"theme": "dark"}')
    running = place.load()

    place.mine.unlink()

    assert running.get("theme") is None


def test_whether_the_project_is_trusted_is_not_decided_anew(place):
    place.ours.write_text('{"theme": "dark"}')
    running = place.load(trust=None)
    TrustStore(place.agent).remember(place.project, trusted=True)
    place.load().set("hideThinkingBlock", value=True)

    assert running.get("hideThinkingBlock") is True
    assert (running.get("theme"), running.project_trust.is_trusted) == (None, False)
    running.reload()
    assert (running.get("theme"), running.project_trust.is_trusted) == ("dark", True)


def test_a_storage_that_no_other_process_changes_is_read_once():
    class Kept:
        reads = 0

        def origin(self, scope):
            return scope

        def read(self, scope):
            self.reads += 1
            return '{"theme": "dark"}' if scope == "global" else None

        def change(self, scope, edit): ...

    storage = Kept()
    settings = Settings.from_storage(storage, trust=False, environ={})

    assert [settings.get("theme") for _ in range(3)] == ["dark"] * 3
    assert storage.reads == 1


async def test_a_plugin_reads_what_it_wrote_in_the_call_before(place, script):
    asked = []

    class Confirm:
        @hookimpl
        def tool_call(self, event, ctx):
            if event.tool_name in ctx.settings.get("confirm.allow", []):
                return None
            asked.append(event.tool_name)
            Settings.load(ctx.cwd, place.agent).set("confirm.allow", [event.tool_name])
            return ToolCallResult(block=True, reason="not this time")

    script.turn(tool_call("ls"), tool_call("ls")).turn(text("ok"))
    settings = place.load()
    host = PluginHost(settings, installed=False)
    for name, plugin in (("script", script), ("confirm", Confirm())):
        host.add(plugin, name)
    options = {"settings": settings, "model": script.model, "custom_tools": [make_tool("ls")]}
    async with create_agent_session(cwd=place.project, host=host, **options) as session:
        await session.prompt("look")

    assert asked == ["ls"]


def test_held_settings_look_at_the_files_when_they_are_refreshed(place):
    settings = place.load()
    settings.set("theme", "light")

    with settings.held():
        place.load().set("theme", "dark")
        before = settings.get_str("theme", None)
        settings.refresh()
        after = settings.get_str("theme", None)
        place.load().set("theme", "blue")

    assert (before, after, settings.get_str("theme", None)) == ("light", "dark", "blue")


def test_the_version_of_settings_changes_with_the_values_alone(place):
    settings = place.load()
    settings.set("theme", "light")
    versions = [settings.version, settings.version]

    place.load().set("theme", "dark")

    assert versions[0] == versions[1] != settings.version


async def test_a_request_goes_by_what_was_written_during_the_tool_call_before_it(place, script):
    def write(_arguments):
        Settings.load(place.project, place.agent).set("httpIdleTimeoutMs", 7_000)
        return ToolResult.text("written")

    script.turn(tool_call("write")).turn(text("ok"))
    settings = place.load()
    host = PluginHost(settings, installed=False)
    host.add(script, "script")
    options = {"settings": settings, "model": script.model, "custom_tools": [make_tool("write", write)]}
    async with create_agent_session(cwd=place.project, host=host, **options) as session:
        await session.prompt("go")

    assert [request.options.timeout_ms for request in script.requests] == [300_000, 7_000]


async def test_a_prompt_looks_at_the_files_once_for_each_request_and_tool_call(place, script):
    class Counting(FileStorage):
        looks = 0

        def stamp(self, scope):
            self.looks += scope == "global"
            return super().stamp(scope)

    script.turn(tool_call("ls")).turn(text("ok")).turn(tool_call("ls")).turn(text("ok"))
    storage = Counting(place.project, place.agent)
    settings = Settings.from_storage(storage, place.project, place.agent, trust=True, environ={})
    host = PluginHost(settings, installed=False)
    host.add(script, "script")
    options = {"settings": settings, "model": script.model, "custom_tools": [make_tool("ls")]}
    async with create_agent_session(cwd=place.project, host=host, **options) as session:
        await session.prompt("go")
        before = storage.looks
        await session.prompt("go")

    assert storage.looks - before == 1 + 2 + 1  # the prompt, its two requests, the call
