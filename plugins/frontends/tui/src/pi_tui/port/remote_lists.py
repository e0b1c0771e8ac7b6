"""The implementations of ``Lists`` and ``About`` for a session in another process, as far as the protocol allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pi_hookspecs import UserError
from pi_tui.selectors.models import ModelRow

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pi_hookspecs import Theme
    from pi_tui.port.about import HelpPage, Loaded, PluginRow, TrustAnswer, Trusted
    from pi_tui.port.remote import RemotePort
    from pi_tui.selectors.picks import Option
    from pi_tui.selectors.session_rows import SessionRow
    from pi_tui.selectors.settings import SettingRow
    from pi_tui.selectors.tree_rows import Tree

__all__ = ["RemoteAbout", "RemoteLists"]

_SESSIONS = "Listing sessions"


class RemoteLists:
    """Implements ``Lists``; operations that the protocol does not support raise ``UserError``.

    Args:
        port: The session.
    """

    def __init__(self, port: RemotePort) -> None:
        self._port = port

    def models(self) -> list[ModelRow]:
        """Return the available models."""
        facts = self._port.facts()
        current = f"{facts.get('provider')}/{facts.get('model')}"
        return [
            ModelRow(reference, str(each.get("name", "")), is_current=reference == current)
            for reference, each in zip(self._port.models(), self._port.mirror.models, strict=True)
        ]

    async def set_default_model(self, reference: str) -> None:
        """Use a model in this session only: the default for new sessions is set where they run."""
        await self._port.set_model(reference)

    async def set_default_thinking_level(self, level: str) -> None:
        """Use a thinking level in this session only: the default for new sessions is set where they run."""
        await self._port.set_thinking_level(level)

    def scope(self) -> tuple[str, ...] | None:
        """Return None: the models to cycle through are unknown."""
        return None

    def set_scope(self, references: Sequence[str] | None) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del references
        self._refuse("Choosing the models to cycle through")

    def save_scope(self, references: Sequence[str] | None) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        self.set_scope(references)

    def providers(self) -> Sequence[Option]:
        """Raise ``UserError``: the protocol does not support this."""
        return self._refuse("Signing in")

    def credentials(self) -> Sequence[Option]:
        """Return nothing: stored credentials are unknown."""
        return ()

    def require_sessions(self) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        self._refuse(_SESSIONS)

    def read_sessions(
        self, folder: str | None, *, everywhere: bool, texts: bool, progress: Callable[[int, int], object]
    ) -> list[SessionRow]:
        """Raise ``UserError``: the protocol does not support this."""
        del folder, everywhere, texts, progress
        return self._refuse(_SESSIONS)

    async def rename_session(self, path: str, name: str) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del path, name
        self._refuse("Renaming a stored session")

    async def delete_session(self, path: str) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del path
        self._refuse("Deleting a session")

    def tree(self) -> Tree:
        """Raise ``UserError``: the protocol does not support this."""
        return self._refuse("The tree")

    def set_label(self, entry_id: str, label: str) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del entry_id, label
        self._refuse("Labelling")

    async def navigate(self, entry_id: str, *, summarize: bool, instructions: str | None) -> str | None:
        """Raise ``UserError``: the protocol does not support this."""
        del entry_id, summarize, instructions
        return self._refuse("Moving in the tree")

    def settings(self) -> Sequence[SettingRow]:
        """Raise ``UserError``: the protocol does not support this."""
        return self._refuse("Changing settings")

    def set_setting(self, name: str, value: Any) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del name, value
        self._refuse("Changing settings")

    async def themes(self) -> Sequence[Theme]:
        """Return the built-in themes."""
        from pi_tui.theme.builtin_themes import BUILTIN_NAMES, builtin_theme

        return [builtin_theme(name) for name in BUILTIN_NAMES]

    def resolved_theme(self, theme: Theme) -> Theme:
        """Return the theme unchanged: built-in themes define all colours."""
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

    async def loaded(self) -> Sequence[Loaded]:
        """Return nothing: the protocol does not support this, and the header works without it."""
        return ()

    def plugins(self) -> Sequence[PluginRow]:
        """Raise ``UserError``: the protocol does not support this."""
        raise self._port.refusal("Listing plugins")

    def trust(self) -> Trusted:
        """Raise ``UserError``: the protocol does not support this."""
        raise self._port.refusal("Deciding about trust")

    def decide_trust(self, answer: TrustAnswer) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del answer
        self.trust()

    def why_no_command(self, name: str) -> None:
        """Return None: the protocol does not say it."""
        del name

    def plugin(self, name: str) -> str:
        """Raise ``UserError``, which names the shell command that describes the plugin."""
        raise UserError(
            f"To read the description of a plugin, run this in a shell where the session runs: pi plugins show {name}"
        )

    def help(self, topic: str) -> HelpPage:
        """Raise ``UserError``, which names the shell command that displays the page."""
        raise UserError(f"To read the documentation, run this in a shell here: pi help {topic!r}")

    async def export(self, path: str | None) -> str:
        """Write the session as an HTML page where it runs, and return the page's path there."""
        if path is not None and not path.endswith((".html", ".htm")):
            raise self._port.refusal("Exporting to a format other than HTML")
        return await self._port.call(self._port.client.export_html(path))

    def write_debug(self, rows: Iterable[str]) -> str:
        """Raise ``UserError``: the protocol does not support this."""
        del rows
        raise self._port.refusal("A report")
