"""One works on the screen: sends, queues, stops, takes back, asks and answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from textual import events

from pi_hookspecs import Command as PluginCommand
from pi_hookspecs import hookimpl
from pi_testing import make_tool, stall, text, tool_call
from pi_tui.commands.table import Command
from pi_tui.keys.events import Key

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider


async def test_a_prompt_and_its_answer_are_on_the_screen(desk, script: ScriptedProvider) -> None:
    script.turn(text("The tide is **high**."))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        screen = await user.sees("How is the tide?", "The tide is high.")

        assert user.typed == ""
        assert "Working" not in screen
    assert script.requests[0].user_text == "How is the tide?"


@pytest.mark.parametrize("emoji", ["👩🏽\u200d🚀", "👨\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈", "🇫🇷", "1\ufe0f\u20e3"])
async def test_an_emoji_of_several_typed_characters_is_one(desk, emoji: str) -> None:
    async with desk() as user:
        for character in ("a", *emoji):
            user.app.post_message(events.Key(character, character))
        await user.pilot.pause()
        assert user.typed == f"a{emoji}"

        await user.press("backspace")
        assert user.typed == "a"


async def test_the_editor_says_that_pi_works(desk, script: ScriptedProvider) -> None:
    script.turn(stall())

    async with desk() as user:
        await user.type("Go", "enter")
        await script.stalled()

        assert await user.sees("Working ─")
        await user.press("escape")
        await user.when(lambda: "Working" not in user.text)


async def test_escape_stops_the_answer_and_puts_what_is_queued_into_the_editor(desk, script: ScriptedProvider) -> None:
    script.turn(text("Half an"), stall())

    async with desk() as user:
        await user.type("Go", "enter")
        await script.stalled()
        await user.type("and this", "enter")
        await user.sees("Steering: and this", "alt+up to edit all queued messages")
        await user.press("escape")
        await user.sees("Restored 1 queued message to editor", "Half an")

        assert user.typed == "and this"
        await user.when(lambda: not user.app.session.is_streaming)


async def test_another_session_leaves_what_is_queued_in_the_editor(desk, script: ScriptedProvider) -> None:
    script.turn(text("Half an"), stall())

    async with desk() as user:
        await user.type("Go", "enter")
        await script.stalled()
        await user.type("and this", "enter")
        await user.sees("Steering: and this")
        await user.type("/new ", "enter")
        await user.when(lambda: "Half an" not in user.text)

        assert user.typed == "and this"
        assert "Steering" not in user.text


async def test_alt_enter_queues_a_follow_up_and_alt_up_takes_it_back(desk, script: ScriptedProvider) -> None:
    script.turn(stall())

    async with desk() as user:
        await user.type("Go", "enter")
        await script.stalled()
        await user.type("later", "alt+enter")
        await user.sees("Follow-up: later")
        await user.press("alt+up")

        assert user.typed == "later"
        await user.when(lambda: "Follow-up" not in user.text)
        await user.press("escape")


async def test_ctrl_c_clears_the_editor_and_leaves_the_answer_alone(desk, script: ScriptedProvider) -> None:
    script.turn(stall())

    async with desk() as user:
        await user.type("Go", "enter")
        await script.stalled()
        await user.type("nonsense", "ctrl+c")

        assert user.typed == ""
        assert user.app.session.is_streaming
        await user.press("escape")


async def test_ctrl_c_twice_ends(desk, monkeypatch) -> None:
    monkeypatch.setattr("pi_tui.screen.escape._AGAIN_SECONDS", 60)  # however slow the machine is
    async with desk() as user:
        await user.press("ctrl+c", "ctrl+c")

        assert user.is_over


async def test_ctrl_c_does_not_end_while_something_is_typed(desk) -> None:
    async with desk() as user:
        await user.press("ctrl+c", "n", "o", "ctrl+c")

        assert user.typed == ""
        assert not user.is_over


async def test_ctrl_d_ends_only_at_an_empty_editor(desk) -> None:
    async with desk() as user:
        await user.type("words", "ctrl+d")
        assert not user.is_over

        await user.press("ctrl+u", "ctrl+d")
        assert user.is_over


@pytest.mark.pi(settings={"doubleEscapeAction": "fork"})
async def test_escape_twice_at_an_empty_editor_does_what_the_setting_says(desk, monkeypatch) -> None:
    monkeypatch.setattr("pi_tui.screen.escape._AGAIN_SECONDS", 60)  # however slow the machine is
    async with desk() as user:
        await user.press("escape", "escape")

        assert await user.sees("There is no message yet.")


async def test_text_in_the_editor_makes_escape_harmless(desk) -> None:
    async with desk() as user:
        await user.type("words", "escape", "escape")

        assert user.typed == "words"
        assert "There is no message" not in user.text


# Tools, thinking


READ = make_tool("reader", result="\n".join(f"line {number}" for number in range(30)))


@pytest.mark.pi(tools=[READ])
async def test_ctrl_o_displays_all_of_a_result(desk, script: ScriptedProvider) -> None:
    script.turn(tool_call("reader")).turn(text("Done."))

    async with desk(size=(80, 60)) as user:
        await user.type("Go", "enter")
        await user.sees("Done.", "more lines, ctrl+o to expand")
        assert "line 29" not in user.text
        await user.press("ctrl+o")

        assert await user.sees("line 29", "Tool output: expanded")


async def test_ctrl_t_hides_thinking(desk, script: ScriptedProvider) -> None:
    from pi_testing import thinking

    script.turn(thinking("Let me see."), text("Done."))

    async with desk() as user:
        await user.type("Go", "enter")
        await user.sees("Let me see.", "Done.")
        await user.press("ctrl+t")

        assert "Let me see." not in await user.sees("Thinking...", "Thinking blocks: hidden")


async def test_what_keys_did_is_said_on_one_line(desk) -> None:
    async with desk() as user:
        await user.press("ctrl+o")
        await user.sees("Tool output: expanded")
        await user.press("ctrl+t")

        assert "Tool output" not in await user.sees("Thinking blocks: hidden")


async def test_shift_tab_uses_the_next_thinking_level(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        before = pi_session.thinking_level
        await user.press("shift+tab")
        await user.sees("Thinking level:")

        assert pi_session.thinking_level != before


# Slash commands


async def test_an_unknown_command_stays_and_enter_sends_it_anyway(desk, script: ScriptedProvider) -> None:
    script.turn(text("A path."))

    async with desk() as user:
        await user.type("/etc/hosts ", "enter")
        await user.sees("Unknown command: /etc/hosts")
        assert user.typed == "/etc/hosts"
        await user.press("enter")

        assert await user.sees("A path.")


async def test_commands_are_completed_and_run_with_enter(desk) -> None:
    async with desk() as user:
        await user.press("slash", "q", "u", "i")
        await user.sees("→ quit", "Exit")
        await user.press("enter")

        await user.when(lambda: user.is_over)


async def test_what_is_typed_faster_than_the_list_is_made_is_completed_as_it_is(desk) -> None:
    async with desk() as user:
        await user.press("slash", "h", "e", "l")
        await user.sees("→ help")
        for key in ("p", "enter"):
            user.app.keyboard.press(Key(key, key if len(key) == 1 else ""))

        await user.sees("/quit", "to close")


async def test_tab_takes_a_completion_and_escape_closes_the_list(desk) -> None:
    async with desk() as user:
        await user.press("slash", "n", "a", "m")
        await user.sees("→ name")
        await user.press("tab")
        assert user.typed == "/name "

        await user.press("escape", *["backspace"] * 3)
        await user.sees("→ name")
        await user.press("escape")
        assert "→ name" not in user.text
        assert user.typed == "/na"


async def test_an_argument_typed_in_full_is_sent_though_it_begins_another(desk) -> None:
    sent = []

    async def run(_talk: object, argument: str) -> None:
        sent.append(argument)

    async with desk() as user:
        user.app.talk.own["sail"] = Command("Sail", run, lambda _talk: ["harbour-1", "harbour"])
        await user.type("/sail harbour")
        await user.sees("→ harbour", "  harbour-1")
        await user.press("enter")
        await user.when(lambda: sent == ["harbour"])


async def test_tab_takes_the_only_path_there_is_also_in_a_command(desk, pi_session: AgentSession) -> None:
    (pi_session.cwd / "harbour").mkdir()
    (pi_session.cwd / "harbour" / "east").touch()
    (pi_session.cwd / "harbour" / "west").touch()

    async with desk() as user:
        await user.type("!cat har", "tab")
        await user.when(lambda: user.typed == "!cat harbour/")
        await user.press("tab")
        await user.sees("→ east", "west")


async def test_a_failed_compaction_is_reported_once(desk) -> None:
    async with desk() as user:
        await user.type("/compact ", "enter")
        await user.sees("Compaction failed")
        await user.when(lambda: not user.app.talk.busy)

        assert user.text.count("can compact the") == 1


@pytest.mark.pi(entry_points=["compaction"])
async def test_a_compaction_of_a_short_session_is_refused_once(desk, script: ScriptedProvider) -> None:
    script.turn(text("Ebb and flow."))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        await user.sees("Ebb and flow.")
        await user.type("/compact ", "enter")
        await user.sees("Nothing to compact")
        await user.when(lambda: not user.app.talk.busy)

        assert user.text.count("Nothing to compact (session too small)") == 1


class _Undoes:
    """A plugin with a command that the screen has, too."""

    @hookimpl
    def register_commands(self) -> list[PluginCommand]:
        async def run(arguments: str, ctx) -> None:
            ctx.ui.notify(f"The plugin got {arguments!r}")

        return [PluginCommand("compact", handler=run)]


@pytest.mark.pi(plugins=[_Undoes()])
async def test_undoing_a_compaction_is_left_to_its_plugin(desk) -> None:
    async with desk() as user:
        await user.type("/compact undo", "enter")

        await user.sees("The plugin got 'undo'")


async def test_name_is_set_and_in_the_footer(desk) -> None:
    async with desk(size=(200, 24)) as user:  # the folder's path is long
        await user.type("/name Low tide", "enter")

        assert await user.sees("Session name set: Low tide", "• Low tide")


async def test_fork_puts_the_message_back_into_the_editor(desk, script: ScriptedProvider) -> None:
    script.turn(text("First answer"))

    async with desk() as user:
        await user.type("First question", "enter")
        await user.sees("First answer")
        await user.type("/fork ", "enter")
        await user.sees("before which message?", "→ First question")
        await user.press("enter")
        await user.sees("Forked to new session")

        assert user.typed == "First question"
        assert "First answer" not in user.text


async def test_new_session_is_empty(desk, script: ScriptedProvider) -> None:
    script.turn(text("First answer"))

    async with desk() as user:
        await user.type("First question", "enter")
        await user.sees("First answer")
        await user.type("/new ", "enter")

        await user.when(lambda: "First answer" not in user.text)


# Dialogs


async def test_a_plugin_asks_in_place_of_the_editor(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        await user.type("half a sentence")
        asking = asyncio.ensure_future(pi_session.ctx.ui.select("Which tide?", ["High", "Low"]))
        await user.sees("Which tide?", "→ High", "  Low")
        assert "half a sentence" not in user.text
        await user.press("down", "enter")

        assert await asking == "Low"
        assert await user.sees("half a sentence")


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("escape", False)])
async def test_a_question_is_answered_with_a_key(desk, pi_session: AgentSession, key: str, answer: bool) -> None:
    async with desk() as user:
        asking = asyncio.ensure_future(pi_session.ctx.ui.confirm("Go out?", "The tide is low."))
        await user.sees("Go out?", "The tide is low.")
        await user.press(key)

        assert await asking is answer


async def test_texts_and_secrets_are_typed(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        asking = asyncio.ensure_future(pi_session.ctx.ui.input("Harbour?"))
        await user.sees("Harbour?")
        await user.type("Brest", "enter")
        assert await asking == "Brest"

        secret = asyncio.ensure_future(user.app.interface.ask_secret("Key?"))
        await user.sees("Key?")
        await user.type("sk-123")
        screen = await user.sees("••••••")
        await user.press("enter")

    assert await secret == "sk-123"
    assert "sk-123" not in screen


async def test_dialogs_wait_for_each_other(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        first = asyncio.ensure_future(pi_session.ctx.ui.confirm("First?"))
        second = asyncio.ensure_future(pi_session.ctx.ui.confirm("Second?"))
        assert "Second?" not in await user.sees("First?")
        await user.press("y")
        await user.sees("Second?")
        await user.press("y")

        assert [await first, await second] == [True, True]


async def test_statuses_widgets_and_notices_of_plugins_are_displayed(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        ui = pi_session.ctx.ui
        ui.set_status("tide", "rising")
        ui.set_widget("clock", ["12:00"])
        ui.notify("Ebb begins\x1b]0;owned\x07", "warning")

        assert "owned" not in await user.sees("rising", "12:00", "Ebb begins")


# Shell commands


async def test_a_command_of_the_user_is_refused_without_a_runner(desk) -> None:
    async with desk() as user:
        await user.type("!echo hi", "enter")

        assert await user.sees("$ echo hi", "No plugin in this session can run commands")


class Harbour:
    name = "harbour"

    async def login(self, ui):
        return {"access": f"for {await ui.input('Code?')}"}

    async def refresh(self, credential):
        return credential

    def api_key(self, credential):
        return credential["access"]


class Logins:
    @hookimpl
    def register_logins(self):
        return [Harbour()]


@pytest.mark.pi(plugins={"harbour": Logins()})
async def test_login_asks_in_dialogs_and_stores_what_it_got(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        await user.type("/login harbour", "enter")
        await user.sees("Code?")
        await user.type("1234", "enter")
        await user.sees("Signed in to harbour.")

        stored = pi_session.models.auth.get("harbour")
    assert stored == {"access": "for 1234", "type": "oauth"}


async def test_a_command_that_is_typed_while_the_session_starts_is_displayed_once_it_has_started(desk) -> None:
    async with desk() as user:
        user.app.hold()
        await user.type("!echo early", "enter")
        for _ in range(20):
            await user.pilot.pause(0.01)
        assert not user.app.state.blocks

        user.app.load()
        user.app.release()
        user.app.talk.begin()
        await user.sees("$ echo early", " early")
