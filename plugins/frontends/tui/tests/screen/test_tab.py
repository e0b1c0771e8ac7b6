"""The terminal's tab: a title, and progress where the user wants it."""

from __future__ import annotations

import pytest

from pi_core import Settings
from pi_tui.screen.tab import Tab
from pi_tui.terminal import PROGRESS_OFF, PROGRESS_ON, Terminal
from pi_tui.view.state import State


@pytest.fixture
def written() -> list[str]:
    return []


def tab(written: list[str], *, progress: bool, terminal: Terminal | None = None) -> Tab:
    settings = Settings.in_memory({"terminal": {"showTerminalProgress": progress}})
    return Tab(written.append, settings, terminal)


def test_the_title_is_written_when_it_changes(written: list[str]) -> None:
    state = State()
    state.footer.cwd = "/home/ada/harbour"
    shown = tab(written, progress=False)

    shown.show(state)
    state.work.running = True
    shown.show(state)
    state.title = "of a plugin"
    shown.show(state)

    assert written == ["\x1b]0;π - harbour\x07", "\x1b]0;of a plugin\x07"]


def test_progress_is_written_as_long_as_pi_works_and_removed_with_the_terminal(written: list[str]) -> None:
    terminal = Terminal({})
    state = State(title="t")
    shown = tab(written, progress=True, terminal=terminal)

    state.work.running = True
    shown.show(state)
    while_working = terminal.shows_progress
    shown.show(state)
    state.work.running = False
    shown.show(state)

    assert written[1:] == [PROGRESS_ON, PROGRESS_OFF]
    assert (while_working, terminal.shows_progress) == (True, False)


def test_a_terminal_that_is_restored_in_the_middle_has_no_progress_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal({})
    terminal.is_taken = terminal.shows_progress = True
    texts: list[str] = []
    monkeypatch.setattr(terminal, "write", texts.append)

    terminal.restore()

    assert texts[0].startswith(PROGRESS_OFF)
