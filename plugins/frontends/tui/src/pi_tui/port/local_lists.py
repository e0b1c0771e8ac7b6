"""The implementation of ``Lists`` for a session in this process."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_tui.selectors.models import ModelRow
from pi_tui.selectors.picks import Option
from pi_tui.selectors.session_rows import SessionRow
from pi_tui.view.skills import as_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from pi_core.conversation import AgentSession
    from pi_hookspecs import ProviderInfo, SessionInfo, Theme
    from pi_tui.selectors.settings import SettingRow
    from pi_tui.selectors.tree_rows import Tree

__all__ = ["LocalLists"]

_MOST_TEXT = 20_000
"""Maximum searched characters of a session's messages: thousands of sessions are in memory at a time."""

_TITLE = 300
"""Maximum characters of a title; a row has no room for more."""


class LocalLists:
    """Implements ``Lists``.

    Args:
        session: The session.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._theme_paths: set[str] = set()

    # Models

    def models(self) -> list[ModelRow]:
        """Return the available models."""
        session, settings = self._session, self._session.settings
        current = None if session.model is None else session.model.reference
        default = f"{settings.get_str('defaultProvider', '')}/{settings.get_str('defaultModel', '')}"
        scoped = {each.model.reference for each in session.scoped_models}
        return [
            ModelRow(
                model.reference,
                model.name,
                is_current=model.reference == current,
                is_default=model.reference == default,
                is_scoped=model.reference in scoped,
            )
            for model in session.models.available(session.model)
        ]

    async def set_default_model(self, reference: str) -> None:
        """Use a model, also in new sessions."""
        await self._session.set_model(self._session.models.find(reference), persist=True)

    async def set_default_thinking_level(self, level: str) -> None:
        """Use a thinking level, also in new sessions."""
        chosen = next(each for each in self._session.get_available_thinking_levels() if each == level)
        await self._session.set_thinking_level(chosen, persist=True)

    def scope(self) -> tuple[str, ...] | None:
        """Return the references of the models to cycle through; None for all."""
        return tuple(each.model.reference for each in self._session.scoped_models) or None

    def set_scope(self, references: Sequence[str] | None) -> None:
        """Cycle through these models in this session; None for all. Each keeps its thinking level."""
        from pi_core import ScopedModel

        session = self._session
        known = {each.model.reference: each for each in session.scoped_models}
        models = {each.reference: each for each in session.models.available(session.model)}
        session.set_scoped_models(
            [
                known.get(reference) or ScopedModel(models[reference])
                for reference in references or ()
                if reference in known or reference in models
            ]
        )

    def save_scope(self, references: Sequence[str] | None) -> None:
        """Cycle through these models in new sessions; None for all."""
        levels = {each.model.reference: each.thinking_level for each in self._session.scoped_models}
        names = [f"{each}:{level}" if (level := levels.get(each)) else each for each in references or ()]
        self._session.settings.set("enabledModels", names)

    # Providers

    def providers(self) -> list[Option]:
        """Return the providers to which the user can sign in, those with an account login first."""
        models = self._session.models
        known, logins = models.get_providers(), models.logins()
        with_key = [each for each in known if each not in logins and _takes_key(models.provider(each))]
        options = []
        for name in [*logins, *with_key]:
            stored = models.auth.get(name)
            status = _stored_text(stored) if stored is not None else ""
            if not status and name in known and models.is_configured(name):
                status = "configured outside of pi"
            takes_key = name in known and _takes_key(models.provider(name))
            how = " or ".join(["account"] * (name in logins) + ["API key"] * takes_key)
            options.append(Option(name, name, f"{how} · {status}" if status else how, is_current=bool(status)))
        return options

    def credentials(self) -> list[Option]:
        """Return the providers with stored credentials, and the kind of credential."""
        auth = self._session.models.auth
        return [Option(name, name, _stored_text(auth.get(name) or {})) for name in auth.providers()]

    # Stored sessions

    def require_sessions(self) -> None:
        """Return without an error, since the sessions can be listed."""

    def read_sessions(
        self, folder: str | None, *, everywhere: bool, texts: bool, progress: Callable[[int, int], object]
    ) -> list[SessionRow]:
        """Return stored sessions."""
        from pi_core.session import SessionManager

        session = self._session

        def report(done: int, total: int) -> None:
            progress(done, total)

        if everywhere:
            found = SessionManager.list_all(report, session_dir=folder, host=session.host)
        else:
            found = SessionManager.list(session.cwd, folder, report, host=session.host)
        return [_row(each, is_current=each.id == session.session_id, texts=texts) for each in found]

    async def rename_session(self, path: str, name: str) -> None:
        """Rename a stored session; an empty name removes its name."""
        session = self._session
        if session.session_manager.reference == path:
            await session.set_session_name(name or None)
        else:
            await asyncio.to_thread(self._rename, path, name)

    def _rename(self, path: str, name: str) -> None:
        from pi_core.session import SessionManager

        SessionManager.open(path, host=self._session.host).append_session_info(name or None)

    async def delete_session(self, path: str) -> None:
        """Delete a stored session through its store, or its file if the store cannot delete."""
        from pi_hookspecs import DeletingStore

        store = self._session.session_manager.shared_store(self._session.host).store
        if isinstance(store, DeletingStore):
            await asyncio.to_thread(store.delete, path)
            return
        file = Path(path)
        if not await asyncio.to_thread(file.is_file):
            raise UserError(f"{path!r} is not a file: only sessions that are stored in a file can be deleted here.")
        try:
            await asyncio.to_thread(file.unlink)
        except OSError as error:
            raise UserError(f"{path!r} cannot be deleted: {error.strerror}.") from error

    # The tree

    def tree(self) -> Tree:
        """Return the entries of the session."""
        from pi_tui.port.local_tree import read_tree

        return read_tree(self._session.session_manager)

    def set_label(self, entry_id: str, label: str) -> None:
        """Label an entry; an empty label removes its label."""
        self._session.set_label(entry_id, label or None)

    async def navigate(self, entry_id: str, *, summarize: bool, instructions: str | None) -> str | None:
        """Continue from another entry."""
        went = await self._session.navigate_tree(entry_id, summarize=summarize, custom_instructions=instructions)
        return None if went.cancelled else went.editor_text or ""

    # Settings

    def settings(self) -> list[SettingRow]:
        """Return the settings that have a single value."""
        from pi_tui.port.local_settings import read_settings

        return [*read_settings(self._session.settings)]

    def set_setting(self, name: str, value: Any) -> None:
        """Write a value into the user's settings; None removes the setting from them."""
        if value is None:
            self._session.settings.unset(name)
        else:
            self._session.settings.set(name, value)

    # Themes

    async def themes(self) -> Sequence[Theme]:
        """Return the usable themes."""
        themes = await self._session.themes.all()
        found = await self._session.resources.load("theme")
        self._theme_paths = {each.path for each in found.resources} | {each.path for each in found.problems}
        return themes

    def resolved_theme(self, theme: Theme) -> Theme:
        """Return a theme with its colours resolved, so that they can be drawn."""
        from pi_core.resources.theme_resolver import resolve_theme

        resolved, problems = resolve_theme(theme)
        if problems:
            raise UserError(f"Theme {theme.name!r} cannot be used: {'; '.join(map(str, problems))}")
        return resolved

    def theme_files(self) -> Hashable:
        """Return names, times and sizes of the known theme files and of the files in the default folders."""
        session = self._session
        folders = (session.settings.agent_dir / "themes", Path(session.cwd) / ".pi" / "themes")
        return frozenset(_marks(folders, self._theme_paths))


def _takes_key(info: ProviderInfo) -> bool:
    return bool(info.key_variables) and not info.keyless


def _stored_text(credential: Mapping[str, Any]) -> str:
    return "signed in" if credential.get("type") == "oauth" else "key stored"


def _row(info: SessionInfo, *, is_current: bool, texts: bool) -> SessionRow:
    from pi_core.base.paths import below_home
    from pi_terminal_kit.words import session_title

    return SessionRow(
        path=info.path,
        title=session_title(info.name, as_typed(info.first_message))[:_TITLE],
        modified=info.modified.timestamp(),
        messages=info.message_count,
        is_named=info.name is not None,
        cwd=below_home(info.cwd),
        parent=info.parent_session_path,
        is_current=is_current,
        text=" ".join(info.read_text().lower().split())[:_MOST_TEXT] if texts else "",
    )


def _marks(folders: Iterable[Path], paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    found = {*paths}
    for folder in folders:
        with suppress(OSError):  # the folder or file does not exist
            found |= {each.path for each in os.scandir(folder)}
    for path in found:
        with suppress(OSError):
            status = os.stat(path)  # noqa: PTH116 - paths as texts
            yield path, status.st_mtime_ns, status.st_size
