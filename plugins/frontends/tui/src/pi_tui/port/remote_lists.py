"""What lists and commands ask of a session in another process: as much of it as the protocol knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pi_tui.selectors.models import ModelRow

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pi_hookspecs import Theme
    from pi_tui.port.about import PluginRow, TrustAnswer, Trusted
    from pi_tui.port.remote import RemotePort
    from pi_tui.selectors.picks import Option
    from pi_tui.selectors.session_rows import SessionRow
    from pi_tui.selectors.settings import SettingRow
    from pi_tui.selectors.tree_rows import Tree

__all__ = ["RemoteAbout", "RemoteLists"]


class RemoteLists:
    """Implements ``Lists``; what the protocol does not know raises ``UserError``.

    Args:
        port: The session.
    """

    def __init__(self, port: RemotePort) -> None:
        self._port = port

    def models(self) -> list[ModelRow]:
        """Return the models that can be used."""
        facts = self._port.facts()
        current = f"{facts.get('provider')}/{facts.get('model')}"
        return [
            ModelRow(reference, str(each.get("name", "")), is_current=reference == current)
            for reference, each in zip(self._port.models(), self._port.mirror.models, strict=True)
        ]

    async def set_default_model(self, reference: str) -> None:
        """Use a model; what new sessions use is decided where they run."""
        await self._port.set_model(reference)

    def scope(self) -> tuple[str, ...] | None:
        """Return None: which models are cycled through is not known."""
        return None

    def set_scope(self, references: Sequence[str] | None) -> None:
        """Refuse."""
        del references
        self._refuse("Choosing the models to cycle through")

    def save_scope(self, references: Sequence[str] | None) -> None:
        """Refuse."""
        self.set_scope(references)

    def providers(self) -> Sequence[Option]:
        """Refuse."""
        return self._refuse("Signing in")

    def credentials(self) -> Sequence[Option]:
        """Return none."""
        return ()

    def read_sessions(
        self, folder: str | None, *, everywhere: bool, texts: bool, progress: Callable[[int, int], object]
    ) -> list[SessionRow]:
        """Refuse."""
        del folder, everywhere, texts, progress
        return self._refuse("Listing sessions")

    async def rename_session(self, path: str, name: str) -> None:
        """Refuse."""
        del path, name
        self._refuse("Renaming a stored session")

    async def delete_session(self, path: str) -> None:
        """Refuse."""
        del path
        self._refuse("Deleting a session")

    def tree(self) -> Tree:
        """Refuse."""
        return self._refuse("The tree")

    def set_label(self, entry_id: str, label: str) -> None:
        """Refuse."""
        del entry_id, label
        self._refuse("Labelling")

    async def navigate(self, entry_id: str, *, summarize: bool, instructions: str | None) -> str | None:
        """Refuse."""
        del entry_id, summarize, instructions
        return self._refuse("Going to another place of the tree")

    def settings(self) -> Sequence[SettingRow]:
        """Refuse."""
        return self._refuse("Changing settings")

    def set_setting(self, name: str, value: Any) -> None:
        """Refuse."""
        del name, value
        self._refuse("Changing settings")

    async def themes(self) -> Sequence[Theme]:
        """Return pi's own themes."""
        from pi_tui.theme.builtin_themes import BUILTIN_NAMES, builtin_theme

        return [builtin_theme(name) for name in BUILTIN_NAMES]

    def resolved_theme(self, theme: Theme) -> Theme:
        """Return the theme: pi's own have all colours."""
        return theme

    def theme_files(self) -> Hashable:
        """Return nothing: no files are watched."""
        return ()

    def _refuse(self, what: str) -> NoReturn:
        raise self._port.refusal(what)


class RemoteAbout:
    """Implements ``About``.

    Args:
        port: The session.
    """

    def __init__(self, port: RemotePort) -> None:
        self._port = port

    def plugins(self) -> Sequence[PluginRow]:
        """Refuse."""
        raise self._port.refusal("Listing plugins")

    def trust(self) -> Trusted:
        """Refuse."""
        raise self._port.refusal("Deciding about trust")

    def decide_trust(self, answer: TrustAnswer) -> None:
        """Refuse."""
        del answer
        self.trust()

    async def export(self, path: str | None) -> str:
        """Write the session as an HTML page where it runs, and return the page's path there."""
        if path is not None and not path.endswith((".html", ".htm")):
            raise self._port.refusal("Exporting in another format than HTML")
        return await self._port.call(self._port.client.export_html(path))

    def write_debug(self, rows: Iterable[str]) -> str:
        """Refuse."""
        del rows
        raise self._port.refusal("A report")
