"""What comes from outside: an editor that fails, a stop and a continuation, the command printed at the end."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from journey.kinds import Kind
from journey.screen import Screen
from journey.terminal import Terminal

pytestmark = pytest.mark.journeys

EDITOR, END = "\x07", "\x04"
WIDE = (160, 40)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("editor", ["nosucheditor", "vi 'unbalanced", "false", "sh -c 'kill -9 $$'", "sh -c 'rm $1' x"])
def test_an_editor_that_fails_leaves_the_draft_and_the_screen(editor, state_of, server):
    state = state_of(Kind(open=False, size=WIDE))
    state.environment["VISUAL"] = editor
    with Screen(state, server) as screen:
        screen.press("half a prompt")
        screen.press(EDITOR, "the editor")
        screen.terminal.sees("unchanged.", "half a prompt")
        screen.press(" and more")
        screen.terminal.sees("half a prompt and more")
        screen.back()
        screen.ask()


@pytest.mark.parametrize("sent", [signal.SIGTSTP, signal.SIGSTOP])
def test_a_stop_from_outside_and_a_continuation_change_nothing_on_the_screen(sent, state_of, server):
    state = state_of(Kind(open=False, size=WIDE))
    with Screen(state, server) as screen:
        screen.enter("ping one")
        screen.press("half a prompt")
        before, pid = screen.terminal.text, screen.terminal.process.pid
        os.kill(pid, sent)
        screen.terminal.until(lambda: is_stopped(pid), "the stop")
        screen.terminal.disturb("$ text of the shell\r\n" * WIDE[1])
        os.kill(pid, signal.SIGCONT)
        screen.terminal.until(lambda: screen.terminal.text == before, "the screen as it was")
        screen.press(" and more")
        screen.terminal.sees("half a prompt and more")
        screen.back()
        screen.ask()


@pytest.mark.parametrize("folder", [None, "tides", "my tides", "it's $HOME"])
def test_the_command_that_is_printed_at_the_end_continues_the_session(folder, state_of, server):
    arguments = () if folder is None else ("--session-dir", folder)
    state = state_of(Kind(open=False, size=WIDE, arguments=arguments))
    with Screen(state, server) as screen:
        screen.enter("ping one")
        screen.terminal.type(END)
        assert screen.terminal.ends() == 0
        found = re.search(r"^To resume this session:\n(pi .+)$", screen.terminal.text, re.MULTILINE)
    assert found is not None
    with Terminal(["sh", "-c", found[1]], state.work, state.environment, WIDE) as again:
        again.sees("ping one", "pong one")
        again.settle()
        again.type(END)
        assert again.ends() == 0
