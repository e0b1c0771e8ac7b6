"""How what is typed and pasted becomes keys."""

from __future__ import annotations

import os
import pty
import termios

import pytest
from prompt_toolkit.keys import Keys

from pi_cli.line.terminal import LineInput
from pi_terminal_kit.pastes import marks_pastes


@pytest.fixture
def keyboard():
    """``keyboard(term)``: the keys of a terminal, and what types on it."""
    opened = []

    def start(term="xterm"):
        master, slave = pty.openpty()
        stdin = os.fdopen(slave)
        opened.append((master, stdin))
        return LineInput(stdin, term), lambda text: os.write(master, text.encode())

    yield start
    for master, stdin in opened:
        os.close(master)
        stdin.close()


def keys_of(line):
    return [(each.key, each.data) for each in line.read_waiting()]


@pytest.mark.parametrize("term", ["dumb", "linux", "vt100", "", "emacs"])
def test_lines_that_come_at_once_are_a_paste_where_terminals_do_not_say_so(keyboard, term):
    line, type_ = keyboard(term)
    with line.raw_mode():
        type_("one\rtwo\rthree")

        assert keys_of(line) == [(Keys.BracketedPaste, "one\rtwo\rthree")]


def test_the_end_of_such_a_paste_sends_it(keyboard):
    line, type_ = keyboard("dumb")
    with line.raw_mode():
        type_("one\rtwo\r")

        assert [key for key, _ in keys_of(line)] == [Keys.BracketedPaste, Keys.ControlM]


@pytest.mark.parametrize("text", ["/model one\rhello\r", "!ls\rhello\r", "one\r", "one\r\x03", "one\r\x1b[A"])
def test_commands_and_keys_are_no_paste(keyboard, text):
    line, type_ = keyboard("dumb")
    with line.raw_mode():
        type_(text)

        assert Keys.BracketedPaste not in [key for key, _ in keys_of(line)]


def test_a_terminal_that_marks_pastes_is_believed(keyboard):
    line, type_ = keyboard("xterm-256color")
    with line.raw_mode():
        type_("one\rtwo")

        assert Keys.BracketedPaste not in [key for key, _ in keys_of(line)]
    assert marks_pastes("tmux-256color")


def test_newlines_from_before_pi_listened_are_enter(keyboard):
    line, type_ = keyboard()
    type_("early\r")
    with line.raw_mode():
        assert keys_of(line)[-1] == (Keys.ControlM, "\r")
        type_("\n")
        assert keys_of(line) == [(Keys.ControlJ, "\n")]


def test_ctrl_c_is_a_signal_only_while_pi_works_and_throws_nothing_away(keyboard):
    line, _ = keyboard()

    def flags():
        return termios.tcgetattr(line.fileno())[3]

    before = flags()
    with line.raw_mode():
        assert not flags() & termios.ISIG
        line.set_signals(True)
        assert flags() & termios.ISIG
        assert flags() & termios.NOFLSH
        with line.for_a_question().raw_mode():
            assert not flags() & termios.ISIG
        line.set_signals(False)
        assert not flags() & termios.ISIG
    assert flags() == before


def test_a_terminal_that_is_lent_is_cooked_and_one_that_is_handed_on_is_not(keyboard):
    line, _ = keyboard()
    with line.raw_mode():
        with line.cooked_mode():
            assert line.lent
            assert termios.tcgetattr(line.fileno())[3] & termios.ECHO
        line.stays_raw = True
        with line.cooked_mode():
            assert not line.lent
            assert not termios.tcgetattr(line.fileno())[3] & termios.ECHO
