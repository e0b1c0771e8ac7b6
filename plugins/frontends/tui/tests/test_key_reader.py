"""Keys from a terminal: what is read, and in which order it is passed on."""

from __future__ import annotations

import asyncio
import os
import pty
import termios
import tty

import pytest

from pi_testing import until
from pi_testing.patience import PATIENCE
from pi_tui.keys.events import Key, Paste
from pi_tui.keys.read import KeyReader
from pi_tui.screen.typed_filters import TypedFilters


class Reading:
    """A reader of a terminal, and what it has passed on."""

    def __init__(self, keyboard: int, descriptor: int) -> None:
        self.keyboard = keyboard
        self.filters = TypedFilters()
        self.found: list[str] = []
        self.has_changed = asyncio.Event()
        self.has_ended = asyncio.Event()
        self.reader = KeyReader(descriptor, self.filters, self._take, self._end)

    def type(self, text: str) -> None:
        os.write(self.keyboard, text.encode())

    async def until(self, *expected: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.found != [*expected]:
                self.has_changed.clear()
                await self.has_changed.wait()

    def _take(self, events) -> None:
        for event in events:
            assert isinstance(event, Key | Paste)
            self.found.append(event.name if isinstance(event, Key) else event.text)
        self.has_changed.set()

    def _end(self) -> None:
        self.has_ended.set()


@pytest.fixture
async def reading():
    keyboard, descriptor = pty.openpty()
    tty.setraw(descriptor, termios.TCSANOW)
    reading = Reading(keyboard, descriptor)
    yield reading
    reading.reader.close()
    os.close(descriptor)


@pytest.fixture
def endless(monkeypatch):
    """Neither a sequence nor a handler of the input is given up, however slow the computer is."""
    monkeypatch.setattr("pi_tui.keys.read._SEQUENCE_SECONDS", 60)
    monkeypatch.setattr("pi_tui.screen.typed_filters._SECONDS", 60)


class Gate:
    """A handler of the input that waits until it may answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = asyncio.Event()

    async def __call__(self, text: str) -> str:
        self.asked.append(text)
        await self.may_answer.wait()
        return text.replace("a", "x")


async def test_keys_are_read_after_those_that_were_typed_before(reading):
    reading.reader.start(b"ab")
    reading.type("c\x1b[A")

    await reading.until("a", "b", "c", "up")


async def test_a_key_that_may_continue_is_one_after_a_while(reading):
    reading.reader.start(b"")
    reading.type("\x1b")

    await reading.until("escape")


@pytest.mark.usefixtures("endless")
async def test_a_sequence_that_arrives_in_pieces_is_one_key(reading):
    reading.reader.start(b"")
    reading.type("\x1b[")
    await until(lambda: reading.reader._parser.pending)
    reading.type("A")

    await reading.until("up")


@pytest.mark.usefixtures("endless")
async def test_a_handler_that_waits_keeps_the_order(reading):
    gate = Gate()
    remove = reading.filters.add(gate)
    reading.reader.start(b"")
    reading.type("a")
    await until(lambda: gate.asked)
    remove()
    reading.type("b")
    await until(lambda: reading.reader._unfiltered)
    gate.may_answer.set()

    await reading.until("x", "b")


async def test_what_a_handler_fails_on_is_typed_as_it_is(reading):
    async def failing(text: str) -> str:
        raise KeyError(text)

    reading.filters.add(failing)
    reading.reader.start(b"")
    reading.type("a")
    await reading.until("a")
    reading.type("b")

    await reading.until("a", "b")


@pytest.mark.usefixtures("endless")
async def test_what_arrives_while_a_handler_is_asked_is_one_question(reading):
    gate = Gate()
    reading.filters.add(gate)
    reading.reader.start(b"")
    reading.type("a")
    await until(lambda: gate.asked)
    for letter in "bc":
        reading.type(letter)
    await until(lambda: reading.reader._unfiltered == b"bc")
    gate.may_answer.set()

    await reading.until("x", "b", "c")
    assert gate.asked == ["a", "bc"]


@pytest.mark.usefixtures("endless")
async def test_what_a_handler_was_not_done_with_is_kept_for_the_next_reader(reading):
    gate = Gate()
    reading.filters.add(gate)
    reading.reader.start(b"")
    reading.type("a")
    await until(lambda: gate.asked)
    reading.type("b")
    await until(lambda: reading.reader._unfiltered)

    assert reading.reader.close() == b"ab"
    assert reading.found == []


async def test_what_is_typed_after_a_failure_of_a_handler_arrives(reading):
    async def cancelled(text: str) -> str:
        raise asyncio.CancelledError

    remove = reading.filters.add(cancelled)
    reading.reader.start(b"")
    reading.type("a")
    await reading.until("a")
    remove()
    reading.type("b")

    await reading.until("a", "b")


async def test_a_handler_that_cannot_be_cancelled_does_not_block_the_keyboard(reading, monkeypatch):
    monkeypatch.setattr("pi_tui.screen.typed_filters._SECONDS", 0.05)
    ended = asyncio.Event()

    async def stubborn(text: str) -> str:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            await ended.wait()
        return text

    reading.filters.add(stubborn)
    reading.reader.start(b"")
    reading.type("a")
    await reading.until("a")
    ended.set()


@pytest.mark.usefixtures("endless")
async def test_a_sequence_in_pieces_is_one_key_however_long_a_handler_takes(reading):
    gate = Gate()
    gate.may_answer.set()
    reading.filters.add(gate)
    reading.reader.start(b"")
    reading.type("\x1b[")
    await until(lambda: reading.reader._timer is not None)
    gate.may_answer.clear()
    reading.type("A")
    await until(lambda: gate.asked == ["\x1b[", "A"])
    assert reading.reader._timer is None  # the seconds of a handler are not those of the sequence
    gate.may_answer.set()

    await reading.until("up")


async def test_a_terminal_that_is_closed_ends_it(reading):
    reading.reader.start(b"")
    os.close(reading.keyboard)

    await asyncio.wait_for(reading.has_ended.wait(), PATIENCE)


async def test_nothing_is_read_after_the_end(reading):
    reading.reader.start(b"")
    reading.reader.close()
    reading.type("a")
    await asyncio.sleep(0.01)

    assert reading.found == []
