"""Opens the stored session and the session that replays it, with the plugins and settings of its folder."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from attrs import frozen

from pi_core import (
    ModelRegistry,
    SessionManager,
    Settings,
    StoredSessions,
    create_agent_session,
    host_without,
    register_providers,
    require_plugins,
    resolve_store,
    run_until_signal,
)
from pi_hookspecs import UserError
from pi_replay.folders import session_folder, worktree
from pi_replay.recording import Recording
from pi_replay.replay import Replay
from pi_replay.tools import RecordedTools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from pi_core import AgentSession, PluginHost, ReadOnlySession
    from pi_replay.compare import Report, Row
    from pi_replay.folders import Folder

__all__ = ["Wanted", "check", "replay"]


@frozen(kw_only=True)
class Wanted:
    """What the user asked for.

    Attributes:
        session: A file, an id, or a prefix of an id.
        model: The model for all prompts; None for the recorded models.
        disable: Plugins to leave out.
        until: The last entry to replay.
        live: Whether tools run, in a worktree.
        commit: The commit that the worktree checks out.
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
    return run_until_signal(_replay(wanted, started_with, say))


def check(wanted: Wanted, started_with: PluginHost, models: Iterable[str], plugins: Iterable[str]) -> int:
    """Check that a session can be replayed with each of these models, and without each of these plugins.

    Returns:
        The number of prompts to replay.

    Raises:
        PiError: It cannot; there may be more reasons.
    """
    stored = asyncio.run(_open(wanted.session, started_with))
    recording, cwd = Recording.of(stored, wanted.until), Path(stored.header.cwd)
    host = _host(wanted, started_with, cwd)
    require_plugins(host, plugins)
    registry = ModelRegistry(host, host.settings)
    register_providers(host, registry)
    for each in models:
        registry.check(registry.match(each)[0])
    return len(recording.turns)


async def _replay(wanted: Wanted, started_with: PluginHost, say: Callable[[Row], object]) -> Report:
    stored = await _open(wanted.session, started_with)
    recording = Recording.of(stored, wanted.until)
    with _folder(wanted, stored, started_with.settings.agent_dir) as folder:
        cwd = folder.cwd
        moved = recording.moved(stored.header.cwd, str(cwd))
        tools = None if wanted.live else RecordedTools(moved.turns)
        host = _host(wanted, started_with, cwd)
        if tools is not None:
            host.add(tools, "replay-tools")
        session = _new_session(wanted.model, stored, recording, host, cwd)
        async with _started(session):
            report = await Replay(session, moved, tools, changes_models=wanted.model is None, say=say).run()
            report.file = str(session.session_file) if session.session_file is not None else None
            report.model = session.model.reference if wanted.model is not None and session.model else None
    if recording.compaction is not None:
        after = f"its last compaction, {recording.compaction}, on"
        report.notes.append(f"The session was compacted: it was replayed from {after}.")
    report.notes += [folder.note] if folder.note else []
    reference = session.ctx.session.reference
    if report.file is None and reference is not None:
        replays = _folder_of_replays(host)
        report.notes.append(f"The new session: {reference}; pi --session-dir {replays} --session {reference} opens it.")
    return report


def _folder(wanted: Wanted, stored: ReadOnlySession, agent_dir: Path) -> AbstractContextManager[Folder]:
    cwd = Path(stored.header.cwd)
    if not wanted.live:
        return session_folder(cwd)
    return worktree(cwd, agent_dir, f"replay-{stored.id[-12:]}-{token_hex(3)}", wanted.commit)


async def _open(reference: str, host: PluginHost) -> ReadOnlySession:
    return await StoredSessions(lambda: resolve_store(host=host), Path.cwd()).open(reference)


def _new_session(
    model: str | None, stored: ReadOnlySession, recording: Recording, host: PluginHost, cwd: Path
) -> AgentSession:
    """Return a session, not yet started, stored apart from the user's own, so that ``pi -c`` ignores it."""
    folder, reference = _folder_of_replays(host), str(stored.file or stored.id)
    if recording.compaction is None:
        manager = SessionManager.create(cwd, folder, parent_session=reference, host=host)
    else:
        manager = SessionManager.open(reference, folder, cwd=cwd, host=host)
        manager.fork(recording.turns[0].entry)
    manager.append_session_info(f"Replay of {stored.name or stored.id}")
    return _created(model or "/".join(recording.turns[0].model or ()) or None, cwd, host, manager)


def _folder_of_replays(host: PluginHost) -> Path:
    return host.settings.agent_dir / "replays"


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
    models.check(session.runtime.required_model())
    return session


def _host(wanted: Wanted, started_with: PluginHost, cwd: Path) -> PluginHost:
    settings = Settings.load(cwd, agent_dir=started_with.settings.agent_dir)
    host = host_without(started_with, wanted.disable, settings=settings, cwd=cwd, say=_warn)
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
