"""The part of a session's interface that lists of a front end use: their items, and the effects of choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pi_hookspecs import Theme
    from pi_tui.selectors.models import ModelRow
    from pi_tui.selectors.picks import Option
    from pi_tui.selectors.session_rows import SessionRow
    from pi_tui.selectors.settings import SettingRow
    from pi_tui.selectors.tree_rows import Tree

__all__ = ["Lists"]


class Lists(Protocol):
    """The operations that lists need. Methods that fail raise ``PiError``, whose text says what happened."""

    # Models

    def models(self) -> Sequence[ModelRow]:
        """Return the available models."""
        ...

    async def set_default_model(self, reference: str) -> None:
        """Use a model, also in new sessions."""
        ...

    async def set_default_thinking_level(self, level: str) -> None:
        """Use a thinking level, also in new sessions."""
        ...

    def scope(self) -> tuple[str, ...] | None:
        """Return the references of the models to cycle through; None for all."""
        ...

    def set_scope(self, references: Sequence[str] | None) -> None:
        """Cycle through these models in this session; None for all."""
        ...

    def save_scope(self, references: Sequence[str] | None) -> None:
        """Cycle through these models in new sessions; None for all."""
        ...

    # Providers

    def providers(self) -> Sequence[Option]:
        """Return the providers to which the user can sign in, each with the ways to do so and its current status."""
        ...

    def credentials(self) -> Sequence[Option]:
        """Return the providers with stored credentials, and the kind of credential, but never a secret."""
        ...

    # Stored sessions

    def require_sessions(self) -> None:
        """Raise ``PiError`` if stored sessions cannot be listed through this port."""
        ...

    def read_sessions(
        self, folder: str | None, *, everywhere: bool, texts: bool, progress: Callable[[int, int], object]
    ) -> list[SessionRow]:
        """Return stored sessions; call this in a thread, since there may be thousands.

        Args:
            folder: The folder in which sessions are stored; None for the default.
            everywhere: Whether to return sessions of all working directories, not only of the current one.
            texts: Whether to read the text of their messages, too.
            progress: Called with the number of sessions that have been read, and their total number.
        """
        ...

    async def rename_session(self, path: str, name: str) -> None:
        """Rename a stored session; an empty name removes its name."""
        ...

    async def delete_session(self, path: str) -> None:
        """Delete a stored session."""
        ...

    # The tree

    def tree(self) -> Tree:
        """Return the entries of the session."""
        ...

    def set_label(self, entry_id: str, label: str) -> None:
        """Label an entry; an empty label removes its label."""
        ...

    async def navigate(self, entry_id: str, *, summarize: bool, instructions: str | None) -> str | None:
        """Continue from another entry, and return the text for the editor, if any; None if a plugin prevented it.

        Args:
            entry_id: The id of the entry.
            summarize: Whether to summarize the abandoned branch.
            instructions: Instructions for the summary.
        """
        ...

    # Settings

    def settings(self) -> Sequence[SettingRow]:
        """Return the settings that have a single value."""
        ...

    def set_setting(self, name: str, value: Any) -> None:
        """Write a value into the user's settings; None removes the setting from them."""
        ...

    # Themes

    async def themes(self) -> Sequence[Theme]:
        """Return the usable themes, resolved; the session emits events about problems with others."""
        ...

    def resolved_theme(self, theme: Theme) -> Theme:
        """Return a theme with its colours resolved, so that they can be drawn.

        Raises:
            UserError: The theme cannot be used; the text gives the reason.
        """
        ...

    def theme_files(self) -> Hashable:
        """Return a value that changes whenever a theme file changes."""
        ...
