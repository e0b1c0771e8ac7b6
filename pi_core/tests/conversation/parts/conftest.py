"""A ``Runtime`` without an ``AgentSession``; its plugins use the parts of a conversation that nothing else does."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import DefaultResourceLoader, PluginHost, SessionManager, Settings
from pi_core.conversation.parts import Parts
from pi_core.conversation.toolbox import Toolbox
from pi_core.create import build_runtime
from pi_core.models.registry import ModelRegistry
from pi_hookspecs import AssistantMessage, TextContent, hookimpl
from pi_testing.patience import PATIENCE


class Plugin:
    """A plugin made of functions."""


@pytest.fixture
def plugin():
    """Make a plugin of functions, named as the hooks that they implement."""

    def make(**hooks):
        made = Plugin()
        for name, function in hooks.items():
            setattr(made, name, hookimpl(function))
        return made

    return make


@pytest.fixture
def answer(script):
    """Make an assistant message of the scripted model."""

    def make(text="", **fields):
        model = script.model
        content = (TextContent(text),) if text else ()
        return AssistantMessage(content=content, api=model.api, provider=model.provider, model=model.id, **fields)

    return make


@pytest.fixture
def service(plugin):
    """Make a plugin that registers one service."""

    def make(thing):
        return plugin(register_services=lambda: [thing])

    return make


@pytest.fixture
def until():
    """Wait for a condition; what never happens fails the test instead of hanging it."""

    async def wait(condition):
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - parts have no event for each of their states
                await asyncio.sleep(0)

    return wait


@pytest.fixture
def runtime_of(tmp_path, pi_agent_dir, script, recorder):
    """Make a runtime of the scripted model with these plugins; the recorder is its first subscriber."""
    made = []

    def make(*plugins, settings=None, tools=(), **options):
        settings = Settings.in_memory(settings or {}, agent_dir=pi_agent_dir)
        host = PluginHost(settings, installed=False)
        host.add(script, "script")
        for number, each in enumerate(plugins):
            host.add(each, f"plugin-{number}")
        host.load_listeners()
        resources = DefaultResourceLoader(environ={})
        resources.use(cwd=tmp_path, settings=settings, host=host)
        given = {
            "models": ModelRegistry(host, settings, {}),
            "session_manager": SessionManager.in_memory(tmp_path),
            "toolbox": Toolbox(host, custom=tools),
            "resources": resources,
            "model": script.model,
            **options,
        }
        runtime = build_runtime(host=host, settings=settings, cwd=tmp_path, **given)
        runtime.events.add(recorder)
        runtime.plugins.open(Parts(runtime))
        made.append(runtime)
        return runtime

    yield make
    for runtime in made:
        runtime.hooks.close()


@pytest.fixture
async def runtime(runtime_of):
    """A runtime without plugins but the scripted model."""
    return runtime_of()
