"""Output on the normal screen after exit: the conversation, which stays in the scrollback, and a resume command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_tui.declared_settings import EXIT_OUTPUT, IMAGES
from pi_tui.first_frame import drawn
from pi_tui.lines.layout import lay_out

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.graphics import Graphics
    from pi_tui.screen.app import ScreenApp
    from pi_tui.terminal import Terminal

__all__ = ["print_exit", "transcript_rows"]

_MOST_ROWS = 1000
"""Maximum number of the conversation's last rows that are printed."""


def print_exit(app: ScreenApp, terminal: Terminal) -> None:
    """Print to the terminal after it was returned to the shell."""
    wanted = EXIT_OUTPUT.read(app.session.settings)
    texts = []
    if wanted != "resume-hint":
        graphics = _graphics(app, terminal)
        texts = drawn(transcript_rows(app, max(terminal.size[0], 1), graphics), app.painter.palette, graphics)
    hint = app.resume_hint()
    if hint is not None:
        *notes, command = hint.split("\n")
        texts += ["", *notes, "To resume this session:", command]  # alone on its line, so that three clicks mark it
    if texts:
        terminal.write("\r\n".join(texts) + "\r\n")


def _graphics(app: ScreenApp, terminal: Terminal) -> Graphics | None:
    """Return the renderer of images in printed text; None if the terminal does not support any."""
    from pi_tui.lines.graphics import Graphics, protocol_of

    if app.painter.graphics is not None:
        return Graphics("kitty", terminal.write)
    protocol = protocol_of(terminal.environ, IMAGES.read(app.session.settings))
    return Graphics("iterm", terminal.write) if protocol == "iterm" else None


def transcript_rows(app: ScreenApp, width: int, graphics: Graphics | None = None) -> list[Line]:
    """Return the last rows of the conversation."""
    look = evolve(app.look(width), graphics=graphics)
    rows: list[Line] = []
    for block in reversed(app.state.blocks):
        if block.kind == "notice":
            continue
        laid_out = lay_out(block, look)
        rows[:0] = laid_out.window(max(len(laid_out) - (_MOST_ROWS - len(rows)), 0), len(laid_out))
        if len(rows) >= _MOST_ROWS:
            break
    return rows
