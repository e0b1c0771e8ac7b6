"""How a front end wants blocks to be laid out: all that their lines depend on besides the blocks themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.lines.foreign import Drawings

__all__ = ["Look"]


@frozen(kw_only=True)
class Look:
    """Options of a layout.

    Attributes:
        width: Cells of a line, at least 1.
        theme: Name of the theme; lines have roles, no colours, but a front end may keep coloured lines with them.
        expanded: Whether everything of a block is displayed.
        padding: Cells left and right of the text of an answer.
        hide_thinking: Whether reasoning is one line (``Thinking...``).
        cwd: The working directory: files below it may be links, and paths are displayed relative to it.
        home: The user's home directory, displayed as ``~``.
        now: Seconds of the clock of the view's state, for elapsed times.
        spinner: The character of running work.
        drawings: What plugins draw; None draws messages and tools of plugins as any other.
        thinking_label: What is displayed in place of reasoning that is hidden; None for ``Thinking...``.
        hints: Keys by action, such as ``{"expand": "ctrl+o"}``, as they are bound.
    """

    width: int
    theme: str = "dark"
    expanded: bool = False
    padding: int = 1
    hide_thinking: bool = False
    cwd: str = ""
    home: str = ""
    now: float = 0.0
    spinner: str = "⠋"
    thinking_label: str | None = None
    drawings: Drawings | None = field(default=None, eq=False)
    hints: Mapping[str, str] = {"expand": "ctrl+o", "cancel": "escape"}

    def path(self, path: str) -> str:
        """Return a path as it is displayed: relative to the working directory, or below ``~``."""
        for folder, name in ((self.cwd, ""), (self.home, "~/")):
            if folder and path.startswith(folder.rstrip("/") + "/"):
                return name + path[len(folder.rstrip("/")) + 1 :]
        return path
