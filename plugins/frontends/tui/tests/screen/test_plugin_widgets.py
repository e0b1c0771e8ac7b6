"""Widgets of Textual that plugins bring: displayed, given the keys, and removed where their code raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from textual.widget import Widget
from textual.widgets import Input, Static

from pi_hookspecs import Overlay

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events


class InRender(Static):
    def render(self) -> str:
        raise ValueError("in render")


class InLines(Widget):
    DEFAULT_CSS = "InLines { height: 3; }"

    def render_line(self, y: int) -> Any:
        raise ValueError("in lines")


class InMount(Static):
    def on_mount(self) -> None:
        raise ValueError("at mount")


class InCompose(Widget):
    def compose(self) -> Any:
        raise ValueError("in compose")


class InTimer(Static):
    def on_mount(self) -> None:
        self.set_interval(0.01, self.tick)

    def tick(self) -> None:
        raise ValueError("in a timer")


class InKey(Input):
    def on_key(self, event: events.Key) -> None:
        raise ValueError("in a key")


async def test_a_widget_is_displayed_and_removed(desk, draws) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", lambda screen: Static("hello from textual")))
        text = await user.sees("hello from textual")
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", ["lines now"]))
        await user.sees("lines now")

        assert text.index("hello") < text.index("(auto)")
        assert "hello from textual" not in user.text


@pytest.mark.parametrize("overlay", [None, Overlay(width=40)])
async def test_an_input_has_the_keys_until_it_is_done(desk, draws, overlay: Overlay | None) -> None:
    class Name(Input):
        def __init__(self, screen: Any) -> None:
            super().__init__(placeholder="name")
            self.done = screen.done

        def on_input_submitted(self) -> None:
            self.done(self.value)

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(Name, overlay=overlay))
        await user.when(lambda: isinstance(user.app.focused, Name))
        await user.press("a", "d", "a", "enter")
        await user.when(lambda: draws.results == ["ada"])
        await user.press("x")

        assert user.typed == "x"


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_an_input_that_is_left_is_dismissed(desk, draws, key: str) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(lambda screen: Input()))
        await user.when(lambda: isinstance(user.app.focused, Input))
        await user.press("a", key)
        await user.when(lambda: draws.results == [None])
        await user.press("x")

        assert user.typed == "x"


@pytest.mark.parametrize("kind", [InRender, InLines, InMount, InCompose, InTimer])
@pytest.mark.parametrize(
    "place",
    [
        lambda ui, make: ui.set_widget("w", make),
        lambda ui, make: ui.set_footer(make),
        lambda ui, make: ui.custom(make, overlay=Overlay()),
    ],
    ids=["widget", "footer", "overlay"],
)
async def test_a_widget_that_raises_is_removed_with_blame(
    desk, draws, kind: type[Widget], place: Callable[[Any, Any], Any]
) -> None:
    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: place(ctx.ui, lambda screen: kind()))
        text = await user.sees("Plugin 'draws'", "raised ValueError", "It was removed")
        await user.type("still here")

        assert "in drawing" in text
        assert user.typed == "still here"
        await user.when(lambda: not user.app.query(kind))
        await user.sees("(auto)")


async def test_a_widget_that_raises_on_a_key_is_removed_and_the_keys_come_back(desk, draws) -> None:
    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(lambda screen: InKey()))
        await user.when(lambda: isinstance(user.app.focused, InKey))
        await user.press("a")
        await user.sees("raised ValueError: in a key")
        await user.when(lambda: draws.results == [None])
        await user.press("x")

        assert user.typed == "x"


async def test_a_widget_cannot_replace_the_editor(desk, draws) -> None:
    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_editor_component(lambda screen: Input()))
        await user.sees("TypeError: a widget of Textual cannot replace the")
        await user.type("hello")

        assert user.typed == "hello"
