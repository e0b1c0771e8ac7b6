"""The screen's Textual driver: uses the terminal that pi has already taken over, and reads keys with pi's parser."""

from __future__ import annotations

import os
import re
import signal
from asyncio import get_running_loop
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.messages import TerminalSupportsSynchronizedOutput

from pi_tui.direct import open_terminal
from pi_tui.displayed import Displayed
from pi_tui.keys.events import Focus, Key, Mouse, Paste, Reply
from pi_tui.keys.read import KeyReader
from pi_tui.squeeze import squeezed

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context
    from io import TextIOWrapper
    from typing import TextIO

    from pi_tui.direct import DirectOutput
    from pi_tui.keys.events import Event
    from pi_tui.screen.app import ScreenApp
    from pi_tui.screen.typed_filters import TypedFilters
    from pi_tui.terminal import Terminal

__all__ = ["ScreenDriver", "TerminalGone", "TerminalReply"]

_SYNC_SUPPORTED = ("\x1b[?2026;1$y", "\x1b[?2026;2$y")

_MOVE = re.compile(r"\x1b\[\d+;\d+H")

_ALTERNATE = "\x1b[?1049h"

_HARMLESS = re.compile(
    r"(?:\x1b\[\?(?!1049)\d+[hl]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b_G[^\x1b]*\x1b\\|\x07|\x1b\[[<>][\d;]*[um]"
    r"|\x1b\[\??[uc])*"
)
"""Output that changes no displayed cells: terminal modes, titles, bells, images and clipboard contents."""

_SHORT = 100
"""Characters of output, such as those for a key, of which squeezing would save a few."""

_ASK_FOR_KEYS = "\x1b[?u\x1b[c"
"""Asks which parts of Kitty's keyboard protocol are on, and then what every terminal answers."""

_MOST_ROWS_OVER = 4
"""Rows that are drawn over the last frame while the event loop stands still."""

_KITTY_KEYS = re.compile(r"\x1b\[\?\d+u")
_ATTRIBUTES = re.compile(r"\x1b\[\?[\d;]*c")

_OTHER_KEYS, _OTHER_KEYS_OFF = "\x1b[>4;2m", "\x1b[>4m"
"""xterm's ``modifyOtherKeys``, for tmux and terminals without Kitty's protocol: they send Shift+Enter as such."""

_PARTS_OF_CHARACTERS = frozenset(map(chr, range(0xDC80, 0xDD00)))
"""What bytes that begin no character become with ``surrogateescape``; stdout would write each as a question mark."""

_BUTTONS = {"left": 1, "middle": 2, "right": 3}


class TerminalReply(Message):
    """A reply of the terminal to a query."""

    def __init__(self, sequence: str) -> None:
        super().__init__()
        self.sequence = sequence


class TerminalGone(Message):
    """The terminal was closed."""


class _Quiet:
    """Output that ignores the errors of a closed terminal, which would end the writer thread and hang its callers.

    Attributes:
        flushed: How many texts were written and flushed.
    """

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self._written = 0
        self.flushed = 0

    def write(self, text: str) -> int:
        """Write a text, ignoring errors."""
        with suppress(OSError, ValueError):
            if self._file is not None:
                self._write(self._file, text)
        self._written += 1
        return len(text)

    def _write(self, file: TextIO, text: str) -> None:
        if text[:1] in _PARTS_OF_CHARACTERS:  # the rest of what the terminal has not taken begins within a character
            file.flush()
            file.buffer.write(text.encode("utf-8", "surrogateescape"))
        else:
            file.write(text)

    def flush(self) -> None:
        """Flush the output, ignoring errors."""
        with suppress(OSError, ValueError):
            if self._file is not None:
                self._file.flush()
        self.flushed = self._written


class ScreenDriver(LinuxDriver):
    """Takes over the terminal of the application, which has the attributes ``terminal`` and ``typed_filters``."""

    def __init__(
        self, app: Any, *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        # Textual and Rich believe COLUMNS and LINES, which a terminal that exports them does not change with its size.
        super().__init__(app, debug=debug, mouse=mouse, size=size or _known(app.terminal.size))
        self._loop = get_running_loop()
        self._output = _Quiet(app.terminal.output)  # stderr may be a file
        self._file = cast("TextIOWrapper", self._output)
        self._queued = 0
        self._direct: DirectOutput | None = None
        self._terminal: Terminal = app.terminal
        self._filters: TypedFilters = app.typed_filters
        self._reader: KeyReader | None = None
        self._unread = b""
        self._variables: Context | None = None
        self._displayed = Displayed(scrolls=_can_scroll(app.terminal.output))
        self._awaits_attributes = self._has_other_keys = False
        self._frame: list[str] | None = None
        self._was_left = False

    def write(self, data: str) -> None:
        """Write only differences, and do not switch to the alternate screen a second time, which would clear it.

        What belongs to a frame is written together, so that the terminal does not draw a part of it.
        """
        if data == _ALTERNATE and self._terminal.is_taken:
            return
        if data == SYNC_START:
            self._frame = [data]
            return
        if _MOVE.search(data):
            width, height = self._app.size
            data = self._displayed.changes(data, width, height)
            data = data if len(data) < _SHORT else squeezed(data, width)
        elif not _HARMLESS.fullmatch(data):
            self._displayed.forget()
        if self._frame is None:
            self._put(data)
            return
        self._frame.append(data)
        if data == SYNC_END:
            frame, self._frame = "".join(self._frame), None
            self._put(frame)

    def _put(self, text: str) -> None:
        """Write what the terminal takes at once; the rest, and what comes before that is written, waits in a thread."""
        if self._direct is not None and self._output.flushed == self._queued:
            rest = self._direct.write(text.encode("utf-8", "surrogateescape"))
            if not rest:
                return
            text = rest.decode("utf-8", "surrogateescape")
        self._queued += 1
        super().write(text)

    def write_over(self, text: str) -> None:
        """Draw a text in the last rows while the event loop stands still, in any thread."""
        from textwrap import wrap

        width, height = self._terminal.size
        rows = wrap(text, width - 1)[:_MOST_ROWS_OVER]
        first = height - len(rows) + 1
        drawn = "".join(f"\x1b[{first + index};1H{row}\x1b[K" for index, row in enumerate(rows))
        self._queued += 1
        super().write(f"\x1b7\x1b[0;7m{drawn}\x1b[0m\x1b8")

    def read_meanwhile(self) -> int:
        """Read keys while the event loop stands still, in any thread; return how often Ctrl+C was pressed."""
        return self._reader.read_meanwhile() if self._reader is not None else 0

    def forget(self) -> None:
        """Write the next frame anew, because something was drawn over the last one."""
        self._displayed.forget()

    def _get_terminal_size(self) -> tuple[int, int]:
        """Return the size. It is queried after a change, when the terminal may have moved its contents."""
        self._displayed.forget()
        return _known(self._terminal.size) or super()._get_terminal_size()

    def start_application_mode(self) -> None:
        """Take over the screen."""
        self._displayed.forget()
        early = self._terminal.stop_early()
        super().start_application_mode()  # type: ignore[no-untyped-call] # Textual's
        self._close_output()  # what a start within this one has opened, if pi was continued in the background
        self._close_input()
        self._terminal.is_taken = True
        self._terminal.take_back()
        if self._terminal.shows_cursor:
            self.write("\x1b[?25h")
        if self._terminal.settings is not None:
            self.attrs_before = self._terminal.settings
        self._direct = open_terminal(self._terminal.output)
        self._awaits_attributes, self._has_other_keys = True, False
        self.write(_ASK_FOR_KEYS)
        self._reader = KeyReader(self.fileno, self._filters, self._pass_on, lambda: self.send_message(TerminalGone()))
        self._variables = self._variables or copy_context()
        early, self._unread = self._unread + early, b""
        self._variables.copy().run(self._reader.start, early)  # whoever continues pi has not typed the keys
        if self._was_left:  # the terminal shows what others have written since
            self._was_left = False
            self._app.call_later(cast("ScreenApp", self._app).draw_again)

    def stop_application_mode(self) -> None:
        """Return the terminal."""
        if self._has_other_keys:
            self.write(_OTHER_KEYS_OFF)
        self._awaits_attributes = False
        self._close_output()
        super().stop_application_mode()

    def _close_output(self) -> None:
        if self._direct is not None:
            self._direct.close()
            self._direct = None

    def _close_input(self) -> None:
        if self._reader is not None:
            self._unread += self._reader.close()
            self._reader = None

    def suspend_application_mode(self) -> None:
        """Return the terminal to the shell temporarily."""
        super().suspend_application_mode()
        self._terminal.is_taken = False
        self._terminal.lend()
        self._was_left = True

    def _sigtstp_application(self, *_signaled: Any) -> None:
        """Return the terminal and stop; what has borrowed the terminal stops at once."""
        if self._auto_restart:
            self._soon(super()._sigtstp_application)
        else:
            super()._sigtstp_application()

    def _sigcont_application(self, *_signaled: Any) -> None:
        """Take the terminal over again, also after SIGSTOP, before which it could not be returned."""
        if self._auto_restart:
            self._soon(self._continue)

    def _soon(self, handle: Callable[[], object]) -> None:
        """Handle a signal in the event loop.

        Its handler may interrupt anything, such as a wait for the very thread that writes to the terminal: a closed
        terminal sends SIGHUP and SIGCONT together, so pi is continued while it ends.
        """
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: handle() if self._app.is_running else None)

    def _continue(self) -> None:
        if self._terminal.is_taken:
            if not _in_foreground(self.fileno):
                os.kill(os.getpid(), signal.SIGSTOP)
                return
            self.suspend_application_mode()
        super()._sigcont_application()

    def _enable_mouse_support(self) -> None:
        if self._mouse:  # report movements only while a button is held
            self.write("\x1b[?1000h\x1b[?1002h\x1b[?1006h")
            self.flush()

    def _query_in_band_window_resize(self) -> None:
        """Do nothing, since SIGWINCH reports changes of the size."""

    def disable_input(self) -> None:
        """Stop reading."""
        self._close_input()
        super().disable_input()

    def run_input_thread(self) -> None:
        """Do nothing: the event loop reads the keys."""

    def send_message(self, message: Message) -> None:
        """Pass a message to the application, without a task and a future for each key."""
        self._app.post_message(message)

    def _pass_on(self, found: list[Event]) -> None:
        for event in found:
            if isinstance(event, Reply):
                self._extend_keys(event.sequence)
            message = None if isinstance(event, Key) and self._takes(event) else _message(event)
            if message is not None:
                self.process_message(message)

    def _takes(self, key: Key) -> bool:
        return key.action != "release" and bool(cast("ScreenApp", self._app).take_key(key))

    def _extend_keys(self, reply: str) -> None:
        """Ask for keys with all their modifiers if the terminal's replies lack those of Kitty's protocol."""
        if _KITTY_KEYS.fullmatch(reply):
            self._awaits_attributes = False
        elif self._awaits_attributes and _ATTRIBUTES.fullmatch(reply):
            self._awaits_attributes, self._has_other_keys = False, True
            self.write(_OTHER_KEYS)


def _known(size: tuple[int, int]) -> tuple[int, int] | None:
    return size if all(size) else None


def _in_foreground(descriptor: int) -> bool:
    """Whether the shell has given this process the terminal, or there is no terminal any more."""
    try:
        return os.tcgetpgrp(descriptor) in (0, os.getpgrp())
    except OSError:
        return True


def _can_scroll(output: TextIO | None) -> bool:
    """Whether the terminal's description says that it can scroll a region of rows in both directions."""
    import curses

    try:
        curses.setupterm(fd=output.fileno() if output is not None else 1)
        return all(curses.tigetstr(each) is not None for each in ("csr", "ind", "ri"))
    except (curses.error, OSError, ValueError):
        return False


def _message(event: Event) -> Message | None:
    """Return the Textual message for an event."""
    if isinstance(event, Key):
        return None if event.action == "release" else events.Key(event.name, event.text or None)
    if isinstance(event, Paste):
        return events.Paste(event.text)
    if isinstance(event, Focus):
        return None  # Textual would restyle every widget
    if isinstance(event, Reply):
        known = event.sequence in _SYNC_SUPPORTED
        return TerminalSupportsSynchronizedOutput() if known else TerminalReply(event.sequence)
    return _mouse(event)


def _mouse(event: Mouse) -> Message | None:
    kinds: dict[str, type[events.MouseEvent]] = {
        "press": events.MouseDown,
        "release": events.MouseUp,
        "move": events.MouseMove,
    }
    wheel: dict[str, type[events.MouseEvent]] = {"up": events.MouseScrollUp, "down": events.MouseScrollDown}
    kind = wheel.get(event.button) if event.kind == "wheel" else kinds[event.kind]
    if kind is None:
        return None
    return kind(
        None,
        event.x,
        event.y,
        0,
        0,
        _BUTTONS.get(event.button, 0),
        "shift" in event.held,
        "alt" in event.held,
        "ctrl" in event.held,
        screen_x=event.x,
        screen_y=event.y,
    )
