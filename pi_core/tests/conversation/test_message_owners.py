"""A message that a plugin adds names the plugin, in the process and nowhere else."""

from __future__ import annotations

import pytest

from pi_core import wire
from pi_hookspecs import BeforeAgentStartResult, CustomMessage, NewEntry, TurnEndResult, hookimpl
from pi_testing import text


class Adds:
    """Adds a message to each prompt, and sends one of its own when the session starts."""

    def __init__(self, content):
        self.content = content

    def message(self, **fields):
        return CustomMessage(custom_type="note", content=self.content, **fields)

    @hookimpl
    def before_agent_start(self, event):
        return BeforeAgentStartResult(messages=[self.message()])

    @hookimpl
    def activate(self, pi):
        @pi.on("session_start")
        def send(event):
            pi.send_message(self.message(plugin="another"))


class Observes:
    def __init__(self):
        self.owners = []

    @hookimpl
    def context(self, event):
        self.owners.append([each.plugin for each in event.messages if each.role == "custom"])


@pytest.fixture
def observer():
    return Observes()


@pytest.fixture
def pi_plugins(observer):
    return {"tide": Adds("High at noon."), "moon": Adds("Full."), "observer": observer}


async def test_a_message_names_the_plugin_that_added_it(pi_session, script, observer):
    script.turn(text("Noted."))

    await pi_session.prompt("Hi")

    assert observer.owners == [["tide", "moon", "tide", "moon"]]


class Appends:
    @hookimpl
    def turn_end(self, event):
        if event.turn_index == 0:
            return TurnEndResult(entries=[NewEntry(custom_type="note", content="Low at six.")], continue_=True)
        return None


@pytest.mark.parametrize("pi_plugins", [{"ebb": Appends(), "observer": Observes()}])
async def test_an_entry_that_becomes_a_message_names_its_plugin(pi_session, script, pi_plugins):
    script.turn(text("Noted.")).turn(text("Noted again."))

    await pi_session.prompt("Hi")

    assert pi_plugins["observer"].owners == [[], ["ebb"]]


async def test_a_message_of_the_program_names_none(pi_session, script, observer):
    script.turn(text("Noted."))

    await pi_session.send_message(CustomMessage(custom_type="note", content="Mine."))
    await pi_session.prompt("Hi")

    assert observer.owners == [["tide", "moon", None, "tide", "moon"]]


def test_the_plugin_is_neither_written_nor_compared():
    message = CustomMessage(custom_type="note", content="Full.", timestamp=1, plugin="moon")
    other = CustomMessage(custom_type="note", content="Full.", timestamp=1)

    assert message == other
    assert wire.dumps(message) == wire.dumps(other)
