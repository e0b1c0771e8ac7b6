"""Layout options: everything that the lines of blocks depend on, apart from the blocks themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_tui.lines.foreign import Drawings
    from pi_tui.lines.graphics import Graphics
    from pi_tui.lines.markdown.inline import Diagrams

__all__ = ["Look"]


@frozen(kw_only=True)
class Look:
    """Options of a layout.

    Attributes:
        width: Cells of a line, at least 1.
        theme: Name of the theme; lines have roles instead of colours, but a front end may cache coloured lines.
        expanded: Whether blocks are displayed in full.
        padding: Cells left and right of the text of an answer.
        diagrams: When diagrams in Mermaid are drawn.
        hide_thinking: Whether reasoning is displayed as one line (``Thinking...``).
        cwd: The working directory: files below it may be links, and paths are displayed relative to it.
        home: The user's home directory, displayed as ``~``.
        now: The time in seconds, by the clock of the view's state, for elapsed times.
        spinner: The current spinner character.
        drawings: The renderers of plugins; None draws their messages and tools like all others.
        redrawn: How often plugins have asked for a redraw, since what their renderers return changed.
        pictures: Whether images are drawn.
        image_width: Largest width of an image in cells.
        graphics: Draws images at all times; if None, half blocks draw them in expanded blocks.
        thinking_label: Text in place of hidden reasoning; None for ``Thinking...``.
        text_of: Returns the text of a file in the working directory, for changes that wait for approval; None if it
            cannot be read. None if the files are on another computer.
        hints: The keys that are bound, by action, such as ``{"expand": "ctrl+o"}``.
    """

    width: int
    theme: str = "dark"
    expanded: bool = False
    padding: int = 1
    diagrams: Diagrams = "final"
    hide_thinking: bool = False
    cwd: str = ""
    home: str = ""
    now: float = 0.0
    spinner: str = "⠋"
    pictures: bool = False
    image_width: int = 80
    graphics: Graphics | None = field(default=None, eq=False)
    thinking_label: str | None = None
    drawings: Drawings | None = field(default=None, eq=False)
    redrawn: int = 0
    text_of: Callable[[str], str | None] | None = field(default=None, eq=False)
    hints: Mapping[str, str] = {"expand": "ctrl+o", "cancel": "escape"}

    def path(self, path: str) -> str:
        """Return a path for display: relative to the working directory, or below ``~``."""
        for folder, name in ((self.cwd, ""), (self.home, "~/")):
            if folder and path.startswith(folder.rstrip("/") + "/"):
                return name + path[len(folder.rstrip("/")) + 1 :]
        return path

    def file_link(self, path: str) -> str | None:
        """Return the address of a file in the working directory; None for other files, which are no links."""
        from urllib.parse import quote

        below = path if path.startswith("/") else f"{self.cwd.rstrip('/')}/{path}"
        if not self.cwd or ".." in below.split("/") or not below.startswith(self.cwd.rstrip("/") + "/"):
            return None
        return f"file://{quote(below)}"
