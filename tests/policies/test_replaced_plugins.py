"""A default plugin that a copy of it replaces, of another distribution and under another name, behaves the same."""

from __future__ import annotations

import pytest

import pi_budgets
import pi_compaction
import pi_guardrails
import pi_redact
import pi_retry
import pi_sandbox
import pi_tui
from pi_core import PluginHost, Settings
from pi_hookspecs import Command, hookimpl
from pi_testing import error, text, tool_call

PLUGINS = {
    "budgets": pi_budgets,
    "compaction": pi_compaction,
    "guardrails": pi_guardrails,
    "redact": pi_redact,
    "retry": pi_retry,
    "sandbox": pi_sandbox,
    "tui": pi_tui,
}


def host_with(name, plugin, **options):
    host = PluginHost(Settings.in_memory(), installed=False, **options)
    host.add(plugin, name)
    return host


@pytest.mark.parametrize("name", PLUGINS)
def test_its_settings_are_the_same(name):
    one, other = (host_with(each, PLUGINS[name]).known_settings for each in (name, "acme"))

    assert len(one.declared) > 3
    assert one.json_schema == other.json_schema
    assert [(each.name, each.kind, each.default, each.description) for each in one] == [
        (each.name, each.kind, each.default, each.description) for each in other
    ]
    assert {each.plugin for each in other if each.plugin is not None} == {"acme"}
    assert [each._replace(plugin="") for each in one.declared] == [each._replace(plugin="") for each in other.declared]


@pytest.mark.parametrize("installed", [True, False], ids=["beside-the-disabled-original", "alone"])
@pytest.mark.parametrize("copy", [True, False], ids=["copy", "original"])
def test_a_project_cannot_loosen_its_settings(tmp_path, installed, copy):
    (tmp_path / "project" / ".pi").mkdir(parents=True)
    (tmp_path / "project" / ".pi" / "settings.json").write_text('{"guardrails": {"enabled": false}}')
    (tmp_path / "settings.json").write_text('{"guardrails": {"enabled": true}}')
    settings = Settings.load(tmp_path / "project", tmp_path, trust=True, environ={})
    host = PluginHost(settings, installed=installed, disabled=["guardrails"] if copy else ())
    if copy or not installed:
        host.add(pi_guardrails, "acme" if copy else "guardrails")
    host.declare_settings(settings)

    assert settings.get("guardrails.enabled") is True
    assert "'guardrails.enabled' (false in " in settings.problems[0]


@pytest.mark.pi(plugins={"acme": pi_retry}, settings={"retry": {"baseDelayMs": 1, "maxRetries": 1}})
async def test_requests_are_retried_as_its_settings_say(pi_session, script):
    script.turn(error("529 Overloaded")).turn(text("Here I am."))
    script.turn(error("529 Overloaded")).turn(error("529 Overloaded"))

    first, second = await pi_session.prompt("hello"), await pi_session.prompt("again")

    assert first.text == "Here I am."
    assert second.stop_reason == "error"


@pytest.mark.pi(plugins={"acme": pi_guardrails}, settings={"guardrails": {"enabled": True}})
async def test_dangerous_calls_are_refused(pi_session, script):
    script.turn(tool_call("bash", command="rm -rf /")).turn(text("ok"))

    await pi_session.prompt("please")

    (result,) = [each for each in pi_session.messages if each.role == "toolResult"]
    assert result.is_error
    assert result.content[0].text.startswith("Guardrails refused this call")


class Writes:
    """A copy of a plugin that changes one of its own settings, which a project may not."""

    def __init__(self, plugin):
        self.plugin = plugin

    @hookimpl
    def register_settings(self):
        return self.plugin.register_settings()

    @hookimpl
    def register_commands(self):
        async def run(_args, ctx):
            await ctx.settings.set("sandbox.write", ["/opt"])

        return [Command("write", handler=run)]


class Stranger(Writes):
    """Changes the setting of another plugin."""

    @hookimpl
    def register_settings(self):
        return []


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(["/opt"], marks=pytest.mark.pi(plugins={"acme": Writes(pi_sandbox)}), id="its-own"),
        pytest.param(
            None, marks=pytest.mark.pi(plugins={"acme": pi_sandbox, "other": Stranger(pi_sandbox)}), id="another-ones"
        ),
    ],
)
async def test_it_changes_its_own_settings_and_no_other_plugin_does(pi_session, fake_ui, written):
    if written is None:
        fake_ui.answers(False)  # another plugin has to ask

    await pi_session.prompt("/write")

    assert pi_session.settings.get("sandbox.write") == written
