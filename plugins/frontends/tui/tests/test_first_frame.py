"""The first frame: painted before there is a session and a toolkit, and the terminal is restored whatever happens."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pyte
import pytest

from pi_hookspecs import StartFacts, UserError
from pi_tui.first_frame import first_frame
from pi_tui.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ["textual", "rich", "markdown_it", "pygments", "httpx", "jiter", "jsonschema", "pi_core.conversation"]

PAINT = f"""
import sys
from pathlib import Path
from types import SimpleNamespace
from pi_hookspecs import StartFacts
import pi_tui
from pi_tui.mode import FullScreen
from pi_tui.first_frame import first_frame

settings = SimpleNamespace(get=lambda name, default: default, get_bool=lambda name, default: default)
facts = StartFacts(cwd=Path.cwd(), agent_dir=Path.cwd(), settings=settings, environ={{"TERM": "xterm-256color"}})
FullScreen().mode()
frame = first_frame(facts, 100, 40)
print([name for name in {HEAVY} if name in sys.modules], "\\u2500" * 100 in frame)
"""


class Settings:
    def __init__(self, **values):
        self._values = values

    def get(self, key, default):
        return self._values.get(key, default)

    def get_bool(self, key, default):
        return self._values.get(key, default)


def facts_of(folder: Path, **how) -> StartFacts:
    environ = {"TERM": "xterm-256color", "HOME": str(folder.parent)}
    return StartFacts(cwd=folder, agent_dir=folder, environ=environ, **{"settings": Settings(), **how})


def displayed(frame: str, width: int, height: int) -> list[str]:
    screen = pyte.Screen(width, height)
    pyte.Stream(screen).feed(frame)
    return [row.rstrip() for row in screen.display]


def test_the_first_frame_imports_no_toolkit_and_no_session() -> None:
    printed = subprocess.run([sys.executable, "-c", PAINT], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[] True"


def test_the_frame_has_header_editor_folder_and_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/spring-tide\n")

    rows = displayed(first_frame(facts_of(tmp_path, session_name="tides"), 60, 20), 60, 20)

    assert rows[0].startswith(" pi v")
    assert rows[15] == rows[17] == "─" * 60
    assert rows[18] == f"~/{tmp_path.name} (spring-tide) • tides"


def test_a_quiet_start_has_no_header(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, settings=Settings(quietStartup=True))

    assert displayed(first_frame(facts, 60, 20), 60, 20)[0] == ""


def test_a_start_may_be_quiet_but_for_the_header(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, settings=Settings(quietStartup="header"))

    assert displayed(first_frame(facts, 60, 20), 60, 20)[0].startswith(" pi v")


def test_a_branch_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/x\x1b]0;owned\x07\x9b2J\u202ey\n")

    frame = first_frame(facts_of(tmp_path, session_name="n\x1bc"), 60, 20)

    assert "owned" not in frame
    assert "\x1bc" not in frame
    assert "\x9b" not in frame


@pytest.mark.parametrize(("width", "height"), [(20, 6), (21, 7), (300, 80)])
def test_the_frame_fits(tmp_path: Path, width: int, height: int) -> None:
    rows = displayed(first_frame(facts_of(tmp_path), width, height), width, height)

    assert rows[height - 5] == rows[height - 3] == "─" * width


@pytest.mark.parametrize(
    ("term", "size", "reason"),
    [
        ("dumb", (80, 24), "'dumb', which cannot move its cursor"),
        ("", (80, 24), "'', which cannot move its cursor"),
        ("xterm", (19, 24), "19x24 cells, and 20x6 are needed"),
        ("xterm", (80, 5), "80x5 cells"),
    ],
)
def test_a_terminal_that_is_too_simple_is_refused_with_a_reason(monkeypatch, term, size, reason) -> None:
    monkeypatch.setattr(Terminal, "size", property(lambda _self: size))

    with pytest.raises(UserError, match=reason):
        Terminal({"TERM": term}).check()


def test_a_taken_terminal_is_raw_and_then_as_it_was(monkeypatch) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "r+b", buffering=0) as stream:
        monkeypatch.setattr(sys, "__stdin__", stream)
        monkeypatch.setattr(sys, "__stdout__", stream)
        before = termios.tcgetattr(slave)
        terminal = Terminal({"TERM": "xterm"})

        terminal.take("picture")
        raw = termios.tcgetattr(slave)
        terminal.restore()

        assert not raw[3] & (termios.ICANON | termios.ECHO)
        assert raw[3] & termios.ISIG
        assert termios.tcgetattr(slave) == before
    written = ""
    while not written.endswith("\x1b[23;0t"):  # a terminal passes on what is written in pieces
        written += os.read(master, 4096).decode()
    os.close(master)
    assert written.index("\x1b[?1049h") < written.index("picture") < written.index("\x1b[?1049l")
    assert written.endswith("\x1b[?25h\x1b[23;0t")
