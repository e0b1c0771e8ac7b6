"""Selects the store of a session and its folder, from settings, environment and plugins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.base.paths import expand_home
from pi_core.session.checked_store import CheckedStore
from pi_core.session.memory import MemoryStore
from pi_hookspecs.deferred import frozen
from pi_hookspecs.errors import UserError
from pi_hookspecs.session_store import SessionPlace
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_hookspecs import SessionStore, SyncPolicy

__all__ = [
    "DEFAULT_STORE",
    "ChosenStore",
    "NoStore",
    "jsonl_store",
    "memory_store",
    "resolve_store",
    "store_or_memory",
]

DEFAULT_STORE = "jsonl"
_SYNC: tuple[SyncPolicy, ...] = ("never", "turn", "entry")
_HOOK = "register_session_stores"


class NoStore(UserError):
    """No plugin registers the store of the settings, or the store cannot be used."""


@frozen(eq=False, repr=False)
class ChosenStore(ReprMixin):
    """A store, its place, and the plugin host."""

    store: SessionStore
    place: SessionPlace
    host: PluginHost | None = None

    @property
    def in_memory(self) -> bool:
        """Whether its sessions are lost at the end of the program."""
        return isinstance(self.store, MemoryStore)


def memory_store() -> ChosenStore:
    """Return a store in memory."""
    return ChosenStore(MemoryStore(), SessionPlace(agent_dir=Path(), sync="never"))


def resolve_store(
    cwd: str | Path | None = None,
    session_dir: str | Path | None = None,
    *,
    host: PluginHost | None = None,
    environ: Mapping[str, str] | None = None,
    name: str | None = None,
) -> ChosenStore:
    """Return the store of the setting ``sessionStore``.

    Args:
        cwd: The working directory, the base of a relative folder.
        session_dir: The folder; takes precedence over ``PI_CODING_AGENT_SESSION_DIR`` and the setting ``sessionDir``.
        host: The plugins; None uses the installed plugins.
        environ: Environment variables; None uses the environment of the process.
        name: The name of the store; None uses the setting.

    Raises:
        NoStore: There is no such store; the message says what to install.
    """
    folder = Path(cwd or Path.cwd())
    if host is None:
        from pi_core.host import PluginHost
        from pi_core.settings import Settings

        host = PluginHost(Settings.load(folder, environ=environ))
    place = _place(folder, session_dir, host.settings, os.environ if environ is None else environ)
    name = name or host.settings.get_str("sessionStore", None) or DEFAULT_STORE
    if name == MemoryStore.name:
        return ChosenStore(MemoryStore(), place, host)
    found = host.find(_HOOK, name)
    if found is None:
        raise NoStore(_missing_store_message(name, host))
    make: Any = found.thing
    try:
        return ChosenStore(CheckedStore(make(place), found.plugin), place, host)
    except Exception as error:
        raise NoStore(
            f"The session store {name!r} of plugin {found.plugin!r} cannot be used: {type(error).__name__}: {error}. "
            "Select another one with the setting sessionStore, or none with --no-session."
        ) from error


def store_or_memory(
    cwd: str | Path | None,
    session_dir: str | Path | None,
    *,
    host: PluginHost | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[ChosenStore, Sequence[str]]:
    """Return the store of the settings, or, if it is missing, a store in memory and a notice for the user."""
    try:
        return resolve_store(cwd, session_dir, host=host, environ=environ), ()
    except NoStore as error:
        return memory_store(), [f"{error} Until then this session is kept in memory only."]


def jsonl_store(other: ChosenStore) -> ChosenStore:
    """Return the store for files of JSON lines, with the same folder as another store.

    Raises:
        NoStore: The plugin of this store is not installed.
    """
    if other.store.name == DEFAULT_STORE:
        return other
    return resolve_store(session_dir=other.place.session_dir, host=other.host, name=DEFAULT_STORE)


def _place(cwd: Path, chosen: str | Path | None, settings: Settings, environ: Mapping[str, str]) -> SessionPlace:
    folder = chosen or environ.get("PI_CODING_AGENT_SESSION_DIR") or settings.get_str("sessionDir", None)
    return SessionPlace(
        agent_dir=settings.agent_dir,
        session_dir=cwd / expand_home(folder) if folder else None,
        sync=settings.get_choice("sessionSync", _SYNC, "turn"),
    )


def _missing_store_message(name: str, host: PluginHost) -> str:
    from pi_core.host.advice import provider_of

    known: Sequence[str] = sorted({*host.find_all(_HOOK), MemoryStore.name})
    provider = provider_of("SessionStore") if name == DEFAULT_STORE else None
    todo = (
        f"Install {provider}"
        if provider is not None
        else f"Install the plugin that does, or set sessionStore to one of {', '.join(map(repr, known))}"
    )
    return f"No plugin provides the session store {name!r}, where sessions are kept. {todo}."
