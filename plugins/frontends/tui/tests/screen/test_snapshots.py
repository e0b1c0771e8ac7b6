"""Whole screens as text files, with the style of each cell: sizes, themes, colours, dialogs and scripts of the world.

A file has the rows, then a letter for the style of each cell, then what the letters are. ``just picture`` writes them.
"""

from __future__ import annotations

import os
import re
from itertools import groupby
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any

import pytest

from pi_hookspecs import Line, Overlay, Run
from pi_testing import text, thinking, tool_call, usage
from pi_tui.screen import app as app_module
from pi_tui.screen.app import ScreenApp
from pi_tui.theme.choose import color_depth

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent / "snapshots"
COLORS = {
    "true": {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
    "256": {"TERM": "xterm-256color"},
    "16": {"TERM": "xterm"},
    "none": {"TERM": "xterm", "NO_COLOR": "1"},
}
LETTERS = ascii_letters + digits
SIZES = [(20, 6), (40, 10), (60, 20), (80, 24), (100, 40), (300, 80)]

pytestmark = [pytest.mark.pi(plugins=[], entry_points=["tools"]), pytest.mark.usefixtures("harbour")]


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a file, which the footer calls by a name that does not change."""
    (tmp_path / "tide.py").write_text('def tide(hour):\n    """Metres of water."""\n    return 0\n')
    monkeypatch.setattr("pi_tui.lines.tools.bash.duration", lambda _milliseconds: "0.08 s")
    facts = ScreenApp.facts
    named = {"cwd": "/home/ada/harbour", "branch": "main", "model": "m1", "providers": 1}
    monkeypatch.setattr(ScreenApp, "facts", lambda app: {**facts(app), **named})
    monkeypatch.setattr(app_module, "version", lambda: "1.1")


def snapshot(user: Any, name: str) -> None:
    """Compare the screen with a file."""
    drawn = screen_text(user)
    file = FOLDER / f"{name}.txt"
    if os.environ.get("WRITE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(drawn, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == drawn, f"{file.name}; if this is as it should be: just picture"


def screen_text(user: Any) -> str:
    """Return rows, styles and legend."""
    letters: dict[str, str] = {}
    rows, styles = [], []
    for strip in user.app.screen._compositor.render_strips():
        cells = ""
        for segment in strip:
            named = re.sub(r"(?<=link )file://\S*/", "", str(segment.style or ""))
            style = re.sub(r" ?(link|on) default", "", named).removeprefix("default").strip()
            letter = letters.setdefault(style, LETTERS[len(letters)]) if style else "."
            cells += letter * segment.cell_length
        rows.append(strip.text.rstrip())
        styles.append(cells.rstrip("."))
    legend = [f"{letter} {style}" for style, letter in letters.items()]
    return "\n".join([*rows, "-" * 20, *shortened(styles), "-" * 20, *legend, ""])


def shortened(rows: list[str]) -> list[str]:
    """Return rows of letters with runs counted: ``a5.3b`` for ``aaaaa...b``."""
    counted = [[(letter, len([*run])) for letter, run in groupby(row)] for row in rows]
    return ["".join(letter + (str(count) if count > 1 else "") for letter, count in row) for row in counted]


async def talk(user: Any, script: Any) -> None:
    """Have a conversation with every kind of block."""
    script.turn(
        thinking("It returns 0 at every hour."),
        text("`tide` is **constant**:\n\n1. read it\n2. mend it\n\n> Mind the moon."),
        tool_call("read", path="tide.py"),
        tool_call("edit", path="tide.py", old_text="return 0", new_text="return hour % 12"),
        tool_call("bash", command="printf '\\033[32mok\\033[0m\\n%s\\n' one two three four five six; exit 3"),
    )
    script.turn(
        text("```python\ndef tide(hour):\n    return hour % 12\n```\n\n| a | b |\n|---|---|\n| 1 | two |"),
        usage(input=9000),
    )
    await user.type("Mend the tide.", "enter")
    await user.sees("two")
    await user.when(lambda: not user.app.session.is_streaming and user.app.spinner._timer is None)
    user.app.notice("Session name set: demo")
    user.app.notice("A plugin is slow", "warning")
    user.app.interface.set_status("tests", "41 passed")
    user.app.interface.set_widget("tide", ["high water 14:05"])
    await user.type("What is left")


SHOWN = [("dark", "true"), ("dark", "256"), ("dark", "16"), ("dark", "none"), ("light", "true"), ("light", "16")]
SHOWN += [("system", "true"), ("system", "16")]


async def test_a_conversation_in_every_theme_and_depth(desk, script) -> None:
    async with desk((100, 40), environ={**COLORS["true"], "HOME": "/home/ada"}) as user:
        await talk(user, script)
        for theme, colors in SHOWN:
            user.app.themes.use(theme)
            user.app.themes.depth = color_depth(COLORS[colors])
            user.app._take_palette(user.app.themes.palette)
            await user.pilot.pause()
            snapshot(user, f"conversation-{theme}-{colors}")


async def test_a_conversation_in_every_size(desk, script) -> None:
    async with desk((80, 24), environ=COLORS["256"]) as user:
        await talk(user, script)
        for size in SIZES:
            await user.pilot.resize_terminal(*size)
            await user.pilot.pause()
            snapshot(user, f"conversation-{size[0]}x{size[1]}")


async def test_a_conversation_that_is_expanded_and_scrolled(desk, script) -> None:
    async with desk((60, 20), environ=COLORS["256"]) as user:
        await talk(user, script)
        await user.press("ctrl+o", "pageup", "pageup")

        snapshot(user, "scrolled-expanded")


SCRIPTS = "汉字 かな 한글 · é ü å · 👩‍👩‍👧 👍🏽 🇩🇪 · שלום عالم · a\u202eb · tab\there"


async def test_scripts_of_the_world(desk, script) -> None:
    script.turn(text(f"{SCRIPTS}\n\n- {SCRIPTS}\n\n`{SCRIPTS}`"))

    async with desk((40, 24), environ=COLORS["256"]) as user:
        await user.type(SCRIPTS, "enter")
        await user.when(lambda: script.requests and not user.app.session.is_streaming)
        await user.type(SCRIPTS)
        await user.pilot.pause()

        snapshot(user, "scripts")


class Panel:
    """A component with a style of each kind."""

    def __init__(self, screen: Any) -> None:
        self.screen = screen

    def render(self, width: int) -> list[Any]:
        styled = Line.of(Run("bold", bold=True), Run(" link", "mdLink", link="https://example.com"), fill="selectedBg")
        return [f"a component of {width} cells", styled, "\x1b[31mred\x1b[0m"]

    def handle_key(self, key: str) -> bool:
        return False

    def dispose(self) -> None:
        """Nothing is to be done."""


OPENED: dict[str, Callable[[Any], Any]] = {
    "select": lambda ui: ui.select("Which harbour?", ["North", "South", "East"]),
    "select-long": lambda ui: ui.select("Which berth?", [f"Berth {number}" for number in range(1, 31)]),
    "confirm": lambda ui: ui.confirm("Leave?", "The tide turns at 14:05."),
    "input": lambda ui: ui.input("Name of the ship", "such as Ada"),
    "editor": lambda ui: ui.editor("Log", "calm\nclear"),
    "secret": lambda ui: ui.ask_secret("Key of the lock"),
    "custom": lambda ui: ui.custom(Panel),
    "overlay": lambda ui: ui.custom(Panel, overlay=Overlay(anchor="top-right", width=30, margin=1)),
}


@pytest.mark.parametrize("size", [(60, 20), (100, 40)], ids=lambda size: "x".join(map(str, size)))
async def test_dialogs(desk, size: tuple[int, int]) -> None:
    async with desk(size, environ=COLORS["256"]) as user:
        for name, opens in OPENED.items():
            user.app.start(opens(user.app.interface))
            await user.when(lambda: user.app.dialog is not None or user.app.overlays.focused is not None)
            await user.pilot.pause(0.02)
            snapshot(user, f"dialog-{name}-{size[0]}x{size[1]}")
            await user.press("escape")
            await user.when(lambda: user.app.dialog is None and user.app.overlays.focused is None)


async def test_lists(desk, script) -> None:
    async with desk((100, 40), environ=COLORS["256"]) as user:
        await talk(user, script)
        await user.press("ctrl+c")
        for command in ("theme", "tree"):
            await user.type(f"/{command}", "enter")
            await user.when(lambda: user.app.dialog is not None)
            snapshot(user, f"list-{command}")
            await user.press("escape")
            await user.when(lambda: user.app.dialog is None)


async def test_completion(desk) -> None:
    async with desk((60, 20), environ=COLORS["256"]) as user:
        await user.press(*"/the")
        await user.sees("→ theme")

        snapshot(user, "completion")
