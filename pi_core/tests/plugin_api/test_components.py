"""Components of plugins: contained everywhere, and shown as lines by front ends that draw none."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pi_core.plugin_api.activities import activity_from_wire, activity_to_wire
from pi_hookspecs import (
    Activity,
    ActivityItem,
    Component,
    FullUserInterface,
    Line,
    Overlay,
    Run,
    ScreenHandle,
    hookimpl,
)
from pi_testing import FakeFullUI, FakeUI, until


class Counter:
    """Displays its counter."""

    def __init__(self, screen):
        self.screen, self.count, self.disposed, self.widths = screen, 0, 0, []

    def render(self, width):
        self.widths.append(width)
        return [Line.of("Count: ", Run(str(self.count), "accent", bold=True))]

    def grow(self):
        self.count += 1
        self.screen.refresh()

    def dispose(self):
        self.disposed += 1


class Broken:
    def __init__(self, screen):
        self.screen = screen

    def render(self, width):
        raise ValueError("no pen")


class Widget:
    """As a Textual widget is: its ``render`` takes no width."""

    def __init__(self, screen):
        self.screen = screen

    def render(self):
        return "drawn by an application"


@pytest.fixture
def made():
    return []


@pytest.fixture
def counter(made):
    def factory(screen):
        made.append(Counter(screen))
        return made[-1]

    return factory


@pytest.fixture
def lines_ui():
    """A front end that shows lines."""
    return FakeUI()


@pytest.fixture
def ctx(session_of, lines_ui):
    return session_of(ui=lines_ui).ctx


def test_ctx_ui_has_everything_that_a_screen_has(ctx):
    members = [name for name in dir(FullUserInterface) if not name.startswith("_")]

    assert [name for name in members if not hasattr(ctx.ui, name)] == []


# As lines


async def test_a_widget_of_a_component_is_shown_as_lines(ctx, lines_ui, made, counter):
    ctx.ui.set_widget("count", counter, placement="belowEditor")

    assert lines_ui.widgets == {"count": ("Count: 0",)}
    assert lines_ui.placements == {"count": "belowEditor"}
    assert made[0].widths == [80]


async def test_what_it_gets_is_a_screen_of_lines(ctx, made, counter):
    ctx.ui.set_widget("count", counter)

    screen = made[0].screen
    assert isinstance(screen, ScreenHandle)
    assert isinstance(made[0], Component)
    assert (screen.kind, screen.size, screen.app, screen.theme, dict(screen.keybindings)) == (
        "lines",
        (80, 24),
        None,
        None,
        {},
    )


async def test_refreshes_in_a_row_draw_it_once(ctx, lines_ui, made, counter):
    ctx.ui.set_widget("count", counter)

    for _ in range(100):
        made[0].grow()
    await until(lambda: lines_ui.widgets == {"count": ("Count: 100",)})

    assert len(made[0].widths) == 2


async def test_a_thread_may_refresh_it(ctx, lines_ui, made, counter):
    ctx.ui.set_widget("count", counter)

    thread = threading.Thread(target=made[0].grow)
    thread.start()

    await until(lambda: lines_ui.widgets == {"count": ("Count: 1",)})
    thread.join()


async def test_lines_that_did_not_change_are_not_shown_again(session_of, made, counter):
    shown = []

    class Shows(FakeUI):
        def set_widget(self, key, lines=None, *, placement=None):
            shown.append(lines)

    session_of(ui=Shows()).ctx.ui.set_widget("count", counter)
    made[0].screen.refresh()
    await until(lambda: len(made[0].widths) == 2)

    assert shown == [["Count: 0"]]


@pytest.mark.parametrize(
    ("content", "shown"),
    [(None, {}), (["plain"], {"count": ("plain",)}), (Counter, {"count": ("Count: 0",)})],
    ids=["nothing", "lines", "another"],
)
async def test_what_takes_its_place_lets_it_clean_up(ctx, lines_ui, made, counter, content, shown):
    ctx.ui.set_widget("count", counter)

    ctx.ui.set_widget("count", content)
    made[0].grow()
    await asyncio.sleep(0)

    assert made[0].disposed == 1
    assert lines_ui.widgets == shown


@pytest.mark.parametrize(
    ("content", "last"),
    [(["plain"], ["plain"]), (Counter, ["Count: 0"]), (Widget, None), (None, None)],
    ids=["lines", "another", "no component", "nothing"],
)
async def test_what_is_replaced_is_not_cleared_before(session_of, counter, content, last):
    shown = []

    class Shows(FakeUI):
        def set_widget(self, key, lines=None, *, placement=None):
            shown.append(lines)

    ui = session_of(ui=Shows()).ctx.ui
    ui.set_widget("count", counter)

    ui.set_widget("count", content)

    assert shown == [["Count: 0"], last]


async def test_a_place_for_a_widget_that_does_not_exist_is_refused(ctx, lines_ui):
    with pytest.raises(ValueError, match="a widget is placed 'aboveEditor' or 'belowEditor', not 'sidebar'"):
        ctx.ui.set_widget("count", ["plain"], placement="sidebar")

    assert lines_ui.widgets == {}


SHOWING = {
    "notify": lambda ui: ui.notify("word"),
    "set_status": lambda ui: ui.set_status("key", "word"),
    "set_widget": lambda ui: ui.set_widget("key", ["word"]),
    "set_widget, a component": lambda ui: ui.set_widget("key", Counter),
    "set_activity": lambda ui: ui.set_activity("key", Activity("word")),
    "set_header": lambda ui: ui.set_header(Counter),
    "set_footer": lambda ui: ui.set_footer(Counter),
    "set_editor_component": lambda ui: ui.set_editor_component(Counter),
    "set_editor_text": lambda ui: ui.set_editor_text("word"),
    "set_title": lambda ui: ui.set_title("word"),
}


@pytest.mark.parametrize("base", [FakeUI, FakeFullUI])
@pytest.mark.parametrize("show", SHOWING.values(), ids=SHOWING)
async def test_whatever_a_thread_shows_reaches_the_front_end_in_its_loop(session_of, base, show):
    called = []

    class Watched(base):
        def __getattribute__(self, name):
            if name.startswith(("set_", "notify")):
                called.append((name, threading.get_ident()))
            return super().__getattribute__(name)

    session = session_of(ui=Watched())
    await session.start()
    called.clear()

    await asyncio.to_thread(show, session.ctx.ui)
    await asyncio.sleep(0)

    assert {thread for name, thread in called if name != "set_editor_component"} <= {threading.get_ident()}
    if show is not SHOWING["set_editor_component"]:
        assert called


async def test_it_can_take_itself_off(ctx, lines_ui, made, counter):
    ctx.ui.set_widget("count", counter)

    made[0].screen.done()
    made[0].screen.done()

    assert lines_ui.widgets == {}
    assert made[0].disposed == 1


@pytest.mark.parametrize(("method", "place"), [("set_header", "aboveEditor"), ("set_footer", "belowEditor")])
async def test_header_and_footer_are_widgets_where_there_are_none(ctx, lines_ui, made, counter, method, place):
    set_edge = getattr(ctx.ui, method)

    set_edge(counter)
    shown, places = dict(lines_ui.widgets), dict(lines_ui.placements)
    set_edge(None)

    assert [*shown.values()] == [("Count: 0",)]
    assert [*places.values()] == [place]
    assert lines_ui.widgets == {}


async def test_a_widget_of_an_application_is_left_out(ctx, lines_ui, recorder):
    ctx.ui.set_widget("widget", Widget)

    assert lines_ui.widgets == {}
    assert recorder.of("extension_error") == []


async def test_styled_lines_are_plain_ones_there(ctx, lines_ui):
    ctx.ui.set_widget("todo", [Line.of("a ", Run("b", "error")), "c"])

    assert lines_ui.widgets == {"todo": ("a b", "c")}


async def test_a_reload_takes_all_of_them_off(session_of, lines_ui, made, counter):
    session = session_of(ui=lines_ui)
    await session.start()
    session.ctx.ui.set_widget("count", counter)

    await session.reload()

    assert (made[0].disposed, lines_ui.widgets) == (1, {})


async def test_a_reload_removes_statuses_and_lines(session_of, lines_ui, counter):
    session = session_of(ui=lines_ui)
    await session.start()
    ui = session.ctx.ui
    ui.set_status("mode", "plan")
    ui.set_status("gone", "soon")
    ui.set_status("gone")
    ui.set_widget("todo", ["swim"])
    ui.set_widget("count", ["one"])
    ui.set_widget("count", counter)

    await session.reload()

    assert (lines_ui.statuses, lines_ui.widgets) == ({}, {})


@pytest.mark.parametrize("method", ["add_autocomplete_provider", "on_terminal_input"])
async def test_a_reload_and_the_end_of_the_session_remove_functions(session_of, lines_ui, method):
    added = []

    def add(function):
        added.append(function)
        return lambda: added.remove(function)

    setattr(lines_ui, method, add)
    session = session_of(ui=lines_ui)
    await session.start()
    remove = getattr(session.ctx.ui, method)(print)

    await session.reload()
    assert added == []
    remove()
    getattr(session.ctx.ui, method)(print)
    await session.dispose()

    assert added == []


async def test_the_end_of_the_session_lets_them_clean_up(session_of, lines_ui, made, counter):
    session = session_of(ui=lines_ui)
    await session.start()
    session.ctx.ui.set_widget("count", counter)

    await session.dispose()

    assert made[0].disposed == 1


# Without a user


@pytest.mark.parametrize("method", ["set_header", "set_footer", "set_editor_component"])
def test_nothing_is_made_without_a_user(session_of, made, counter, method):
    ui = session_of().ctx.ui

    getattr(ui, method)(counter)
    ui.set_widget("count", counter)

    assert made == []


# Failures


class Drawing:
    """Shows a broken component in a hook."""

    @hookimpl
    async def session_start(self, ctx):
        ctx.ui.set_widget("art", Broken)


async def test_a_component_that_fails_costs_its_place_and_blames_its_plugin(session_of, lines_ui, recorder):
    session = session_of(Drawing(), ui=lines_ui)

    await session.start()

    assert lines_ui.widgets == {"art": ("plugin plugin-0: widget 'art' failed",)}
    (failure,) = recorder.of("extension_error")
    assert failure.extension_path == "plugin-0"
    assert "Plugin 'plugin-0' failed in widget 'art': ValueError: no pen" in failure.error


async def test_after_three_failures_it_is_removed(ctx, lines_ui, recorder):
    made = []

    def factory(screen):
        made.append(Broken(screen))
        return made[-1]

    ctx.ui.set_widget("art", factory)
    for failures in (2, 3):
        made[0].screen.refresh()
        await until(lambda failures=failures: len(recorder.of("extension_error")) >= failures)

    assert lines_ui.widgets == {}
    assert "widget 'art' is switched off" in recorder.of("extension_error")[-1].error


class Stubborn:
    """Fails wherever it can."""

    render = property(lambda self: lambda width: ["drawn"])
    handle_key = property(lambda self: 1 / 0)
    dispose = property(lambda self: 1 / 0)


async def test_every_use_of_a_component_is_contained(session_of, recorder):
    ui = FakeFullUI()
    session_of(ui=ui).ctx.ui.set_widget("stubborn", lambda screen: Stubborn())

    screen = ui.screens["stubborn"]
    screen.component.focused = True

    assert (screen.rows, screen.press("x"), screen.component.focused) == (("drawn",), False, True)
    ui.set_widget("stubborn", None)
    failures = [event.error for event in recorder.of("extension_error")]
    assert [f"(in {__file__}, line " in each for each in failures] == [True, True]


async def test_functions_of_an_overlay_are_contained(session_of, recorder):
    def fail(size):
        raise ValueError(f"no room in {size}")

    ui = FakeFullUI(dismiss_unexpected=True)
    await session_of(ui=ui).ctx.ui.custom(Counter, overlay=Overlay(visible=fail))

    answer = ui.customs[0].overlay.visible((80, 24))

    assert answer is None
    assert "ValueError: no room in (80, 24)" in recorder.of("extension_error")[0].error


@pytest.mark.parametrize("rows", ["a text", [1, 2], None], ids=["text", "numbers", "nothing"])
async def test_rows_that_are_none_are_a_failure(ctx, lines_ui, recorder, rows):
    class Wrong:
        def render(self, width):
            return rows

    ctx.ui.set_widget("wrong", lambda screen: Wrong())

    assert "failed in widget 'wrong': TypeError" in recorder.of("extension_error")[0].error


async def test_a_factory_that_fails_shows_nothing(ctx, lines_ui, recorder):
    ctx.ui.set_widget("broken", lambda screen: 1 / 0)

    assert lines_ui.widgets == {}
    assert "failed in widget 'broken': ZeroDivisionError" in recorder.of("extension_error")[0].error


# Dialogs


async def test_a_factory_that_forgets_to_return_its_component_is_reported(ctx, lines_ui, recorder):
    ctx.ui.set_widget("todo", lambda screen: None)

    assert lines_ui.widgets == {}
    assert "the factory returned None" in recorder.of("extension_error")[0].error


async def test_a_component_that_cannot_be_shown_falls_back_to_dialogs(ctx, lines_ui, made, counter):
    lines_ui.answers("blue")

    answer = await ctx.ui.custom(counter, fallback=lambda ui: ui.select("Colour?", ["red", "blue"]))

    assert (answer, made) == ("blue", [])


async def test_a_fallback_may_be_plain(ctx, counter):
    assert await ctx.ui.custom(counter, fallback=lambda ui: 3) == 3


async def test_without_a_fallback_there_is_no_answer(ctx, counter):
    assert await ctx.ui.custom(counter) is None


async def test_without_a_user_the_fallbacks_dialogs_are_dismissed(session_of, counter):
    ctx = session_of().ctx

    assert await ctx.ui.custom(counter, fallback=lambda ui: ui.confirm("Sure?")) is False


@pytest.mark.parametrize("listed", [False, True])
async def test_an_activity_is_a_status_or_a_widget_where_there_is_no_strip(pi_session, fake_ui, listed):
    ui = pi_session.ctx.ui
    ui.set_activity("ships", Activity("2 ships", items=[ActivityItem("ketch"), ActivityItem("yawl")], listed=listed))

    assert fake_ui.statuses == ({} if listed else {"ships": "2 ships"})
    assert fake_ui.widgets == ({"ships": ("2 ships", "ketch", "yawl")} if listed else {})

    ui.set_activity("ships", None)

    assert (fake_ui.statuses, fake_ui.widgets) == ({}, {})
    with pytest.raises(TypeError, match="takes an Activity"):
        ui.set_activity("ships", "2 ships")


def test_an_activity_is_the_same_after_the_wire():
    ships = Activity("2 ships", items=[ActivityItem("ketch", open="/look s1"), ActivityItem("yawl")], listed=True)

    there = activity_from_wire({"activity": activity_to_wire(ships)})

    assert [(each.text, each.open, each.stop) for each in there.items] == [("ketch", "/look s1", ""), ("yawl", "", "")]
    assert (there.label, there.listed) == ("2 ships", True)
    for broken in ({}, None, {"label": "x"}, {"label": "x", "items": [1]}, "ship"):
        assert activity_from_wire({"activity": broken}) is None
    assert activity_to_wire(None) == {}
