"""Sessions of opencode: ``opencode.db``, or in older versions a JSON file for each session, message and part."""

from __future__ import annotations

import errno
import os
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_hookspecs import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_import.place import object_in
from pi_import.sessions.transcript import LARGEST, Stored, Transcript, image_of, json_object, object_in_file, tokens
from pi_import.tool_forms import from_opencode

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pi_hookspecs import Usage

__all__ = ["stored"]

Turn: TypeAlias = "tuple[str, dict[str, Any], list[dict[str, Any]]]"
"""A message: its id, what is known about it, and its parts, in order."""

_APIS = {"anthropic": "anthropic-messages", "openai": "openai-responses", "google": "google-generative-ai"}
_SESSIONS = "SELECT id, directory, title, revert FROM session WHERE parent_id IS NULL ORDER BY time_created"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
_PARTS = "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id"
_SIZE = "SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = ?"


def stored(folder: Path, cwd: Path | None) -> Iterator[Stored]:
    """Yield the stored sessions, without those of subagents.

    Args:
        folder: ``~/.local/share/opencode``.
        cwd: The working directory whose sessions are wanted; None for all.
    """
    wanted = None if cwd is None else {str(cwd), os.path.realpath(cwd)}
    seen: set[str] = set()
    for each in chain(_in_databases(folder, wanted), _in_files(folder / "storage", wanted)):
        if each.id not in seen:  # opencode keeps the files that it has copied into its database
            seen.add(each.id)
            yield each


# The database


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading; its errors are those of a file that cannot be read."""
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield database
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"the database has an unknown format ({error})", str(file)) from error


def _in_databases(folder: Path, wanted: set[str] | None) -> Iterator[Stored]:
    for file in sorted(folder.glob("opencode*.db")) if folder.is_dir() else ():
        try:
            with _opened(file) as database:
                rows = database.execute(_SESSIONS).fetchall()
        except OSError as error:
            yield Stored(file, file.name, partial(_fail, error))
            continue
        for session, directory, title, revert in rows:
            if isinstance(session, str) and (wanted is None or directory in wanted):
                about = {"id": session, "directory": directory, "title": title, "revert": json_object(revert) or {}}
                yield Stored(file, session, partial(_from_database, file, about))


def _fail(error: OSError) -> Transcript | None:
    raise error


def _from_database(file: Path, about: dict[str, Any]) -> Transcript | None:
    session = (about["id"],)
    with _opened(file) as database:
        if database.execute(_SIZE, session).fetchone()[0] > LARGEST:
            return None
        parts: dict[str, list[dict[str, Any]]] = {}
        for message, data in database.execute(_PARTS, session):
            parts.setdefault(message, []).append(json_object(data) or {})
        turns = [
            (each, json_object(data) or {}, parts.get(each, [])) for each, data in database.execute(_MESSAGES, session)
        ]
    return _transcript(about, turns)


# The files of older versions


def _in_files(storage: Path, wanted: set[str] | None) -> Iterator[Stored]:
    for file in sorted((storage / "session").glob("*/*.json")) if storage.is_dir() else ():
        about = object_in_file(file)
        if about.get("parentID") or (wanted is not None and about.get("directory") not in wanted):
            continue
        yield Stored(file, file.stem, partial(_from_files, storage, {**about, "id": file.stem}))


def _from_files(storage: Path, about: dict[str, Any]) -> Transcript | None:
    turns: list[Turn] = []
    size = 0
    for file in sorted((storage / "message" / about["id"]).glob("*.json")):
        parts = sorted((storage / "part" / file.stem).glob("*.json"))
        size += sum(each.stat().st_size for each in parts)
        if size > LARGEST:
            return None
        turns.append((file.stem, object_in_file(file), [*map(object_in_file, parts)]))
    return _transcript(about, turns)


# Both


def _transcript(about: dict[str, Any], turns: Iterable[Turn]) -> Transcript | None:
    found = Transcript(id=about["id"], provider="opencode", api="openai-completions")
    found.cwd = str(about.get("directory") or "")
    found.name = str(about.get("title") or "")
    undone = object_in(about, "revert").get("messageID")
    for message, info, parts in turns:
        if isinstance(undone, str) and message >= undone:  # ids are in the order of time
            break
        created = object_in(info, "time").get("created")
        time = created if isinstance(created, int) and 0 <= created < 1 << 52 else 0
        if info.get("role") == "user":
            own = [each for part in parts for each in _given(part)]
            if own:
                found.user(own, time)
        elif info.get("role") == "assistant" and info.get("summary") is True:
            found.restart("\n\n".join(each.text for each in map(_text, parts) if each is not None), time)
        elif info.get("role") == "assistant":
            _answer(found, info, parts, time)
    found.close()
    return found if found.answers else None


def _answer(found: Transcript, info: dict[str, Any], parts: list[dict[str, Any]], time: int) -> None:
    provider, model = info.get("providerID"), info.get("modelID")
    found.close()
    found.provider = str(provider or "opencode")
    found.api = _APIS.get(found.provider, "openai-completions")
    found.model = str(model or "unknown")
    ended: list[tuple[str, dict[str, Any]]] = []
    for part in parts:
        kind = part.get("type")
        if kind == "step-start":  # a message of older versions has several answers
            _results(found, ended, time)
        elif kind == "tool" and isinstance(part.get("callID"), str) and isinstance(part.get("tool"), str):
            state = object_in(part, "state")
            name, arguments = from_opencode(part["tool"], object_in(state, "input"))
            found.block(ToolCall(id=part["callID"], name=name, arguments=arguments), time)
            ended.append((part["callID"], state))
        else:
            block = _text(part) or _thinking(part)
            if block is not None:
                found.block(block, time)
        if kind == "step-finish":
            found.used(_usage(part))
    _results(found, ended, time)


def _results(found: Transcript, ended: list[tuple[str, dict[str, Any]]], time: int) -> None:
    """End the answer, and add the results of its calls."""
    found.close()
    for call, state in ended:
        ended_well = state.get("status") == "completed"
        output = state.get("output" if ended_well else "error")
        failed = not ended_well or object_in(state, "metadata").get("exit") not in (None, 0)
        content: list[TextContent | ImageContent] = []
        if isinstance(output, str) and output:
            content.append(TextContent(output))
        elif not ended_well:
            content.append(TextContent("The call was interrupted."))
        attached = state.get("attachments")
        files = [each for each in attached if isinstance(each, dict)] if isinstance(attached, list) else []
        content += [image for image in (image_of(each.get("url")) for each in files) if image is not None]
        found.result(call, content, time, is_error=failed)
    ended.clear()


def _usage(part: dict[str, Any]) -> Usage:
    used = object_in(part, "tokens")
    cache = object_in(used, "cache")
    return tokens(
        used.get("input"), used.get("output"), cache.get("read"), cache.get("write"), reasoning=used.get("reasoning")
    )


def _given(part: dict[str, Any]) -> Iterator[TextContent | ImageContent]:
    """Yield what a part adds to a prompt: its text, or an image."""
    text = _text(part)
    image = image_of(part.get("url")) if part.get("type") == "file" else None
    if text is not None:
        yield text
    if image is not None:
        yield image


def _text(part: dict[str, Any]) -> TextContent | None:
    text = part.get("text")
    is_text = part.get("type") == "text" and part.get("ignored") is not True and isinstance(text, str)
    return TextContent(str(text)) if is_text and str(text).strip() else None


def _thinking(part: dict[str, Any]) -> ThinkingContent | None:
    text = part.get("text")
    if part.get("type") != "reasoning" or not isinstance(text, str) or not text.strip():
        return None
    signature = object_in(object_in(part, "metadata"), "anthropic").get("signature")
    return ThinkingContent(text, thinking_signature=signature if isinstance(signature, str) else None)
