"""``pi`` and ``ctx`` work over a few attributes and methods: no ``AgentSession`` is needed to make them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from pi_core import PluginHost, SessionManager, Settings
from pi_core.models.registry import ModelRegistry
from pi_core.plugin_api.activation import Activations
from pi_core.plugin_api.context import PluginContext, ToolCallContext
from pi_core.plugin_api.event_bus import Bus
from pi_core.plugin_api.handles import ENDED, Handles
from pi_core.plugin_api.registrations import SessionRegistrations
from pi_core.plugin_api.settings import PluginSettings
from pi_hookspecs import AbortSignal, StaleObject, ToolCall, ToolResult, hookimpl


class Port:
    """A session without a conversation."""

    def __init__(self, cwd, host):
        self.cwd, self.host, self.settings = cwd, host, host.settings
        self.models = ModelRegistry(host, host.settings, {})
        self.plugin_settings = PluginSettings(self)
        self.mode, self.deps, self.resources = "test", {"db": 1}, None
        self.session_manager = SessionManager.in_memory(cwd)
        self.handles = Handles()
        self.registered = SessionRegistrations(host)
        self.hooks = host.dispatcher(print)
        self.failures = []
        self.events = []
        self.nested = []
        self.bus = Bus(self.report_plugin_error)
        self.shutdown_requested = asyncio.Event()
        self.signal = None
        self.is_streaming = False
        self.ctx = PluginContext(self)

    def report_plugin_error(self, plugin, step, message, stack=None):
        self.failures.append((plugin, step, message))

    async def emit(self, event):
        self.events.append(event)

    async def execute_tool(self, call, signal, on_update):
        self.nested.append(call)
        on_update(ToolResult.text("half"))
        return ToolResult.text("done")


@pytest.fixture
def host(tmp_path):
    return PluginHost(Settings.in_memory({}, agent_dir=tmp_path), installed=False)


@pytest.fixture
def port(tmp_path, host):
    return Port(tmp_path, host)


def plugin_of(activate):
    class Plugin:
        @hookimpl
        def activate(self, pi):
            activate(pi)

    return Plugin()


def activations_of(port, activate):
    port.host.add(plugin_of(activate), "todo")
    activations = Activations(port)
    activations.begin()
    return activations


async def test_registrations_reach_the_port(port):
    activations_of(port, lambda pi: pi.register_command("add", lambda args, ctx: None))

    assert port.registered.find("register_commands", "add").plugin == "todo"


async def test_a_failing_activate_is_reported_to_the_port(port):
    activations_of(port, lambda pi: 1 / 0)

    assert [(plugin, step) for plugin, step, _ in port.failures] == [("todo", "activate")]


async def test_entries_are_appended_to_the_conversation_of_the_port(port):
    held = []
    activations_of(port, held.append)
    entry_id = held[0].append_entry("note", {"a": 1})

    assert port.session_manager.get_entry(entry_id).data == {"a": 1}


async def test_a_channel_of_the_bus_has_handlers_of_other_plugins(port):
    received = []
    pis = []
    activations_of(port, lambda pi: (pis.append(pi), pi.events.on("colour", received.append)))
    pis[0].events.emit("colour", "red")

    assert received == ["red"]


async def test_ctx_has_the_constants_of_the_port(port):
    ctx = port.ctx

    assert (ctx.cwd, ctx.mode, ctx.deps) == (port.cwd, "test", {"db": 1})
    assert (ctx.settings, ctx.models) == (port.plugin_settings, port.models)


@pytest.mark.parametrize("name", PluginContext.constants)
async def test_constants_are_refused_once_the_handles_are_retired(port, name):
    ctx = port.ctx
    port.handles.retire(ENDED)

    with pytest.raises(StaleObject, match="has ended"):
        getattr(ctx, name)


async def test_a_method_that_a_plugin_kept_is_refused_once_the_handles_are_retired(port):
    emit = port.ctx.emit
    port.handles.retire(ENDED)

    with pytest.raises(StaleObject, match="has ended"):
        await emit("event")
    assert port.events == []


async def test_ctx_has_no_other_attributes_than_its_own(port):
    with pytest.raises(AttributeError, match="'PluginContext' object has no attribute 'session_manager'"):
        port.ctx.session_manager  # noqa: B018 - reading it is the test


async def test_a_tool_calls_another_through_the_port(port):
    displayed = []
    ctx = ToolCallContext(port, ToolCall(id="c1", name="outer", arguments={}), displayed.append, AbortSignal())
    result = await ctx.execute_tool("inner", {"path": "a"})

    assert result.content[0].text == "done"
    assert [(call.id, call.name, call.arguments) for call in port.nested] == [("c1/1", "inner", {"path": "a"})]
    assert [each.content[0].text for each in displayed] == ["half"]


async def test_a_program_runs_in_the_working_directory_of_the_port(port):
    done = await port.ctx.exec(sys.executable, ["-c", "import os; print(os.getcwd())"])

    assert Path(done.stdout.strip()).resolve() == port.cwd.resolve()


def test_plugin_api_is_loaded_without_the_conversation():
    code = (
        "import sys, pi_core.plugin_api.api, pi_core.plugin_api.context, pi_core.plugin_api.activation\n"
        "print([name for name in sys.modules if name.startswith('pi_core.conversation')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
