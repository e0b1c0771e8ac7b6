"""What plugins draw on the screen: widgets, header, footer, dialogs and overlays of components, and those that fail."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from pi_hookspecs import FullUserInterface, Line, Overlay, Run, ScreenSize
from pi_testing import for_each
from pi_tui.plugins_ui.region import region_of

if TYPE_CHECKING:
    from pi_hookspecs import ScreenHandle


class Box:
    """A component that draws texts, counts keys and is done with Enter."""

    def __init__(self, screen: ScreenHandle, *rows: str) -> None:
        self.screen, self.rows = screen, rows
        self.keys: list[str] = []
        self.clicks: list[tuple[str, int, int]] = []
        self.focused = False
        self.disposed = 0

    def render(self, width: int) -> list[str]:
        return [*self.rows, f"{width} cells, keys: {' '.join(self.keys)}"]

    def handle_key(self, key: str) -> bool:
        if key == "enter":
            self.screen.done(self.keys)
        elif key in ("escape", "ctrl+c"):
            return False
        else:
            self.keys.append(key)
            self.screen.refresh()
        return True

    def handle_mouse(self, event: Any) -> bool:
        self.clicks.append((event.kind, event.x, event.y))
        return True

    def dispose(self) -> None:
        self.disposed += 1


class Kept:
    """Keeps the last component that was made."""

    def __init__(self, *rows: str) -> None:
        self.rows = rows
        self.box: Any = None

    def __call__(self, screen: ScreenHandle) -> Box:
        self.box = Box(screen, *self.rows)
        return self.box


class Later(Box):
    """Draws a key some time after it was pressed, as a component of another process does."""

    def handle_key(self, key: str) -> bool:
        if key == "enter":
            return super().handle_key(key)
        asyncio.get_running_loop().call_later(0.01, super().handle_key, key)
        return True


async def test_what_a_key_changes_is_drawn_at_once_also_if_it_comes_later(desk, draws, monkeypatch) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(lambda screen: Later(screen, "asks")))
        await user.sees("asks")
        monkeypatch.setattr("pi_tui.screen.frames._COMPONENT_SECONDS", 1000)  # until a frame that is only wanted
        await user.press("x")
        await user.sees("keys: x")
        await user.press("enter")


class Elsewhere(Box):
    """Shows a key only when it asks to be drawn, and counts how often it is drawn."""

    draws_later = True
    drawn = 0

    def render(self, width: int) -> list[str]:
        self.drawn += 1
        return super().render(width)

    def handle_key(self, key: str) -> bool:
        return key in ("x", "enter") and super().handle_key(key)


async def test_a_component_that_draws_later_is_drawn_when_it_asks_for_it(desk, draws) -> None:
    made: list[Elsewhere] = []

    def make(screen: Any) -> Elsewhere:
        made.append(Elsewhere(screen, "asks"))
        return made[0]

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(make))
        await user.sees("asks")
        before = made[0].drawn
        await user.press("y")
        assert made[0].drawn == before
        await user.press("x")
        await user.sees("keys: x")
        await user.press("enter")


async def test_for_a_key_that_is_drawn_later_the_screen_is_painted_once(desk, draws, monkeypatch) -> None:
    class Late(Elsewhere):
        def handle_key(self, key: str) -> bool:
            painted.append("key")
            asyncio.get_running_loop().call_later(0.01, super().handle_key, key)
            return True

    painted: list[str] = []
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(lambda screen: Late(screen, "asks")))
        await user.sees("asks")
        draw_now = user.app.draw_now
        monkeypatch.setattr(user.app, "draw_now", lambda: [painted.append("drawn"), draw_now()])
        await user.press("x")
        await user.sees("keys: x")
        assert painted == ["key", "drawn"]
        assert not user.app.painter.paints_now
        await user.press("enter")


async def test_the_interface_has_everything_that_a_plugin_can_use(desk, draws) -> None:
    async with desk() as user:
        assert isinstance(user.app.interface, FullUserInterface)


async def test_a_widget_is_drawn_again_on_refresh_and_in_another_width(desk, draws) -> None:
    made = Kept("todo")

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", made))
        await user.sees("todo", "80 cells")
        made.box.rows = ("done",)
        made.box.screen.refresh()
        await user.sees("done")
        await user.pilot.resize_terminal(60, 20)
        await user.sees("60 cells")
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", None))
        await user.when(lambda: "60 cells" not in user.text)

    assert made.box.disposed == 1


async def test_widgets_are_above_and_below_the_editor_and_take_the_mouse(desk, draws) -> None:
    above, below = Kept("over"), Kept("under")

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("a", ["lines", "of text"]))
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("b", above))
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("c", below, placement="belowEditor"))
        await user.sees("over", "under")
        rows = user.rows
        await user.pilot.mouse_down(offset=(5, rows.index("over")))
        await user.pilot.mouse_up(offset=(5, rows.index("under") + 1))
        await user.pilot.pause()

        assert rows.index("of text") < rows.index("over") < rows.index("under")
    assert ("press", 5, 0) in above.box.clicks
    assert ("release", 5, 1) in below.box.clicks


async def test_a_plugin_replaces_header_and_footer(desk, draws) -> None:
    async with desk() as user:
        first = user.text
        await draws.lets(user, lambda ctx: ctx.ui.set_header(Kept("MY HEAD")))
        await draws.lets(user, lambda ctx: ctx.ui.set_footer(Kept("MY FOOT")))
        text = await user.sees("MY HEAD", "MY FOOT")
        await draws.lets(user, lambda ctx: (ctx.ui.set_header(), ctx.ui.set_footer()))
        await user.when(lambda: "MY" not in user.text)

        assert "interrupt" in first
        assert "interrupt" not in text
        assert "(auto)" not in text
        assert "interrupt" in user.text
        assert "(auto)" in user.text


async def test_a_component_has_the_keys_until_it_is_done(desk, draws) -> None:
    made = Kept("game")

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(made))
        await user.sees("game")
        await user.press("left", "A", "ctrl+o", "space")
        user.app.take_paste("x y\n")
        await user.when(lambda: draws.results)

        assert draws.results == [["left", "A", "ctrl+o", "space", "x", "space", "y"]]
        assert "game" not in user.text
        assert user.typed == ""
    assert (made.box.disposed, made.box.focused) == (1, True)


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
@pytest.mark.parametrize("overlay", [None, Overlay()])
async def test_what_does_not_use_escape_or_ctrl_c_is_dismissed_by_it(
    desk, draws, key: str, overlay: Overlay | None
) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(Kept("game"), overlay=overlay))
        await user.sees("game")
        await user.press(key)
        await user.when(lambda: draws.results)

        assert draws.results == [None]
        assert "game" not in user.text


async def test_an_overlay_is_above_the_screen_and_its_handle_gives_the_keys_back(desk, draws) -> None:
    handles: list[Any] = []
    made = Kept("floating")
    overlay = Overlay(anchor="top-right", width=30, margin=1, on_handle=handles.append)

    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(made, overlay=overlay))
        await user.sees("floating", "30 cells")
        row = next(row for row in user.rows if "floating" in row)
        handles[0].unfocus()
        await user.press("h", "i")
        typed = user.typed
        handles[0].focus()
        await user.press("z")
        handles[0].set_hidden(True)
        await user.when(lambda: "floating" not in user.text)
        handles[0].set_hidden(False)
        handles[0].focus()
        await user.sees("floating", "keys: z")
        await user.press("enter")
        await user.when(lambda: draws.results == [["z"]])

        assert row.index("floating") == 80 - 1 - 30
        assert typed == "hi"


async def test_a_dialog_over_an_overlay_has_the_keys_first(desk, draws) -> None:
    made = Kept("floating")

    async def both(ctx: Any) -> Any:
        ctx.ui.notify("begun")
        return await ctx.ui.custom(made, overlay=Overlay())

    async with desk() as user:
        await draws.lets(user, both)
        await user.sees("floating")
        asked = user.app.start(user.app.interface.select("Really?", ["yes", "no"]))
        await user.sees("Really?")
        await user.press("enter")
        await user.when(lambda: "Really?" not in user.text)
        await user.press("q", "enter")

        assert asked is None
    assert made.box.keys == ["q"]


@for_each(
    ("overlay", "region"),
    [
        (Overlay(), (16, 9, 48, 6)),
        (Overlay(anchor="top-left", width="50%", height=3), (0, 0, 40, 3)),
        (Overlay(anchor="bottom-right", width=10, margin=2, offset=(-1, 1)), (67, 17, 10, 6)),
        (Overlay(width="10%", min_width=20, anchor="left"), (0, 9, 20, 6)),
        (Overlay(width=500, offset=(99, -99)), (0, 0, 80, 6)),
    ],
)
def test_an_overlay_is_placed_by_anchor_size_margin_and_offset(overlay: Overlay, region: tuple[int, ...]) -> None:
    assert region_of(overlay, ScreenSize(80, 24), 6) == region


# Components that fail


class Fails(Box):
    drawn = 0


class Raises(Fails):
    def render(self, width: int) -> list[str]:
        self.drawn += 1
        raise ValueError("boom")


class Hangs(Fails):
    def render(self, width: int) -> list[str]:
        self.drawn += 1
        until = time.thread_time() + 20
        while time.thread_time() < until:
            pass
        return []


class Wide(Box):
    def render(self, width: int) -> list[Any]:
        return [
            "x" * 500,
            Line.of(Run("y" * 500), Run("\x1b[2J\x1b]0;owned\x07")),
            "\x1b[31mred\x1b[0m\x1b]52;c;aGk=\x07",
        ]


@pytest.mark.parametrize("kind", [Raises, Hangs])
async def test_a_widget_that_fails_three_times_is_removed_and_blamed(desk, draws, kind: type[Fails]) -> None:
    made: list[Fails] = []

    def factory(screen: ScreenHandle) -> Fails:
        made.append(kind(screen))
        return made[0]

    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", factory))
        await user.sees("widget 'w' failed")
        for times in (2, 3):
            made[0].screen.refresh()
            await user.when(lambda times=times: made[0].drawn >= times)
        text = await user.sees("is switched off")

        assert "Draws" in text or "draws" in text
        await user.when(lambda: "widget 'w' failed" not in "\n".join(user.rows[-6:]))
        await user.type("hello")
        assert user.typed == "hello"


async def test_rows_that_are_too_wide_or_have_control_sequences_are_cut_and_cleaned(desk, draws) -> None:
    async with desk((40, 20)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", Wide))
        text = await user.sees("xxxx", "yyyy", "red")

        assert max(map(len, user.rows)) <= 40
        assert "\x1b" not in text
        assert "owned" not in text


@pytest.mark.parametrize("overlay", [None, Overlay()])
async def test_a_component_that_raises_on_each_key_is_removed(desk, draws, overlay: Overlay | None) -> None:
    class Hostile(Box):
        def handle_key(self, key: str) -> bool:
            raise RuntimeError(key)

    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(lambda screen: Hostile(screen, "game"), overlay=overlay))
        await user.sees("game")
        await user.press("a", "b", "c")
        await user.when(lambda: draws.results == [None])

        assert "is switched off" in user.text


async def test_a_factory_that_raises_or_makes_nothing_leaves_the_screen_as_it_was(desk, draws) -> None:
    def raises(screen: ScreenHandle) -> Box:
        raise KeyError("nope")

    async with desk((200, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_footer(raises))
        await user.sees("nope", "(auto)")
        await draws.lets(user, lambda ctx: ctx.ui.custom(lambda screen: object()))
        await user.sees("is neither a component")
        await draws.lets(user, lambda ctx: ctx.ui.custom(raises))
        await user.when(lambda: None in draws.results)

        assert user.app.dialog is None


async def test_an_overlay_whose_functions_raise_is_displayed(desk, draws) -> None:
    def broken(_value: object) -> bool:
        raise ValueError("boom")

    async with desk((100, 30)) as user:
        await draws.lets(
            user, lambda ctx: ctx.ui.custom(Kept("game"), overlay=Overlay(visible=broken, on_handle=broken))
        )
        await user.sees("game")
        await user.press("enter")
        await user.when(lambda: draws.results == [[]])


WRONG: dict[str, Any] = {
    "no run": Line(runs=("text",)),  # type: ignore[arg-type]
    "a number": Line.of(Run(7)),  # type: ignore[arg-type]
    "a list as role": Line.of(Run("x", ["accent"])),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_line_of_wrong_types_is_a_failure_of_the_component(desk, draws, wrong: str) -> None:
    class Draws(Box):
        def render(self, width: int) -> list[Any]:
            return [WRONG[wrong]]

    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("w", Draws))
        await user.sees("widget 'w' failed", "TypeError: it returned a Line with")
        await user.type("hello")

        assert user.typed == "hello"


ODD = Run("text", "no-role", bold=[1], link=5, background=["bg"])  # type: ignore[arg-type]


async def test_odd_styles_are_drawn_without_them(desk, draws) -> None:
    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_widget("lines", [Line((ODD,), fill=7)]))  # type: ignore[arg-type]
        await user.sees("text")
        row = user.app.above.painted[0]

        assert (row.runs, row.fill) == ((Run("text", "no-role", bold=True),), None)


@pytest.mark.parametrize("wrong", [{"width": 0.5}, {"margin": "2"}, {"offset": None}, {"anchor": 3}], ids=str)
async def test_an_overlay_of_wrong_types_is_refused(desk, draws, wrong: dict[str, Any]) -> None:
    async with desk((100, 30)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.custom(Kept("game"), overlay=Overlay(**wrong)))
        await user.sees("Plugin 'draws' failed in command /draw: TypeError")
        await user.type("hello")

        assert user.typed == "hello"
        assert user.app.overlays.focused is None


@pytest.mark.parametrize("seconds", [0, -1, 1e9, float("nan"), float("inf")])
async def test_the_indicator_turns_neither_too_fast_nor_never(desk, draws, seconds: float) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.set_working_indicator(["a", "b"], seconds))

        assert 0.03 <= user.app.spinner._seconds <= 60
