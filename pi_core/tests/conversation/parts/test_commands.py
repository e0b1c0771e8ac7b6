"""``PluginCommands`` alone: handlers of plugins that answer badly or raise."""

from __future__ import annotations

import pytest

from pi_core.conversation.commands import PluginCommands
from pi_hookspecs import Command, Shortcut, UserError


def _returning(things):
    return lambda: things


@pytest.fixture
def commands_of(runtime_of, plugin):
    def make(**registers):
        hooks = {f"register_{name}": _returning(things) for name, things in registers.items()}
        return PluginCommands(runtime_of(plugin(**hooks)))

    return make


async def test_the_handler_gets_the_rest_of_the_line_without_space_around_it(commands_of):
    seen = []
    commands = commands_of(commands=[Command(name="note", handler=lambda arguments, ctx: seen.append(arguments))])

    assert await commands.run("/note  milk and bread ") is True
    assert seen == ["milk and bread"]


async def test_an_unknown_command_is_left_to_others(commands_of):
    assert await commands_of(commands=[]).run("/nowhere") is False


async def test_a_command_that_raises_is_reported_and_counts_as_run(commands_of, recorder):
    def handler(arguments, ctx):
        raise ValueError("no pen")

    commands = commands_of(commands=[Command(name="note", handler=handler)])

    assert await commands.run("/note") is True
    assert "no pen" in recorder.events[0].error


async def test_a_mistake_of_the_user_is_reported_as_its_message_alone(commands_of, recorder):
    async def handler(arguments, ctx):
        raise UserError(f"{arguments!r} is not a number of pages")

    await commands_of(commands=[Command(name="note", handler=handler)]).run("/note many")

    (event,) = recorder.events
    assert (event.error, event.stack) == ("/note: 'many' is not a number of pages", None)


async def test_a_mistake_whose_message_names_the_command_names_it_once(commands_of, recorder):
    async def handler(arguments, ctx):
        raise UserError("Use /note TEXT.")

    await commands_of(commands=[Command(name="note", handler=handler)]).run("/note")

    assert recorder.events[0].error == "Use /note TEXT."


async def test_a_key_that_no_plugin_has_is_left_to_the_front_end(commands_of):
    pressed = []
    commands = commands_of(shortcuts=[Shortcut("ctrl+t", handler=lambda ctx: pressed.append("t"))])

    assert (await commands.press_key("ctrl+t"), await commands.press_key("ctrl+u"), pressed) == (True, False, ["t"])


async def test_a_key_is_found_in_any_spelling_and_known_with_its_plugin(commands_of):
    pressed = []
    commands = commands_of(shortcuts=[Shortcut("Alt+Ctrl+T", handler=lambda ctx: pressed.append("t"))])

    assert [(each.name, each.plugin) for each in commands.shortcuts()] == [("ctrl+alt+t", "plugin-0")]
    assert await commands.press_key("alt + CTRL + t")
    assert pressed == ["t"]
