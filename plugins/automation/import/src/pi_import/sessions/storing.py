"""Puts conversations of other agents into pi's store of sessions."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_import.sessions.transcript import LARGEST
from pi_import.steps import Step, left_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_import.sessions.transcript import Stored, Transcript

__all__ = ["session_steps"]


def session_steps(found: Iterable[Stored], host: Any, home: Path) -> Iterator[Step]:
    """Yield the steps for stored sessions.

    A session keeps its id, by which a second import recognises it. Each is read when its step is decided and again when
    it is stored, so that the memory needed is that of one.

    Args:
        found: The sessions.
        host: The plugins, one of which stores sessions.
        home: The user's home folder.
    """
    from pi_core import SessionManager

    known: dict[str, str] | None = None
    for each in found:
        label = f"~/{each.file.relative_to(home)}" if each.file.is_relative_to(home) else str(each.file)
        if known is None:
            known = {info.id: info.name or info.first_message for info in SessionManager.list_all(host=host)}
        if each.id in known:
            yield _stored_already(each.id, known[each.id], label)
            continue
        try:
            transcript = each.read()
        except OSError as error:
            yield left_out("session", each.id, label, f"it cannot be read: {error.strerror}", scope="user")
            continue
        if transcript is None:
            yield left_out("session", each.id, label, _unusable(each), scope="user")
            continue
        title = _title(transcript)
        if transcript.session_id in known:
            yield _stored_already(transcript.session_id, title, label)
            continue
        known[transcript.session_id] = title
        notes = [*_notes(transcript)]
        yield Step(
            kind="session",
            name=title,
            source=label,
            outcome="differently" if notes else "taken",
            why="; ".join(notes),
            target=f"pi --session {transcript.session_id}",
            apply=partial(_store, each, host),
        )


def _unusable(stored: Stored) -> str:
    size = stored.file.stat().st_size
    return f"it has {size:,} bytes, and at most {LARGEST:,} are read" if size > LARGEST else "it has no answer"


def _notes(transcript: Transcript) -> Iterator[str]:
    """Yield how a session differs from the conversation there."""
    if transcript.note:
        yield transcript.note
    if transcript.compacted:
        yield "it begins after its last compaction, with the summary if there is one"
    if transcript.skipped:
        yield f"without {_number(transcript.skipped, 'result')} of calls that are not in it"
    if transcript.broken:
        yield f"without {_number(transcript.broken, 'line')} that cannot be read"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def _stored_already(session: str, title: str, label: str) -> Step:
    name = " ".join(title.split())[:60]
    return Step(kind="session", name=name, source=label, outcome="already", target=session)


def _title(transcript: Transcript) -> str:
    first = next((each.text for each in transcript.messages if each.role == "user"), "")
    return " ".join((transcript.name or first or transcript.id).split())[:60]


def _store(stored: Stored, host: Any) -> None:
    from pi_core import SessionManager

    transcript = stored.read()
    if transcript is None:
        raise UserError(f"{stored.file} has changed in the meantime")
    if not transcript.cwd:
        transcript.cwd = str(Path.cwd())
    with tempfile.TemporaryDirectory(prefix="pi-import-") as folder:
        file = Path(folder, f"{transcript.session_id}.jsonl")
        with file.open("wb") as lines:
            lines.writelines(transcript.lines())
        SessionManager.import_jsonl(file, host=host).close()
