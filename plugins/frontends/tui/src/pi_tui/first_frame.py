"""The first frame: a preview of the screen, drawn before there is a session and before a toolkit is imported."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_terminal_kit.settings import QUIET_STARTUP
from pi_tui.declared_settings import TRUE_COLOR
from pi_tui.lines.footer import footer_rows
from pi_tui.lines.header import FIRST_HINTS, header_rows
from pi_tui.lines.look import Look
from pi_tui.theme.builtin_themes import BUILTIN_NAMES, builtin_theme
from pi_tui.theme.choose import appearance_of_environment, color_depth, theme_name
from pi_tui.theme.palette import Palette
from pi_tui.view.clean import clean_line, clean_row
from pi_tui.view.state import Footer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pi_hookspecs import StartFacts
    from pi_tui.lines.graphics import Graphics

__all__ = ["drawn", "early_drawing", "first_frame", "palette_of", "version"]


def first_frame(facts: StartFacts, width: int, height: int) -> str:
    """Return the output that draws the frame: the header, an empty editor, the folder and the branch."""
    palette = palette_of(facts.theme, facts.environ, TRUE_COLOR.read(facts.settings))
    quiet = QUIET_STARTUP.read(facts.settings) is True
    head = [] if quiet else header_rows(version(), FIRST_HINTS, width)
    rule = Line.of(Run("─" * width, "thinkingOff"))
    footer = footer_rows(_footer(facts), {}, Look(width=width, home=facts.environ.get("HOME", "")))
    cursor = Line.of(Run(" ", reverse=True))
    foot = [rule, cursor, rule, footer[0], Line()]
    top = head[: max(height - len(foot), 0)]
    body = _placed(drawn(top, palette), 1) + _placed(drawn(foot, palette), height - len(foot) + 1)
    return f"\x1b[?2026h\x1b[2J{body}\x1b[{height - 3};1H\x1b[?2026l"


def early_drawing(facts: StartFacts, width: int, height: int) -> Callable[[str], str]:
    """Return a function that draws a text in the editor of the first frame, with the cursor behind it."""
    palette = palette_of(facts.theme, facts.environ, TRUE_COLOR.read(facts.settings))

    def draw(text: str) -> str:
        (row,) = drawn([Line.of(Run(text), Run(" ", reverse=True), Run(" "))], palette)
        return f"\x1b[{height - 3};1H{row}\x1b[{height - 3};{min(len(text) + 1, width)}H"

    return draw


def palette_of(setting: str | None, environ: Mapping[str, str], true_color: object = "auto") -> Palette:
    """Return the colours of the built-in theme that a setting names, fitted to the terminal in the environment."""
    name = theme_name(setting, appearance_of_environment(environ))
    theme = builtin_theme(name if name in BUILTIN_NAMES else "dark")
    return Palette(theme.colors, color_depth(environ, true_color), name)


def drawn(rows: Iterable[Line], palette: Palette, graphics: Graphics | None = None) -> list[str]:
    """Return rows as text with colours (SGR) and possibly images, for a terminal on which no toolkit draws."""

    def shown(run: Run, fill: str | None) -> str:
        image = graphics.printed(run) if graphics is not None else None
        return f"{palette.style(run, fill).sgr()}{clean_row(run.text)}" if image is None else image

    return ["".join([shown(run, row.fill) for run in row]) + "\x1b[0m" for row in rows]


def version() -> str:
    """Return the version of this distribution."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("pluggypi-tui")
    except PackageNotFoundError:
        return "?"


def _placed(rows: Iterable[str], top: int) -> str:
    return "".join([f"\x1b[{top + number};1H{row}" for number, row in enumerate(rows)])


def _footer(facts: StartFacts) -> Footer:
    from pi_terminal_kit.branches import branch_of

    branch = branch_of(facts.cwd)
    return Footer(
        cwd=clean_line(os.fspath(facts.cwd)),
        branch=None if branch is None else clean_line(branch),
        name=None if facts.session_name is None else clean_line(facts.session_name),
    )
