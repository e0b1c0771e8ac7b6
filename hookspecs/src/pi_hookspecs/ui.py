"""User interface for plugins: the part that needs no terminal.

Every front end provides it; without a user, dialogs return at once with False or None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.abort import AbortSignal

__all__ = ["NoticeLevel", "UserInterface", "WidgetPlacement"]

NoticeLevel: TypeAlias = Literal["info", "warning", "error"]

WidgetPlacement: TypeAlias = Literal["aboveEditor", "belowEditor"]


@runtime_checkable
class UserInterface(Protocol):
    """Dialogs and notices. ``timeout`` is seconds; a dialog that times out or is aborted returns as if dismissed.

    Dialogs are awaited: ``if await ctx.ui.confirm("Run it?")``. Without ``await`` the condition raises.
    """

    async def select(
        self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None, timeout: float | None = None
    ) -> str | None:
        """Let the user choose one of the options; None when dismissed."""
        ...

    async def confirm(
        self, title: str, message: str = "", *, signal: AbortSignal | None = None, timeout: float | None = None
    ) -> bool:
        """Ask yes or no; False when dismissed."""
        ...

    async def input(
        self,
        title: str,
        placeholder: str | None = None,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,
    ) -> str | None:
        """Ask for a line of text; None when dismissed."""
        ...

    async def editor(self, title: str, prefill: str = "") -> str | None:
        """Let the user edit a longer text; None when dismissed."""
        ...

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Show a notice."""
        ...

    def set_status(self, key: str, text: str | None = None) -> None:
        """Show a short status text under a key until it is replaced or the plugins are reloaded; None removes it."""
        ...

    def set_widget(
        self, key: str, lines: Sequence[str] | None = None, *, placement: WidgetPlacement | None = None
    ) -> None:
        """Show lines under a key near the editor, above it by default; None or a reload removes them."""
        ...

    def set_editor_text(self, text: str) -> None:
        """Replace the text in the user's editor."""
        ...

    def set_title(self, title: str) -> None:
        """Set the window's title."""
        ...
