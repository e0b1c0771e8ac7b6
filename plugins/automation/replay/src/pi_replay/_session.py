"""Opens the stored session and the one that it is replayed in, with the plugins and settings of its folder."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from pi_core import ModelRegistry, PluginHost, SessionManager, Settings, create_agent_session
from pi_core.host.extensions import LocalExtensions
from pi_core.plugin_api.activation import register_providers
from pi_core.plugin_api.stored_sessions import StoredSessions
from pi_core.session.stores import resolve_store
from pi_hookspecs import UnknownName, UserError
from pi_replay._recording import Recording
from pi_replay._replay import Replay
from pi_replay._tools import RecordedTools
from pi_replay._worktree import worktree

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractContextManager

    from pi_core import AgentSession
    from pi_core.session import ReadOnlySession
    from pi_replay._compare import Report, Row
    from pi_replay._worktree import Worktree

__all__ = ["Wanted", "replay"]


@frozen(kw_only=True)
class Wanted:
    """What the user asked for.

    Attributes:
        session: A file, an id, or the beginning of an id.
        model: The model for all prompts; each its own when None.
        disable: Plugins to leave out.
        until: The last entry to replay.
        live: Whether tools run, in a worktree.
        commit: What the worktree begins with.
    """

    session: str
    model: str | None = None
    disable: Sequence[str] = ()
    until: str | None = None
    live: bool = False
    commit: str = "HEAD"


def replay(wanted: Wanted, started_with: PluginHost, say: Callable[[Row], object]) -> Report:
    """Replay a session; plugins that ``pi`` itself was started without are left out, too.

    Raises:
        PiError: The session cannot be read or replayed, or the model cannot be used.
    """
    return asyncio.run(_replay(wanted, started_with, say))


async def _replay(wanted: Wanted, started_with: PluginHost, say: Callable[[Row], object]) -> Report:
    stored = await _open(wanted.session, started_with)
    recording = Recording.of(stored, wanted.until)
    old = Path(stored.header.cwd)
    if not old.is_dir():  # noqa: ASYNC240 - nothing else runs in this loop yet
        raise UserError(f"The session was in {str(old)!r}, which is not there. Make the folder; it may be empty")
    live: AbstractContextManager[Worktree | None] = nullcontext()
    if wanted.live:
        live = worktree(old, started_with.settings.agent_dir, f"replay-{stored.id[-12:]}", wanted.commit)
    with live as place:
        cwd = old if place is None else place.cwd
        tools = RecordedTools(recording.turns) if place is None else None
        moved = recording if place is None else recording.moved(str(old), str(cwd))
        host = _host(wanted, started_with, cwd)
        if tools is not None:
            host.add(tools, "replay-tools")
        session = _new_session(wanted.model, stored, recording, host, cwd)
        async with _started(session):
            report = await Replay(session, moved, tools, changes_models=wanted.model is None, say=say).run()
            report.file = str(session.session_file) if session.session_file is not None else None
            report.model = session.model.reference if wanted.model is not None and session.model else None
    report.notes += _notes(recording, place)
    return report


def _notes(recording: Recording, place: Worktree | None) -> list[str]:
    notes = []
    if recording.compaction is not None:
        notes.append(
            f"The session was compacted: it was replayed from its last compaction, {recording.compaction}, on."
        )
    return notes if place is None else [*notes, place.note]


async def _open(reference: str, host: PluginHost) -> ReadOnlySession:
    return await StoredSessions(lambda: resolve_store(host=host).store, Path.cwd()).open(reference)


def _new_session(
    model: str | None, stored: ReadOnlySession, recording: Recording, host: PluginHost, cwd: Path
) -> AgentSession:
    """Return a session that is not started; it lies apart from the user's own, so that ``pi -c`` goes on with those."""
    folder, reference = host.settings.agent_dir / "replays", str(stored.file or stored.id)
    if recording.compaction is None:
        manager = SessionManager.create(cwd, folder, parent_session=reference, host=host)
    else:
        manager = SessionManager.open(reference, folder, cwd=cwd, host=host)
        manager.fork(recording.turns[0].entry)
    manager.append_session_info(f"Replay of {stored.name or stored.id}")
    return _created(model or "/".join(recording.turns[0].model or ()) or None, cwd, host, manager)


def _created(model: str | None, cwd: Path, host: PluginHost, manager: SessionManager) -> AgentSession:
    models = ModelRegistry(host, host.settings)

    def create() -> AgentSession:
        return create_agent_session(
            model=model, cwd=cwd, host=host, settings=host.settings, model_registry=models, session_manager=manager
        )

    try:
        session = create()
    except UserError:
        if not register_providers(host, models):  # the model may be one that a plugin adds in ``activate``
            raise
        session = create()
    models.check(session.required_model())
    return session


def _host(wanted: Wanted, started_with: PluginHost, cwd: Path) -> PluginHost:
    settings = Settings.load(cwd, agent_dir=started_with.settings.agent_dir)
    host = PluginHost(settings, disabled={*started_with.disabled_for_run, *wanted.disable})
    common = started_with.extensions
    LocalExtensions(
        host,
        cwd=cwd,
        given=common.given if common is not None else (),
        discover=common.discover if common is not None else True,
        say=_warn,
    ).load()
    local = {each.name for each in host.extensions.disabled} if host.extensions is not None else set()
    for name in wanted.disable:
        if name not in host.records and name not in local:
            raise UnknownName("plugin", name, [*host.records, *local])
    host.load_listeners(cwd)
    return host


@asynccontextmanager
async def _started(session: AgentSession) -> AsyncIterator[None]:
    """Start a session, report the failures of its plugins, and end it."""
    stop = session.subscribe(lambda event: _warn(event.error), "extension_error")
    await session.start()
    try:
        yield
    finally:
        await session.dispose()
        stop()


def _warn(line: str) -> None:
    sys.stderr.write(f"{line}\n")
