"""Views of the built-in tools' calls, by name; all other tools use the view in ``other``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.lines.tools import bash, edit, other, read, search, write

if TYPE_CHECKING:
    from pi_tui.lines.tools.view import ToolView

__all__ = ["view_of"]

_VIEWS: dict[str, ToolView] = {
    "bash": bash.BashView(),
    "powershell": bash.BashView(),
    "edit": edit.EditView(),
    "find": search.SearchView("find", 20),
    "grep": search.SearchView("grep", 15),
    "ls": search.SearchView("ls", 20),
    "read": read.ReadView(),
    "write": write.WriteView(),
}


def view_of(name: str) -> ToolView:
    """Return the view for a tool's calls."""
    return _VIEWS.get(name) or other.OtherView()
