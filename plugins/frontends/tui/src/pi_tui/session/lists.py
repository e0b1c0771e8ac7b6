"""The items of the screen's lists, and the effects of choices: models, stored sessions, tree, settings, themes.

Most of it only the session's own process can do; over a connection it raises ``UserError``, which says so.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pi_core import require_local
from pi_hookspecs import NoModel, UserError
from pi_tui.selectors.models import ModelRow
from pi_tui.selectors.picks import Option
from pi_tui.selectors.session_rows import SessionRow
from pi_tui.view.skills import as_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from pi_core import AgentSession, Session
    from pi_core.models.sign_in import SignInUI
    from pi_hookspecs import ProviderInfo, SessionInfo, Theme, ThinkingLevel
    from pi_tui.selectors.settings import SettingRow
    from pi_tui.selectors.tree_rows import Tree

__all__ = ["Lists"]

_SCOPE, _SIGN_IN = "Choosing the models to cycle through", "Signing in"
_SESSIONS, _SETTINGS = "Listing sessions", "Changing settings"

_MOST_TEXT = 20_000
"""Maximum searched characters of a session's messages: thousands of sessions are in memory at a time."""

_TITLE = 300
"""Maximum characters of a title; a row has no room for more."""


class Lists:
    """The lists of a session.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._theme_paths: set[str] = set()

    # Models

    def models(self) -> list[ModelRow]:
        """Return the available models. What is the default, and which are cycled through, is known only locally."""
        session, local = self._session, self._session.local
        current = None if session.model is None else session.model.reference
        default, scoped = "", frozenset[str]()
        if local is not None:
            settings = local.settings
            default = f"{settings.get_str('defaultProvider', '')}/{settings.get_str('defaultModel', '')}"
            scoped = frozenset(each.model.reference for each in local.scoped_models)
        return [
            ModelRow(
                model.reference,
                model.name,
                is_current=model.reference == current,
                is_default=model.reference == default,
                is_scoped=model.reference in scoped,
            )
            for model in session.get_available_models()
        ]

    def model_names(self) -> list[str]:
        """Return the available models, as ``provider/id``."""
        return [model.reference for model in self._session.get_available_models()]

    async def use_model(self, name: str) -> str:
        """Use a model, by its name or a part of it, with its thinking level after a colon; return its full name."""
        session = self._session
        match = await session.resolve_model(name)
        await session.set_model(match.model)
        if match.thinking_level is not None:
            await session.set_thinking_level(match.thinking_level)
        return match.model.reference

    async def set_default_model(self, reference: str) -> None:
        """Use a model, also in new sessions; over a connection in this one only."""
        local = self._session.local
        if local is None:
            await self.use_model(reference)
        else:
            await local.set_model(local.models.find(reference), persist=True)

    def thinking_levels(self) -> list[ThinkingLevel]:
        """Return the thinking levels of the model; none without a model."""
        return [] if self._session.model is None else [*self._session.get_available_thinking_levels()]

    async def use_thinking_level(self, level: str, *, as_default: bool = False) -> None:
        """Set one of the thinking levels; ``as_default`` also for new sessions, unless it is set over a connection."""
        session = self._session
        chosen = next(each for each in session.get_available_thinking_levels() if each == level)
        if as_default and session.local is not None:
            await session.local.set_thinking_level(chosen, persist=True)
        else:
            await session.set_thinking_level(chosen)

    def scope(self) -> tuple[str, ...] | None:
        """Return the references of the models to cycle through; None for all, or if they are unknown."""
        local = self._session.local
        return None if local is None else tuple(each.model.reference for each in local.scoped_models) or None

    def set_scope(self, references: Sequence[str] | None) -> None:
        """Cycle through these models in this session; None for all. Each keeps its thinking level."""
        from pi_core import ScopedModel

        session = self._local(_SCOPE)
        known = {each.model.reference: each for each in session.scoped_models}
        models = {each.reference: each for each in session.get_available_models()}
        session.set_scoped_models(
            [
                known.get(reference) or ScopedModel(models[reference])
                for reference in references or ()
                if reference in known or reference in models
            ]
        )

    def save_scope(self, references: Sequence[str] | None) -> None:
        """Cycle through these models in new sessions; None for all."""
        session = self._local(_SCOPE)
        levels = {each.model.reference: each.thinking_level for each in session.scoped_models}
        names = [f"{each}:{level}" if (level := levels.get(each)) else each for each in references or ()]
        session.settings.set("enabledModels", names)

    # Providers

    def providers(self) -> list[Option]:
        """Return the providers to which the user can sign in, those with an account login first."""
        models = self._local(_SIGN_IN).models
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

    def provider_names(self, *, stored: bool = False) -> list[str]:
        """Return the providers to which the user can sign in, or those with stored credentials, if they are known."""
        if self._session.local is None:
            return []
        models = self._session.local.models
        return [*models.auth.providers()] if stored else [*dict.fromkeys([*models.logins(), *models.get_providers()])]

    def credentials(self) -> list[Option]:
        """Return the providers with stored credentials, and the kind of credential, but never a secret."""
        if self._session.local is None:
            return []
        auth = self._session.local.models.auth
        return [Option(name, name, _stored_text(auth.get(name) or {})) for name in auth.providers()]

    async def sign_in(self, provider: str | None) -> str | None:
        """Sign in to a provider, or store its key; the user interface asks what is missing.

        Returns:
            The full name of the model that is used now, if there was none before.
        """
        from pi_core.models.sign_in import login

        session = self._local(_SIGN_IN)
        await login(session.models, provider, key=None, ui=cast("SignInUI", session.ui))
        if session.model is not None:
            return None
        try:
            model = session.models.choose()
        except NoModel:
            return None
        await session.set_model(model)
        return model.reference

    async def sign_out(self, provider: str | None) -> None:
        """Delete the stored credentials of a provider."""
        from pi_core.models.sign_in import logout

        session = self._local("Signing out")
        await logout(session.models, provider, ui=cast("SignInUI", session.ui))

    # Stored sessions

    def require_sessions(self) -> None:
        """Raise ``UserError`` if stored sessions cannot be listed."""
        self._local(_SESSIONS)

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
        from pi_core.session import SessionManager

        session = self._local(_SESSIONS)

        def report(done: int, total: int) -> None:
            progress(done, total)

        if everywhere:
            found = SessionManager.list_all(report, session_dir=folder, host=session.host)
        else:
            found = SessionManager.list(session.cwd, folder, report, host=session.host)
        return [_row(each, is_current=each.id == session.session_id, texts=texts) for each in found]

    async def rename_session(self, path: str, name: str) -> None:
        """Rename a stored session; an empty name removes its name."""
        session = self._local("Renaming a stored session")
        if session.session_manager.reference == path:
            await session.set_session_name(name or None)
        else:
            await asyncio.to_thread(_rename, session, path, name)

    async def delete_session(self, path: str) -> None:
        """Delete a stored session through its store, or its file if the store cannot delete."""
        from pi_hookspecs import DeletingStore

        session = self._local("Deleting a session")
        store = session.session_manager.shared_store(session.host).store
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
        from pi_tui.session.tree import read_tree

        return read_tree(self._local("The tree").session_manager)

    def set_label(self, entry_id: str, label: str) -> None:
        """Label an entry; an empty label removes its label."""
        self._local("Labelling").set_label(entry_id, label or None)

    # Settings

    def settings(self) -> list[SettingRow]:
        """Return the settings that have a single value."""
        from pi_tui.session.setting_rows import read_settings

        return [*read_settings(self._local(_SETTINGS).settings)]

    def set_setting(self, name: str, value: Any) -> None:
        """Write a value into the user's settings; None removes the setting from them."""
        settings = self._local(_SETTINGS).settings
        if value is None:
            settings.unset(name)
        else:
            settings.set(name, value)

    # Themes

    async def themes(self) -> Sequence[Theme]:
        """Return the usable themes, resolved; over a connection the built-in ones.

        The session emits events about problems with others.
        """
        local = self._session.local
        if local is None:
            from pi_tui.theme.builtin_themes import BUILTIN_NAMES, builtin_theme

            return [builtin_theme(name) for name in BUILTIN_NAMES]
        themes = await local.themes.all()
        found = await local.resources.load("theme")
        self._theme_paths = {each.path for each in found.resources} | {each.path for each in found.problems}
        return themes

    def resolved_theme(self, theme: Theme) -> Theme:
        """Return a theme with its colours resolved, so that they can be drawn; built-in ones define all colours.

        Raises:
            UserError: The theme cannot be used; the text gives the reason.
        """
        if self._session.local is None:
            return theme
        from pi_core.resources.theme_resolver import resolve_theme

        resolved, problems = resolve_theme(theme)
        if problems:
            raise UserError(f"Theme {theme.name!r} cannot be used: {'; '.join(map(str, problems))}")
        return resolved

    def theme_files(self) -> Hashable:
        """Return a value that changes whenever a known theme file, or a file in a default folder, changes."""
        local = self._session.local
        if local is None:
            return ()
        folders = (local.settings.agent_dir / "themes", Path(local.cwd) / ".pi" / "themes")
        return frozenset(_marks(folders, self._theme_paths))

    def _local(self, what: str) -> AgentSession:
        return require_local(self._session, what)


def _rename(session: AgentSession, path: str, name: str) -> None:
    from pi_core.session import SessionManager

    SessionManager.open(path, host=session.host).append_session_info(name or None)


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
