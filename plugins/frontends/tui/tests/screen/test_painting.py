"""What is painted after a key, and what is written for it."""

from __future__ import annotations

import asyncio
import os
import pty
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual import events

from pi_tui.direct import open_terminal
from pi_tui.driver import ScreenDriver, _Quiet
from pi_tui.keys.events import Key
from pi_tui.plugins_ui.plugin_box import SafeScreen
from pi_tui.screen.painted import Painted
from pi_tui.screen.typed_filters import TypedFilters

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
    app = SimpleNamespace(
        terminal=SimpleNamespace(is_taken=True, size=(0, 0), output=None), typed_filters=None, size=(10, 2)
    )
    driver, written = ScreenDriver(app), []
    driver._writer_thread = SimpleNamespace(write=written.append)

    for data in ("\x07", BEGIN, "\x1b[1;1Hsome\x1b[2;1Htext\x1b[1;1H", END, "\x07"):
        driver.write(data)

    assert (written[0], written[2]) == ("\x07", "\x07")
    assert written[1].startswith(BEGIN)
    assert written[1].endswith(END)
    assert "text" in written[1]


class Thread:
    """Takes what is for the writer thread; the test writes it."""

    def __init__(self):
        self.waiting = []
        self.write = self.waiting.append


@pytest.fixture
def terminal():
    """The two ends of a terminal: what a program writes to, and what is read from."""
    read, write = pty.openpty()
    with os.fdopen(write, "w", encoding="utf-8") as output:
        yield output, read
    os.close(read)


async def test_what_the_terminal_takes_is_written_without_the_thread(terminal, monkeypatch):
    output, read = terminal
    app = SimpleNamespace(
        terminal=SimpleNamespace(is_taken=True, size=(0, 0), output=None), typed_filters=None, size=(10, 2)
    )
    driver, thread = ScreenDriver(app), Thread()
    driver._writer_thread, driver._direct = thread, open_terminal(output)

    driver.write("\x07")
    assert os.read(read, 100) == b"\x07"

    while not thread.waiting:  # nobody reads
        driver.write("\x07" * 999)
    driver.write("\x1b[?25h")
    assert thread.waiting[-1] == "\x1b[?25h"

    file, written = driver._file, len(thread.waiting)
    for text in thread.waiting:
        file.write(text)
    file.flush()
    driver._direct.close()
    driver._direct = SimpleNamespace(write=lambda data: data[1:])
    driver.write("\u2026\x07")
    assert len(thread.waiting) == written + 1
    assert thread.waiting[-1].encode("utf-8", "surrogateescape") == "\u2026\x07".encode()[1:]


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("taken", range(4))
def test_a_character_that_the_terminal_takes_half_of_is_whole_in_the_end(tmp_path, errors, taken):
    data = "\u2500\u2026".encode()
    with (tmp_path / "terminal").open("w", encoding="utf-8", errors=errors) as output:
        output.buffer.write(data[:taken])
        quiet = _Quiet(output)
        quiet.write(data[taken:].decode("utf-8", "surrogateescape"))
        quiet.write("\u2500")
        quiet.flush()

    assert (tmp_path / "terminal").read_bytes() == data + "\u2500".encode()


def test_what_is_no_terminal_is_not_opened(tmp_path):
    with (tmp_path / "file").open("w", encoding="utf-8") as file:
        assert open_terminal(file) is None
    assert open_terminal(None) is None


async def test_a_key_does_not_overtake_what_was_pasted_before_it(desk):
    async with desk() as user:
        may_end = asyncio.Event()

        user.app.call_next(may_end.wait)  # as a widget does that is removed
        user.app.post_message(events.Paste("pasted"))
        for _ in range(5):
            await asyncio.sleep(0)

        assert not user.app.take_key(Key("x", "x"))
        may_end.set()
        await user.sees("pasted")


async def test_a_screen_that_is_started_twice_reads_its_terminal_once(terminal, monkeypatch):
    output, _ = terminal
    monkeypatch.setattr("pi_tui.driver.LinuxDriver.start_application_mode", lambda driver: None)
    opened = SimpleNamespace(
        is_taken=True,
        size=(0, 0),
        shows_cursor=False,
        settings=None,
        stop_early=bytes,
        output=output,
        take_back=lambda: None,
    )
    driver = ScreenDriver(SimpleNamespace(terminal=opened, typed_filters=TypedFilters(), size=(10, 2)))
    driver._writer_thread, driver.fileno = Thread(), output.fileno()

    driver.start_application_mode()
    before = len([*Path("/dev/fd").iterdir()])
    driver.start_application_mode()

    assert len([*Path("/dev/fd").iterdir()]) == before
    driver._close_output()
    driver._close_input()
