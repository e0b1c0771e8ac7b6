"""Every key of the page about keys: at the prompt, and in each list and dialog that a command opens."""

from __future__ import annotations

import re
import subprocess

import pytest
from journey.kinds import Kind, call
from journey.screen import SIZES, Screen

pytestmark = pytest.mark.journeys

ENDS = {"ctrl+d", "ctrl+z"}
"""Keys that end or suspend the program; so does the second Ctrl+C."""

LISTS = (
    "/model",
    "/scoped-models",
    "/thinking",
    "/resume",
    "/tree",
    "/tree all",
    "/settings",
    "/theme",
    "/fork",
    "/login",
    "/trust",
)

MADE = Kind(steps=("ping one", call("bash"), "ping two"), live=("ping three",))

_ROW = re.compile(r"^\| `(?P<action>[\w.]+)` \| (?P<keys>.*?) \|")
_FINALS = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_TILDES = {"pageup": 5, "pagedown": 6, "delete": 3, "insert": 2}
_CHARACTERS = {"enter": "\r", "escape": "\x1b", "tab": "\t", "backspace": "\x7f", "space": " "}
_HELD = {"shift": 1, "alt": 2, "ctrl": 4}


def sent(key: str) -> str:
    """Return what a terminal sends for a key; keys without a code of their own in the form of Kitty's protocol."""
    *held, name = key.split("+") if not key.endswith("+") else [*key[:-2].split("+"), "+"]
    modifiers = 1 + sum(_HELD[each] for each in held)
    if name in _FINALS:
        return f"\x1b[1;{modifiers}{_FINALS[name]}" if held else f"\x1b[{_FINALS[name]}"
    if name in _TILDES:
        return f"\x1b[{_TILDES[name]};{modifiers}~" if held else f"\x1b[{_TILDES[name]}~"
    if not held:
        return _CHARACTERS.get(name, name)
    if held == ["ctrl"] and len(name) == 1 and name.isalpha():
        return chr(ord(name) - 96)
    return f"\x1b[{ord(_CHARACTERS.get(name, name))};{modifiers}u"


@pytest.fixture(scope="module")
def keys(programs) -> list[str]:
    """The keys of the page."""
    done = subprocess.run([programs / "pi", "help", "keybindings"], capture_output=True, text=True, check=True)
    rows = (_ROW.match(line) for line in done.stdout.splitlines())
    found = {key for row in rows if row is not None for key in re.findall(r"`([^`]+)`", row["keys"].partition(";")[0])}
    assert len(found) > 50
    return sorted(found)


@pytest.mark.parametrize("size", SIZES)
def test_each_at_the_prompt(size, keys, state_of, server):
    state = state_of(Kind(steps=MADE.steps, live=MADE.live, size=size))
    with Screen(state, server) as screen:
        for line in state.kind.live:
            screen.enter(line)
        for key in keys:
            for typed in ("", "low water"):
                if key not in ENDS and (key != "ctrl+c" or typed):
                    screen.terminal.type(typed)
                    screen.press(sent(key), f"{key} after {typed!r}")
                    screen.back()
        screen.ask()
        screen.terminal.type("\x04")
        assert screen.terminal.ends() == 0


@pytest.mark.parametrize("command", LISTS)
def test_each_in_every_list(command, keys, state_of, server):
    state = state_of(MADE)
    with Screen(state, server) as screen:
        for line in state.kind.live:
            screen.enter(line)
        for key in keys:
            if key != "ctrl+z":
                if screen.in_editor:
                    screen.back()
                    screen.enter(command)
                screen.press(sent(key), f"{key} in {command}")
        screen.back()
        screen.ask()
        screen.terminal.type("\x04")
        assert screen.terminal.ends() == 0
