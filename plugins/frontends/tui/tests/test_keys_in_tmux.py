"""Every default key, pressed in a real terminal multiplexer, with extended keys and without."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pi_testing.patience import PATIENCE
from pi_tui.keys.actions import default_keys
from pi_tui.keys.names import split_key

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")

READER = """
import os, select, sys, termios, tty
from pi_tui.keys.events import Key
from pi_tui.keys.parse import Parser

before = termios.tcgetattr(0)
tty.setraw(0)
sys.stdout.write("\\x1b[>4;2m" if sys.argv[2] == "on" else "")
sys.stdout.flush()
parser = Parser()
with open(sys.argv[1], "w", buffering=1) as seen:
    seen.write("ready\\n")
    while True:
        ready = select.select([0], [], [], 0.05)[0]
        for event in parser.feed(os.read(0, 4096)) if ready else parser.flush():
            seen.write(event.name + "\\n" if isinstance(event, Key) else repr(event) + "\\n")
"""

NAMES = {"escape": "Escape", "enter": "Enter", "tab": "Tab", "backspace": "BSpace", "delete": "DC", "space": "Space"}
NAMES |= {"pageup": "PPage", "pagedown": "NPage", "home": "Home", "end": "End"}
NAMES |= {name: name.capitalize() for name in ("up", "down", "left", "right")}

KEYS = sorted({key for platform in ("linux", "wsl") for keys in default_keys(platform).values() for key in keys})

EXTENDED = {"shift+enter", "ctrl+backspace", "ctrl+shift+f", "ctrl+shift+g", "ctrl+shift+o", "ctrl+shift+p"}
"""Keys that tmux does not send where keys are not extended."""


def tmux_name(key: str) -> str:
    held, name = split_key(key)
    if held == ["shift"] and name == "tab":
        return "BTab"
    if held == ["shift"] and len(name) == 1:
        return name.upper()
    return "".join({"ctrl": "C-", "shift": "S-", "alt": "M-"}[each] for each in held) + NAMES.get(name, name)


@pytest.mark.parametrize("extended", ["on", "off"])
def test_every_default_key_is_read_as_it_is_pressed(tmp_path: Path, extended: str) -> None:
    program, seen, config = tmp_path / "reader.py", tmp_path / "seen", tmp_path / "tmux.conf"
    program.write_text(READER)
    config.write_text(f"set -s extended-keys {extended}\nset -s escape-time 0\n")
    keys = [key for key in KEYS if extended == "on" or key not in EXTENDED]
    tmux = ["tmux", "-S", str(tmp_path / "socket"), "-f", str(config)]

    def wait_for(lines: int) -> list[str]:
        end = time.monotonic() + PATIENCE
        while len(read := seen.read_text().splitlines() if seen.exists() else []) < lines:
            assert time.monotonic() < end, read
            time.sleep(0.01)
        return read

    try:
        command = [sys.executable, str(program), str(seen), extended]
        subprocess.run([*tmux, "new-session", "-d", "-x", "80", "-y", "24", *command], check=True)
        wait_for(1)
        for number, key in enumerate(keys):
            subprocess.run([*tmux, "send-keys", tmux_name(key)], check=True)
            wait_for(number + 2)
        pressed = wait_for(len(keys) + 1)[1:]
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)

    assert pressed == keys
