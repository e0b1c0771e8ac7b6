"""Commands that print a key are started as the plugins of the session want it."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core.base.configured_values import ConfiguredValues
from pi_core.base.process.start_policies import StartPolicies
from pi_hookspecs import PiError, hookimpl
from pi_testing import FakeLauncher


class Plugin:
    def __init__(self):
        self.launcher = FakeLauncher()

    @hookimpl
    def register_services(self):
        return [self.launcher]

    @hookimpl
    def child_environment(self, event):
        return {"STORE": f"{event.purpose} {event.command}"}


@pytest.fixture
def plugin():
    return Plugin()


@pytest.fixture
def pi_plugins(plugin):
    return {"policy": plugin}


def values(session):
    return ConfiguredValues({"PATH": "/usr/bin:/bin"}, session.models.auth.start_policies)


async def test_a_key_command_gets_the_environment_of_the_plugins(pi_session, plugin):
    assert await values(pi_session).resolve("!echo $STORE") == "key echo $STORE"
    assert [(each.purpose, each.argv[-1]) for each in plugin.launcher.requests] == [("key", "echo $STORE")]


async def test_a_key_command_that_a_plugin_refuses_is_not_started_and_asked_for_again(pi_session, plugin):
    def refuse(request):
        raise PiError("locked")

    plugin.launcher.answer = refuse
    keys = values(pi_session)
    with pytest.raises(PiError, match="locked"):
        await keys.resolve("!echo key")
    plugin.launcher.answer = lambda request: evolve(request, env={})

    assert await keys.resolve("!echo key") == "key"


async def test_without_a_session_no_plugin_is_asked(pi_session, plugin):
    await pi_session.__aexit__(None, None, None)

    assert await values(pi_session).resolve("!echo key") == "key"
    assert plugin.launcher.requests == []


async def test_the_session_that_began_last_is_asked():
    asked = []
    policies = StartPolicies()

    def policy(name):
        async def prepare(argv, cwd, env, command):
            asked.append(name)
            raise PiError("enough")

        return prepare

    policies.add(policy("first"))
    forget = policies.add(policy("second"))
    for _ in range(2):
        with pytest.raises(PiError):
            await policies.prepare("true", {})
        forget()

    assert asked == ["second", "first"]
