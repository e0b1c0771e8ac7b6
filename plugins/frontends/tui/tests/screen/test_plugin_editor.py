"""What plugins change about typing and working: the editor, completions, the terminal's input, the indicator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pi_hookspecs import Completion, CustomMessage, Shortcut, hookimpl
from pi_testing import text, thinking
from pi_tui.screen.typed_filters import TypedFilters

if TYPE_CHECKING:
    from pi_hookspecs import PiAPI, PiContext, ScreenHandle


class Shouting:
    """Draws the text in capitals; Ctrl+T doubles it, Tab submits it, all other keys are the editor's."""

    def __init__(self, screen: ScreenHandle) -> None:
        self.screen = screen
        self.text, self.cursor = "", 0

    def render(self, width: int) -> list[str]:
        return [f"{self.text.upper()}|{self.cursor}"]

    def handle_key(self, key: str) -> bool:
        if key == "ctrl+t":
            self.text, self.cursor = self.text * 2, 1
        elif key == "tab":
            self.screen.done(self.text)
        else:
            return False
        return True


class Swallows(Shouting):
    def handle_key(self, key: str) -> bool:
        return True


async def test_a_component_replaces_the_editor_and_leaves_it_the_keys_that_it_does_not_use(desk, draws) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(Shouting))
        await user.press("h", "i", "!", "backspace")
        await user.sees("HI|2")
        await user.press("ctrl+t")
        await user.sees("HIHI|1")
        await user.press("x")
        await user.sees("HXIHI|2")

        assert user.typed == "hxihi"


async def test_the_editor_comes_back(desk, draws) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(Shouting))
        await draws.lets(user, lambda ctx: ctx.ui.get_editor_component())
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component())
        await user.type("plain")
        await user.sees("plain")

        assert callable(draws.results[1])


async def test_a_component_that_is_done_with_a_text_submits_it(desk, draws, script) -> None:
    script.turn(text("well"))

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(Shouting))
        await user.press("h", "o", "tab")
        await user.sees("well")

        assert user.typed == ""
        await user.press("a")
        await user.sees("A|1")


async def test_a_component_that_takes_every_key_can_be_cleared_and_left(desk, draws) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(Swallows))
        user.app.set_text("typed before")
        await user.press("q", "ctrl+c")

        assert user.typed == ""


async def test_a_component_that_fails_gives_the_editor_back(desk, draws) -> None:
    class Fails(Shouting):
        def render(self, width: int) -> list[str]:
            raise ValueError("boom")

    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(Fails))
        await user.press("a", "b", "c")
        await user.sees("is switched off")

        assert user.app.board.editor is None
        await user.sees("abc")


async def test_a_long_paste_is_given_to_the_component_in_full(desk, draws) -> None:
    made: list[Shouting] = []

    def factory(screen: ScreenHandle) -> Shouting:
        made.append(Shouting(screen))
        return made[0]

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(factory))
        await user.type("a" * 2000)
        await user.press("b")

        assert (made[0].text, made[0].cursor) == ("a" * 2000 + "b", 2001)


async def test_a_provider_of_a_plugin_completes_the_word(desk, draws) -> None:
    async def words(text: str, cursor: int) -> list[str]:
        return ["#123", "#124"] if text[:cursor].endswith("#12") else []

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.add_autocomplete_provider(words))
        await user.press("#", "1", "2")
        await user.sees("→ #123", "#124")
        await user.press("tab")

        assert user.typed.strip() == "#123"


async def test_a_provider_of_a_plugin_says_which_part_is_replaced(desk, draws) -> None:
    def issues(text: str, cursor: int) -> list[Completion]:
        start = text.find("issue ")
        return [Completion(f"#{number}", replaces=(start, cursor)) for number in (12, 34)] if start >= 0 else []

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.add_autocomplete_provider(issues))
        await user.type("see issue 3")
        await user.sees("→ #12", "#34")
        await user.press("down", "tab")

        assert user.typed.strip() == "see #34"


async def test_a_provider_that_replaces_what_is_not_there_is_reported(desk, draws) -> None:
    async with desk() as user:
        await draws.lets(
            user, lambda ctx: ctx.ui.add_autocomplete_provider(lambda *_: [Completion("x", replaces=(0, 99))])
        )
        await user.type("ab")

        await user.sees("offers to replace (0, 99) of 2 characters")


class Keys:
    """A plugin with keys that are those of actions."""

    @hookimpl
    def register_shortcuts(self) -> list[Shortcut]:
        return [
            Shortcut("ctrl+o", handler=lambda ctx: ctx.ui.notify("mine now")),
            Shortcut("escape", handler=lambda ctx: ctx.ui.notify("never")),
        ]


@pytest.mark.pi(plugins=[Keys()])
async def test_keys_of_plugins_come_before_actions_but_for_those_that_are_reserved(desk, pi_session) -> None:
    async with desk((120, 24)) as user:
        await pi_session.reload()
        await user.sees("takes ctrl+o from", "'escape' does nothing")
        await user.press("ctrl+o", "escape")
        await user.sees("mine now")

        assert "never" not in user.text
        assert not user.app.expanded


def thinks(script: Any) -> None:
    script.turn(thinking("secret"), text("said"))


async def test_the_label_of_hidden_thinking_is_a_plugins(desk, draws, script, pi_session) -> None:
    pi_session.settings.set("hideThinkingBlock", True)
    thinks(script)

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_hidden_thinking_label("Pondering\x1b[2J"))
        await user.type("hi", "enter")
        await user.sees("Pondering", "said")


class Pasting(Shouting):
    """Takes a paste whole, and draws its own rules."""

    draws_rules = True

    def render(self, width: int) -> list[str]:
        return ["=" * 10, *super().render(width)]

    def handle_paste(self, text: str) -> bool:
        self.pasted = text
        self.screen.refresh()
        return True


async def test_an_editor_with_rules_of_its_own_has_no_others(desk, draws) -> None:
    async with desk() as user:
        assert sum(row.startswith("─" * 10) for row in user.rows) == 2
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(Pasting))
        await user.sees("=" * 10)

        assert sum(row.startswith("─" * 10) for row in user.rows) == 0


async def test_a_component_that_has_the_keys_may_take_a_paste_whole(desk, draws) -> None:
    made: list[Pasting] = []

    def make(screen: ScreenHandle) -> Pasting:
        made.append(Pasting(screen))
        return made[0]

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(make))
        await user.when(lambda: bool(made))
        user.app.take_paste("two\nrows")
        await user.when(lambda: getattr(made[0], "pasted", "") == "two\nrows")
        made[0].screen.done(None)


class Counter:
    """A plugin whose message shows a number that grows with each ``/count``."""

    @hookimpl
    def activate(self, pi: PiAPI) -> None:
        number = 0
        pi.register_message_renderer("counter", lambda _message, **_look: [f"counted {number}"])

        @pi.register_command("count")
        async def count(_arguments: str, ctx: PiContext) -> None:
            nonlocal number
            number += 1
            if number == 1:
                await pi.send_message(CustomMessage(custom_type="counter", content="?"))
            ctx.ui.redraw()


@pytest.mark.pi(plugins=[Counter()])
async def test_what_a_renderer_returns_is_drawn_again_when_its_plugin_asks(desk) -> None:
    async with desk() as user:
        await user.type("/count", "enter")
        await user.sees("counted 1")
        await user.type("/count", "enter")
        await user.sees("counted 2")


async def test_the_indicator_is_a_plugins(desk, draws, pi_session) -> None:
    async with desk() as user:
        app = user.app
        await draws.lets(user, lambda ctx: ctx.ui.set_working_indicator(["<1>", "<2>\x1b[2J"], interval=0.03))
        app.state.work.running = True
        app.draw_all()
        await user.sees("<1> Working")
        await user.sees("<2> Working")
        await draws.lets(user, lambda ctx: ctx.ui.set_working_message("Cooking"))
        await user.sees("Cooking")
        await draws.lets(user, lambda ctx: ctx.ui.set_working_visible(False))
        await user.when(lambda: "Cooking" not in user.text)
        await draws.lets(user, lambda ctx: (ctx.ui.set_working_visible(True), ctx.ui.set_working_indicator()))
        await user.sees("Cooking")
        app.state.work.running = False
        app.draw_all()

        assert app.spinner._timer is None


async def test_a_plugins_text_for_work_stays_when_the_conversation_is_loaded(desk, draws) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_working_message("Cooking"))
        user.app.load()
        user.app.state.work.running = True
        user.app.draw_all()

        await user.sees("Cooking")


async def test_input_is_passed_through_the_handlers_of_plugins() -> None:
    filters = TypedFilters()
    removed = filters.add(lambda text: text.replace("a", "b"))
    filters.add(lambda text: True if "x" in text else None)

    before = [await filters.filtered("a"), await filters.filtered("xa")]
    removed()

    assert (before, await filters.filtered("a")) == (["b", ""], "a")


async def test_a_handler_of_input_may_ask_elsewhere() -> None:
    filters = TypedFilters()

    async def ask(text: str) -> bool | str:
        await asyncio.sleep(0)
        return text == "x" or text.upper()

    filters.add(ask)

    assert [await filters.filtered("a"), await filters.filtered("x")] == ["A", ""]
