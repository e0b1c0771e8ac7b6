"""What lists of a front end ask of a session: what there is to choose from, and what follows from a choice."""

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
    """Methods that fail raise ``PiError``, whose text says what happened."""

    # Models

    def models(self) -> Sequence[ModelRow]:
        """Return the models that can be used."""
        ...

    async def set_default_model(self, reference: str) -> None:
        """Use a model, also in new sessions."""
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
        """Return the providers that one can sign in to, each with how, and with what there is of it already."""
        ...

    def credentials(self) -> Sequence[Option]:
        """Return the providers for which something is stored, and what; never a secret."""
        ...

    # Stored sessions

    def read_sessions(
        self, folder: str | None, *, everywhere: bool, texts: bool, progress: Callable[[int, int], object]
    ) -> list[SessionRow]:
        """Return stored sessions; called in a thread, as there may be thousands.

        Args:
            folder: Where sessions are stored, if that is not the usual place.
            everywhere: Those of all working directories, not only of this one.
            texts: Read the text of their messages, too.
            progress: Called with how many are read, and how many there are.
        """
        ...

    async def rename_session(self, path: str, name: str) -> None:
        """Give a stored session a name; empty for none."""
        ...

    async def delete_session(self, path: str) -> None:
        """Delete a stored session."""
        ...

    # The tree

    def tree(self) -> Tree:
        """Return the entries of the session."""
        ...

    def set_label(self, entry_id: str, label: str) -> None:
        """Label an entry; empty for none."""
        ...

    async def navigate(self, entry_id: str, *, summarize: bool, instructions: str | None) -> str | None:
        """Go on from another entry, and return the text for the editor, if any; None where a plugin did not allow it.

        Args:
            entry_id: The entry.
            summarize: Summarize what is left behind.
            instructions: What the summary should look at.
        """
        ...

    # Settings

    def settings(self) -> Sequence[SettingRow]:
        """Return the settings that have a single value."""
        ...

    def set_setting(self, name: str, value: Any) -> None:
        """Write a value into the user's own settings; None removes it from there."""
        ...

    # Themes

    async def themes(self) -> Sequence[Theme]:
        """Return the themes that can be used, resolved; what is wrong with others is an event of the session."""
        ...

    def resolved_theme(self, theme: Theme) -> Theme:
        """Return a theme whose colours can be drawn.

        Raises:
            UserError: It cannot be used, for this reason.
        """
        ...

    def theme_files(self) -> Hashable:
        """Return a value that changes with the files of themes."""
        ...
