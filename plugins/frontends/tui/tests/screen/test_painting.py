"""What is painted after a key, and what is written for it."""

from __future__ import annotations

from types import SimpleNamespace

from pi_tui.driver import ScreenDriver
from pi_tui.plugins_ui.plugin_box import SafeScreen
from pi_tui.screen.painted import Painted

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"


async def test_a_key_is_painted_without_waiting_for_textual(desk, monkeypatch):
    painted = []
    paint = SafeScreen._compositor_refresh
    async with desk() as user:
        await user.press("x")
        monkeypatch.setattr(SafeScreen, "_on_timer_update", lambda screen: None)
        monkeypatch.setattr(SafeScreen, "_compositor_refresh", lambda screen: painted.append(paint(screen)))
        await user.press("y")
        monkeypatch.undo()

        assert painted == [None]
        await user.sees("xy")


async def test_what_has_to_be_laid_out_first_is_painted_with_it(desk):
    async with desk() as user:
        await user.press("x", "shift+enter", "y", "shift+enter", "z")

        await user.sees("x", "y", "z")


async def test_only_widgets_in_the_rows_that_change_are_rendered(desk, monkeypatch):
    rendered = []
    render = Painted.render_lines
    async with desk() as user:
        await user.press("x")
        monkeypatch.setattr(
            Painted, "render_lines", lambda widget, crop: [rendered.append(widget.id), render(widget, crop)][1]
        )
        await user.press("y")
        monkeypatch.undo()

    assert set(rendered) == {"editor"}


async def test_a_frame_is_one_write_to_the_terminal():
    app = SimpleNamespace(terminal=SimpleNamespace(is_taken=True), typed_filters=None, size=(10, 2))
    driver, written = ScreenDriver(app), []
    driver._writer_thread = SimpleNamespace(write=written.append)

    for data in ("\x07", BEGIN, "\x1b[1;1Hsome\x1b[2;1Htext\x1b[1;1H", END, "\x07"):
        driver.write(data)

    assert (written[0], written[2]) == ("\x07", "\x07")
    assert written[1].startswith(BEGIN)
    assert written[1].endswith(END)
    assert "text" in written[1]
