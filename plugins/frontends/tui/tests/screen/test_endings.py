"""What happens when something of the screen fails, and what reaches the terminal of what strangers wrote."""

from __future__ import annotations

import asyncio
import contextvars
import io
import re
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Line, Run, SessionShutdownEvent, SessionStartEvent, hookimpl
from pi_testing import for_each, text
from pi_testing.patience import PATIENCE
from pi_tui.first_frame import drawn, palette_of
from pi_tui.printed import Printed
from pi_tui.screen.strips import Painter

if TYPE_CHECKING:
    from textual.geometry import Region

    from pi_hookspecs import PiContext
    from pi_testing import ScriptedProvider

PALETTE = palette_of("dark", {"TERM": "xterm-256color"})

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def acts(text: str) -> bool:
    """Whether a terminal would do something else with a text than draw it from left to right."""
    return any(unicodedata.category(each) in ("Cc", "Cs") or each in BIDI for each in text)


HOSTILE = "\x1b]52;c;b3duZWQ=\x07\x1b]0;owned\x07\x1bc\x9b2J\x1b[2J\u202e\x08\x0e"


async def test_an_error_of_ours_ends_the_screen_and_is_kept_for_the_shell(desk, capsys) -> None:
    def broken(_crop: Region) -> None:
        raise ZeroDivisionError("the tide table is empty")

    apps = []

    async def break_it() -> None:
        async with desk() as user:
            apps.append(user.app)
            user.app.transcript.render_lines = broken
            user.app.transcript.refresh()
            for _ in range(500):
                await asyncio.sleep(0 if user.app.crash else 0.01)

    with pytest.raises(ZeroDivisionError):
        await break_it()

    assert str(apps[0].crash) == "the tide table is empty"
    assert "Traceback" not in "".join(capsys.readouterr())


async def test_what_the_model_writes_reaches_no_terminal_as_it_is(desk, script: ScriptedProvider) -> None:
    script.turn(text(f"High{HOSTILE} tide `x{HOSTILE}` [l{HOSTILE}](https://a.example/{HOSTILE})"))

    async with desk() as user:
        await user.type(f"How?{HOSTILE}", "enter")
        await user.sees("High", "How?")
        strips = user.app.screen._compositor.render_strips()

    written = "".join(
        segment.text + str(segment.style.link or "" if segment.style else "") for s in strips for segment in s
    )
    assert not acts(written)


@given(st.text(), st.text(), st.integers(1, 40))
def test_a_strip_is_as_wide_as_asked_and_printable_whatever_a_run_holds(one: str, link: str, width: int) -> None:
    line = Line.of(Run(one, link=link), Run(one, "accent", background="selectedBg"))

    strip = Painter(PALETTE).strip(line, width)

    assert strip.cell_length == width
    assert not any(acts(segment.text) for segment in strip)


@for_each("blank", ["\u3000", "\xa0", "👩\u200d💻"])
def test_a_row_keeps_its_blanks_whatever_else_it_has(blank: str) -> None:
    line = Line.of(Run("Say", bold=True), Run(f"    x  =  {blank}  "), Run("y", "accent"))

    assert Painter(PALETTE).strip(line, 60).text.rstrip() == str(line)
    assert re.sub(r"\x1b\[[0-9;]*m", "", drawn([line], PALETTE)[0]) == str(line)


@given(st.text(), st.sampled_from(["text", "accent", "no such role"]))
def test_what_is_printed_on_exit_has_no_sequence_but_colours(one: str, role: str) -> None:
    (row,) = drawn([Line.of(Run(one, role))], PALETTE)

    assert not acts("".join(part.partition("m")[2] for part in row.split("\x1b[")))


async def test_what_is_printed_becomes_a_notice(desk) -> None:
    async with desk() as user:
        printed = Printed()
        printed.stream.write("before the screen\n")
        printed.to(user.app.print_line)
        user.app.capture(printed.stream)
        print("library: deprecated\x1b]0;owned\x07")  # noqa: T201 - as a library does
        print("to stderr", file=sys.stderr)  # noqa: T201 - as above

        assert "owned" not in await user.sees("before the screen", "library: deprecated", "to stderr")


@for_each("texts", [["tide " * 400_000 + "\n"], ["tide\n"] * 20_000])
async def test_of_a_flood_the_beginning_is_displayed_and_how_much_is_left_out(texts: list[str]) -> None:
    displayed: list[str] = []
    printed = Printed()
    printed.to(displayed.append)
    for each in texts:
        printed.stream.write(each)

    assert displayed[0].startswith("tide")
    assert len(displayed) <= 200
    assert sum(map(len, displayed)) <= 16_000

    left_out = sum(map(len, "".join(texts).split("\n"))) - sum(map(len, displayed))
    rest = io.StringIO()
    printed.end(rest)
    assert rest.getvalue() == f"... {left_out:,} more printed characters are left out\n"


async def test_the_flood_of_one_plugin_leaves_room_for_what_others_print(monkeypatch) -> None:
    monkeypatch.setattr("pi_tui.printed._SECOND", 3600.0)
    displayed: list[str] = []
    printed = Printed()
    printed.to(displayed.append)
    for number in range(100):
        for plugin, line in (("gulls", "noise " * 1000), ("tides", f"hour {number}")):
            monkeypatch.setattr(printed.stream, "_owner", lambda plugin=plugin: plugin)
            printed.stream.write(f"{line}\n")

    rest = io.StringIO()
    printed.end(rest)

    assert [each for each in displayed if "tides" in each] == [
        f"Plugin 'tides' printed: hour {number}" for number in range(100)
    ]
    assert sum(len(each) for each in displayed if "gulls" in each) <= 16_000
    assert rest.getvalue().startswith("Plugin 'gulls' printed: ... ")
    assert rest.getvalue().endswith(" more printed characters are left out\n")


@pytest.mark.parametrize("size", [(20, 6), (21, 7), (40, 10), (300, 80), (1, 1)])
async def test_every_size_can_be_drawn(desk, script: ScriptedProvider, size: tuple[int, int]) -> None:
    script.turn(text("The tide is high."))

    async with desk(size=size) as user:
        await user.type("How is the tide?", "enter")
        await user.when(lambda: not user.app.talk.busy)
        await user.press("pageup", "pagedown")

        assert all(len(row) <= size[0] for row in user.rows)


async def test_what_the_session_starts_can_make_timers(desk) -> None:
    ticked = asyncio.Event()

    async with desk() as user:

        async def session_task() -> None:
            with user.app.as_current():
                user.app.set_interval(0.01, ticked.set)

        await asyncio.create_task(session_task(), context=contextvars.Context())
        await asyncio.wait_for(ticked.wait(), PATIENCE)


class Warns:
    """A plugin that reports something when a session starts, and when it ends."""

    @hookimpl
    def session_start(self, event: SessionStartEvent, ctx: PiContext) -> None:
        """Report."""
        ctx.ui.notify(f"beware of the {event.reason}", "warning")

    @hookimpl
    def session_shutdown(self, event: SessionShutdownEvent, ctx: PiContext) -> None:
        """Report."""
        ctx.ui.notify(f"ended a ship for the {event.reason}")


@pytest.mark.pi(plugins=[Warns()])
async def test_a_task_that_began_before_the_screen_can_reload_the_plugins(desk, pi_session) -> None:
    failed: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failed.append(context))
    async with desk() as user:
        ticked = [asyncio.Event(), asyncio.Event()]
        empty = contextvars.Context()
        empty.run(user.app.set_timer, 0.01, ticked[0].set)
        empty.run(user.app.set_interval, 0.01, ticked[1].set)
        await asyncio.create_task(pi_session.reload(), context=contextvars.Context())
        await asyncio.wait_for(asyncio.gather(*(each.wait() for each in ticked)), PATIENCE)
        await user.sees("beware of the reload")

    assert failed == []


@pytest.mark.pi(plugins=[Warns()])
async def test_what_a_plugin_reports_between_two_sessions_stays_on_the_screen(desk) -> None:
    async with desk() as user:
        user.app.notice("of the session before")
        await user.type("/new ", "enter")
        await user.when(lambda: not user.typed)
        await user.app.talk.end()
        await user.press("a")

        assert user.text.count("ended a ship for the new") == 1
        assert user.text.count("beware of the new") == 1
        assert "of the session before" not in user.text


async def test_what_a_plugin_reports_at_the_first_start_stays_on_the_screen(desk) -> None:
    async with desk() as user:
        user.app.begin(bool)
        user.app.interface.notify("beware", "warning")
        user.app.take_event(SessionStartEvent())
        await user.sees("beware")

        user.app.load()
        await user.press("a")
        assert "beware" not in user.text
