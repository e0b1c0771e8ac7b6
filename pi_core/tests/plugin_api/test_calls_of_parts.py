"""``pi`` and ``ctx`` call the parts of a conversation: no ``AgentSession`` is needed to make them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pi_core import DefaultResourceLoader, PluginHost, SessionManager, Settings
from pi_core.conversation.handles import ENDED
from pi_core.conversation.parts import Parts
from pi_core.conversation.runtime import FrontEnd
from pi_core.conversation.toolbox import Toolbox
from pi_core.create import build_runtime
from pi_core.models.registry import ModelRegistry
from pi_core.plugin_api.context import NoUserInterface, PluginContext
from pi_hookspecs import StaleObject, hookimpl


@pytest.fixture
async def parts(tmp_path, pi_agent_dir, script, recorder):
    """The parts of a conversation with the scripted model."""
    settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
    host = PluginHost(settings, installed=False)
    host.add(script, "script")
    runtime = build_runtime(
        host=host,
        settings=settings,
        models=ModelRegistry(host, settings, {}),
        session_manager=SessionManager.in_memory(tmp_path),
        toolbox=Toolbox(host),
        cwd=tmp_path,
        resources=DefaultResourceLoader(environ={}),
        model=script.model,
        front_end=FrontEnd(ui=NoUserInterface(), mode="test", deps={"db": 1}),
    )
    runtime.events.add(recorder)
    made = Parts(runtime)
    runtime.plugins.open(made)
    yield made
    runtime.hooks.close()


def plugin_of(activate):
    class Plugin:
        @hookimpl
        def activate(self, pi):
            activate(pi)

    return Plugin()


def activate(parts, *functions):
    for number, function in enumerate(functions):
        parts.runtime.host.add(plugin_of(function), f"todo-{number}")
    parts.activations.begin()


async def test_registrations_reach_the_conversation(parts):
    activate(parts, lambda pi: pi.register_command("add", lambda args, ctx: None))

    assert parts.runtime.registrations.find("register_commands", "add").plugin == "todo-0"


async def test_a_failing_activate_is_reported(parts, recorder):
    activate(parts, lambda pi: 1 / 0)
    await parts.runtime.events.settled()

    assert [(each.extension_path, each.event) for each in recorder.of("extension_error")] == [("todo-0", "activate")]


async def test_entries_are_appended_to_the_conversation(parts):
    kept = []
    activate(parts, kept.append)
    entry_id = kept[0].append_entry("note", {"a": 1})

    assert parts.runtime.manager.get_entry(entry_id).data == {"a": 1}


async def test_a_channel_of_the_bus_has_handlers_of_other_plugins(parts):
    received, pis = [], []
    activate(parts, pis.append, lambda pi: pi.events.on("colour", received.append))
    pis[0].events.emit("colour", "red")

    assert received == ["red"]


async def test_ctx_has_the_constants_of_the_session(parts):
    ctx, runtime = parts.runtime.ctx, parts.runtime

    assert (ctx.cwd, ctx.mode, ctx.deps, ctx.resources) == (runtime.cwd, "test", {"db": 1}, runtime.resources)
    assert (ctx.settings.agent_dir, ctx.models) == (runtime.settings.agent_dir, runtime.models)


@pytest.mark.parametrize("name", PluginContext.constants)
async def test_constants_are_refused_once_the_handles_are_retired(parts, name):
    ctx = parts.runtime.ctx
    parts.runtime.plugins.handles.retire(ENDED)

    with pytest.raises(StaleObject, match="has ended"):
        getattr(ctx, name)


async def test_a_method_that_a_plugin_kept_is_refused_once_the_handles_are_retired(parts, recorder):
    emit = parts.runtime.ctx.emit
    parts.runtime.plugins.handles.retire(ENDED)

    with pytest.raises(StaleObject, match="has ended"):
        await emit("event")
    assert recorder.events == []


async def test_ctx_has_no_other_attributes_than_its_own(parts):
    with pytest.raises(AttributeError, match="'PluginContext' object has no attribute 'session_manager'"):
        parts.runtime.ctx.session_manager  # noqa: B018 - reading it is the test


async def test_a_program_runs_in_the_working_directory(parts):
    done = await parts.runtime.ctx.exec(sys.executable, ["-c", "import os; print(os.getcwd())"])

    assert Path(done.stdout.strip()).resolve() == parts.runtime.cwd.resolve()


def test_plugins_are_activated_before_a_session_without_loading_one():
    code = (
        "import sys, pi_core.plugin_api.activation\n"
        "heavy = ('pi_core.conversation.session', 'pi_core.conversation.parts', 'pi_core.plugin_api.context')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
