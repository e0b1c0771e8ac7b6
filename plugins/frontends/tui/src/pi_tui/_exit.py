"""What is on the normal screen after the end: the conversation, which stays in the scrollback, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui._first_frame import drawn
from pi_tui.lines.layout import lay_out

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui._terminal import Terminal
    from pi_tui.screen.app import ScreenApp

__all__ = ["print_exit", "transcript_rows"]

_MOST_ROWS = 1000
"""Rows of the conversation that are printed, its last ones."""


def print_exit(app: ScreenApp, terminal: Terminal) -> None:
    """Print to the terminal, which is the shell's again."""
    wanted = app.port.settings.get_str("fullscreenExitOutput", "transcript")
    texts = []
    if wanted != "resume-hint":
        texts = drawn(transcript_rows(app, max(terminal.size[0], 1)), app.painter.palette)
    hint = app.port.resume_hint()
    if hint is not None:
        texts += ["", f"To resume this session: {hint}"]
    if texts:
        terminal.write("\r\n".join(texts) + "\r\n")


def transcript_rows(app: ScreenApp, width: int) -> list[Line]:
    """Return the last rows of the conversation."""
    look = app.look(width)
    rows: list[Line] = []
    for block in reversed(app.state.blocks):
        if block.kind == "notice":
            continue
        laid_out = lay_out(block, look)
        rows[:0] = laid_out.window(max(len(laid_out) - (_MOST_ROWS - len(rows)), 0), len(laid_out))
        if len(rows) >= _MOST_ROWS:
            break
    return rows
