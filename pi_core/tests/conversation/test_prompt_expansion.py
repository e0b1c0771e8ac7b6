"""A slash command that expands to a longer text: when plugins are asked, and what is queued."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import (
    Command,
    CommandInfo,
    CommandsDiscoverResult,
    ExpandPromptResult,
    UserError,
    hookimpl,
)
from pi_testing import text, tool_call


class Texts:
    """A plugin that knows what some texts stand for, and takes its time."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.asked: list[str] = []

    @hookimpl
    async def expand_prompt(self, event):
        self.asked.append(event.text)
        await asyncio.sleep(0.01)
        known = self.texts.get(event.text.removeprefix("/"))
        return None if known is None else ExpandPromptResult(text=known)

    @hookimpl
    def commands_discover(self):
        return CommandsDiscoverResult(
            commands=[
                *(CommandInfo(name=f"skill:{name}", source="skill") for name in self.texts),
                CommandInfo(name="mcp:x", source="mcp"),
                *(CommandInfo(name=name, source="prompt") for name in self.texts),
            ]
        )


class Deploy:
    def __init__(self) -> None:
        self.calls: list[str] = []

    @hookimpl
    def register_commands(self):
        return [Command(name="deploy", description="Ship it", handler=lambda args, ctx: self.calls.append(args))]


def last_text(script):
    return script.requests[-1].messages[-1].text


def user_texts(session):
    return [message.text for message in session.messages if message.role == "user"]


async def test_the_model_gets_the_expanded_text(session_of, script):
    script.turn(text("ok"))
    await session_of(Texts(hi="Hello.")).prompt("/hi")

    assert last_text(script) == "Hello."


async def test_only_what_begins_with_a_slash_is_asked_about(session_of, script):
    plugin = Texts(hi="Hello.")
    script.turn(text("ok"))
    await session_of(plugin).prompt("hi")

    assert plugin.asked == []


async def test_an_expanded_text_may_be_expanded_by_the_next_plugin(session_of, script):
    script.turn(text("ok"))
    await session_of(Texts(a="/b"), Texts(b="Both.")).prompt("/a")

    assert last_text(script) == "Both."


async def test_commands_come_first(session_of, script):
    texts, deploy = Texts(deploy="never"), Deploy()
    await session_of(texts, deploy).prompt("/deploy now")

    assert (deploy.calls, texts.asked, script.requests) == (["now"], [], [])


async def test_without_expansion_no_plugin_is_asked(session_of, script):
    plugin = Texts(hi="Hello.")
    script.turn(text("ok"))
    await session_of(plugin).prompt("/hi", expand_prompt_templates=False)

    assert (last_text(script), plugin.asked) == ("/hi", [])


async def test_a_plugin_that_fails_leaves_the_text_as_it_was(session_of, script, recorder):
    class Broken:
        @hookimpl
        def expand_prompt(self):
            raise ValueError("no")

    script.turn(text("ok"))
    await session_of(Broken()).prompt("/hi")

    assert last_text(script) == "/hi"
    assert [event.event for event in recorder.events if event.type == "extension_error"] == ["expand_prompt"]


async def test_queued_texts_are_expanded_and_keep_their_order(session_of, script):
    session = session_of(Texts(a="A", c="C"))

    async def meanwhile(_request):
        session.steer("/a")  # no wait is needed
        session.steer("b")
        await session.follow_up("/c")
        return tool_call("nothing")

    script.turn(meanwhile).turn(text("1")).turn(text("2")).turn(text("3"))
    await session.prompt("go")

    assert user_texts(session) == ["go", "A", "b", "C"]


async def test_a_text_without_a_slash_is_queued_at_once(session_of):
    session = session_of(Texts())
    await session.start()
    session.steer("a")

    assert session.get_steering_messages() == ("a",)


async def test_a_prompt_that_is_queued_is_expanded(session_of, script):
    session = session_of(Texts(a="A"))

    async def meanwhile(_request):
        await session.prompt("/a", streaming_behavior="steer")
        return tool_call("nothing")

    script.turn(meanwhile).turn(text("ok"))
    await session.prompt("go")

    assert user_texts(session) == ["go", "A"]


@pytest.mark.parametrize("queue", ["steer", "follow_up"])
async def test_a_command_cannot_be_queued(session_of, queue):
    session = session_of(Deploy())
    await session.start()

    with pytest.raises(UserError, match=r'^Extension command "/deploy" cannot be queued'):
        getattr(session, queue)("/deploy now")


async def test_what_can_be_called_is_listed_in_the_order_of_the_contract(session_of):
    session = session_of(Texts(deploy="hidden", hi="Hello."), Deploy())
    await session.start()

    commands = await session.get_commands()

    assert [(each.name, each.source) for each in commands] == [
        ("deploy", "extension"),
        ("hi", "prompt"),
        ("skill:deploy", "skill"),
        ("skill:hi", "skill"),
        ("mcp:x", "mcp"),
    ]
    assert commands[0].description == "Ship it"
    assert commands[0].source_info.origin == "package"


async def test_without_plugins_nothing_can_be_called(session_of):
    assert await session_of().get_commands() == ()


async def test_a_command_that_is_missing_for_a_reason_is_refused_and_others_go_to_the_model(
    pi_session, script, monkeypatch
):
    why = "/rewind is not available here: the plugin 'rewind' waits for .git."
    monkeypatch.setattr(pi_session.host, "why_no_command", {"rewind": why}.get)
    for line in ("/rewind", "/rewind 2 more", "/rewind\nand more"):
        with pytest.raises(UserError, match=r"waits for \.git"):
            await pi_session.prompt(line)
    assert script.requests == []
    for line in ("/other", "/", "/ rewind", "rewind"):
        script.turn(text("ok"))
        await pi_session.prompt(line)
    script.turn(text("ok"))
    await pi_session.prompt("/rewind", expand_prompt_templates=False)

    assert [each.user_text for each in script.requests] == ["/other", "/", "/ rewind", "rewind", "/rewind"]
