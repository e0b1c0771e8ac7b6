"""Keys before there is a session."""

from __future__ import annotations

import os
import pty
import sys
import termios
import time
import tty

import pytest

from pi_testing import for_each
from pi_testing.patience import PATIENCE
from pi_tui.early_keys import EarlyKeys, plain_text, typed_before
from pi_tui.keys.parse import Parser

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudoterminals")


@for_each(
    ("typed", "text"),
    [
        (b"tide", "tide"),
        (b"tidx\x7fe", "tide"),
        (b"\x7f", ""),
        (b"tide\r", None),
        (b"t\x1b[D", None),
        ("é".encode(), None),
    ],
)
def test_plain_text_is_drawn_and_nothing_else(typed: bytes, text: str | None) -> None:
    assert plain_text(typed) == text


@pytest.fixture
def terminal():
    ours, its = pty.openpty()
    tty.setraw(its)
    yield ours, its
    os.close(ours)
    os.close(its)


def wait_for(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_every_byte_is_handed_on(terminal) -> None:
    ours, its = terminal
    drawn: list[str] = []
    early = EarlyKeys(its, 80, drawn.append)

    os.write(ours, b"tide")
    wait_for(lambda: drawn and drawn[-1] == "tide")
    os.write(ours, b"\x1b[A")
    wait_for(lambda: len(early._data) == 7)

    assert early.stop() == b"tide\x1b[A"
    assert drawn[-1] == "tide"


def test_escape_and_a_character_after_it_are_two_keys(terminal) -> None:
    ours, its = terminal
    early = EarlyKeys(its, 80, lambda text: None)

    os.write(ours, b"\x1b")
    wait_for(lambda: early._data)
    os.write(ours, b"/\x1b[A")
    wait_for(lambda: early._data.endswith(b"A"))

    assert [event.name for event in Parser().feed(early.stop())] == ["escape", "/", "up"]


def test_a_password_that_another_program_asks_for_is_not_read(terminal) -> None:
    ours, its = terminal
    drawn: list[str] = []
    early = EarlyKeys(its, 80, drawn.append)
    asks = termios.tcgetattr(its)
    asks[3] |= termios.ICANON

    termios.tcsetattr(its, termios.TCSANOW, asks)
    os.write(ours, b"secret\n")

    assert os.read(its, 100) == b"secret\n"
    assert early.stop() == b""
    assert drawn == []


@for_each(
    ("typed", "handed_on"),
    [
        *((b"tide", b"tide"), (b"tide\r", b"tide\r"), (b"a\rb\r", b"a\nb\n"), (b"a\rb", b"a\nb"), (b"", b"")),
        *((b"\x1b/new", b"\x1b[27u/new"), (b"\x1bb", b"\x1bb"), (b"\x1b[A", b"\x1b[A")),
    ],
)
def test_a_prompt_typed_before_the_terminal_is_raw_is_sent(typed: bytes, handed_on: bytes) -> None:
    ours, its = pty.openpty()
    try:
        os.write(ours, typed)
        echoed = b""
        while len(echoed) < len(typed) + typed.count(b"\r"):
            echoed += os.read(ours, 100)
        tty.setraw(its, termios.TCSANOW)

        assert typed_before(its) == handed_on
    finally:
        os.close(ours)
        os.close(its)


def test_what_was_typed_before_is_drawn_and_handed_on(terminal) -> None:
    ours, its = terminal
    drawn: list[str] = []
    early = EarlyKeys(its, 80, drawn.append, b"ti")

    os.write(ours, b"de")
    wait_for(lambda: drawn and drawn[-1] == "tide")

    assert early.stop() == b"tide"
