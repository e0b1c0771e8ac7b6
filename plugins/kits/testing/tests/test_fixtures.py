"""What the fixtures give to a test of this project, in this process."""

from __future__ import annotations

import os
import sys

import pytest

from pi_core.settings import agent_dir
from pi_hookspecs import ToolCallResult, hookimpl, tool
from pi_testing import make_tool, text, tool_call


class Guard:
    """The guard of the API's second example."""

    @hookimpl
    def tool_call(self, event):
        if event.tool_name == "bash" and "rm -rf" in event.input["command"]:
            return ToolCallResult(block=True, reason="Move them to ./trash instead.")
        return None


@tool
async def word_count(path: str) -> str:
    """Count words."""
    return f"{len(path)} words"


class WordCount:
    @hookimpl
    def register_tools(self):
        return [word_count]


class OwnBash:
    @hookimpl
    def register_tools(self):
        return [make_tool("bash", "the plugin's own")]


def test_plugin_manager_knows_the_hooks_and_no_plugin(plugin_manager):
    assert plugin_manager.get_plugins() == set()
    assert plugin_manager.hook.tool_call.get_hookimpls() == []


def test_plugin_manager_refuses_a_misspelt_hook(plugin_manager):
    class Misspelt:
        @hookimpl
        def tool_cal(self, event):
            """Never called."""

    with pytest.raises(ValueError, match="tool_call"):
        plugin_manager.register(Misspelt())


def test_the_host_has_no_plugins_unless_they_are_named(pi_host):
    assert pi_host.records == {}
    assert pi_host.find_all("register_tools") == {}


@pytest.mark.pi(plugins=[WordCount(), WordCount(), sys])
def test_plugins_are_named_as_they_would_be_installed(pi_plugins):
    assert list(pi_plugins) == ["word-count", "word-count-2", "sys"]


@pytest.mark.pi(plugins={"counter": WordCount()})
def test_plugins_may_be_given_names(pi_host):
    found = pi_host.find("register_tools", "word_count")

    assert (found.plugin, found.thing) == ("counter", word_count)


@pytest.mark.pi(settings={"hooks": {"timeout": 2}})
class TestMarkers:
    @pytest.mark.pi(plugins=[WordCount()])
    def test_nearer_marker_adds_to_the_outer_one(self, pi_host):
        assert pi_host.settings.get("hooks.timeout") == 2
        assert pi_host.find("register_tools", "word_count") is not None

    @pytest.mark.pi(settings={"steeringMode": "all"})
    def test_nearer_marker_wins_option_by_option(self, pi_host):
        assert pi_host.settings.get("hooks.timeout") is None
        assert pi_host.settings.get("steeringMode") == "all"


@pytest.mark.pi(plugins=[Guard()])
async def test_session_has_the_plugins_the_model_and_the_user(pi_session, script, fake_ui, tmp_path):
    assert pi_session.model is script.model
    assert pi_session.ui is fake_ui
    assert pi_session.has_ui
    assert pi_session.cwd == tmp_path
    assert list(tmp_path.iterdir()) == []
    assert [each.plugin for each in pi_session.hooks.implementations("tool_call")] == ["guard"]


@pytest.mark.pi(plugins=[Guard()])
async def test_refusal_reaches_the_model_and_nothing_is_run(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("I will not."))
    answer = await pi_session.prompt("clean up")

    assert script.requests[1].tool_results[0].text == "Move them to ./trash instead."
    assert fake_tools["bash"].calls == []
    assert answer.text == "I will not."


async def test_stand_ins_are_called_unless_a_plugin_objects(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="ls")).turn(text("Done."))
    await pi_session.prompt("look around")

    assert script.requests[0].tools == ("read", "bash", "edit", "write")
    assert fake_tools["bash"].calls == [{"command": "ls"}]
    assert "stand-in" in script.requests[1].tool_results[0].text


@pytest.mark.pi(plugins=[OwnBash(), WordCount()])
async def test_plugins_tools_come_before_stand_ins(pi_session, script, fake_tools):
    script.turn(tool_call("bash")).turn(text("Done."))
    await pi_session.prompt("look around")

    assert script.requests[1].tool_results[0].text == "the plugin's own"
    assert fake_tools["bash"].calls == []
    assert sorted(script.requests[0].tools) == ["bash", "edit", "read", "word_count", "write"]


@pytest.mark.pi(tools=["grep", make_tool("echo")], plugins=[WordCount()])
async def test_tools_are_exactly_those_of_the_marker(pi_session, script):
    script.turn(text("Done."))
    await pi_session.prompt("look around")

    assert script.requests[0].tools == ("grep", "echo")


@pytest.mark.pi(session={"system_prompt": "Be a pirate.", "mode": "rpc", "ui": None})
async def test_session_takes_further_options(pi_session, script):
    script.turn(text("Arr."))
    await pi_session.prompt("Hello")

    assert script.requests[0].system_prompt.startswith("Be a pirate.")
    assert (pi_session.mode, pi_session.has_ui) == ("rpc", False)


async def test_requests_carry_the_models_instructions(pi_session, script):
    script.turn(tool_call("read", path="a"), tool_call("bash", command="b")).turn(tool_call("read", path="c"))
    script.turn(text("Done."))
    await pi_session.prompt("Hello")
    first, second, third = script.requests

    assert (first.user_text, first.tool_results) == ("Hello", ())
    assert [result.tool_name for result in second.tool_results] == ["read", "bash"]
    assert [result.tool_call_id for result in third.tool_results] == ["call_3"]
    assert third.user_text == "Hello"
    assert [message.role for message in second.messages] == ["user", "assistant", "toolResult", "toolResult"]
    assert repr(first) == "<Request to scripted/model: user; tools: read, bash, edit, write>"


@pytest.mark.pi(tools=[make_tool()])
async def test_agent_has_the_script_and_the_markers_tools(pi_agent, script):
    script.turn(tool_call("echo", a=1)).turn(text("Done."))
    await pi_agent.prompt("Hello")

    assert script.requests[1].tool_results[0].text == '{"a": 1}'
    assert pi_agent.state.messages[-1].text == "Done."


def test_agent_directory_is_the_tests_own(pi_agent_dir):
    assert agent_dir() == pi_agent_dir
    assert list(pi_agent_dir.iterdir()) == []


@pytest.fixture
def developers_environment(monkeypatch):
    """What must not be seen; set before the fixture that hides it."""
    for name in ("PI_DISABLE_PLUGINS", "PI_TRACE_HOOKS", "ACME_API_KEY"):
        monkeypatch.setenv(name, "developer")


def test_developers_environment_is_hidden(developers_environment, pi_agent_dir):
    assert not {"PI_DISABLE_PLUGINS", "PI_TRACE_HOOKS", "ACME_API_KEY"} & set(os.environ)


class TestOverride:
    @pytest.fixture
    def pi_plugins(self):
        return {"guard": Guard()}

    async def test_plugins_can_be_made_for_each_test(self, pi_session):
        assert pi_session.hooks.listens("tool_call")
