"""Sessions of Gemini CLI: ``~/.gemini/tmp/PROJECT/chats/session-*.jsonl``, records that add and take back messages."""

from __future__ import annotations

import hashlib
import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_hookspecs import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_import.place import object_in
from pi_import.sessions.transcript import LARGEST, Stored, Transcript, lines_of, milliseconds, object_in_file, tokens
from pi_import.tool_forms import from_gemini

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_hookspecs import Usage

__all__ = ["stored"]

_NOT_SAID = ("/", "?", "<session_context>", "<hook_context>")
"""Beginnings of a user's messages that Gemini CLI does not send to the model either."""


def stored(folder: Path, cwd: Path | None) -> Iterator[Stored]:
    """Yield the stored sessions, without those of subagents.

    Args:
        folder: ``~/.gemini``.
        cwd: The working directory whose sessions are wanted; None for all.
    """
    wanted = None if cwd is None else {str(cwd), os.path.realpath(cwd)}
    hashes = {hashlib.sha256(each.encode()).hexdigest() for each in wanted or ()}
    roots = {name: path for path, name in object_in(object_in_file(folder / "projects.json"), "projects").items()}
    for project in sorted((folder / "tmp").iterdir()) if (folder / "tmp").is_dir() else ():
        root = _root(project) or str(roots.get(project.name) or "")
        if wanted is not None and root not in wanted and project.name not in hashes:
            continue
        place = root or (str(cwd) if cwd is not None else "")
        for file in sorted((project / "chats").glob("session-*.json*")):
            moved = file.suffix == ".json" and file.with_suffix(".jsonl").is_file()
            if file.suffix in (".json", ".jsonl") and file.is_file() and not moved:
                name = _id(file)
                yield Stored(file, name, partial(_read, file, name, place))


def _root(project: Path) -> str:
    """Return the folder that a folder of sessions is about, which newer versions write into it."""
    file = project / ".project_root"
    try:
        return file.read_text(encoding="utf-8").strip() if file.stat().st_size < 1 << 16 else ""
    except (OSError, ValueError):
        return ""


def _records(file: Path, transcript: Transcript | None = None) -> Iterator[dict[str, Any]]:
    if file.suffix == ".json":
        yield object_in_file(file)
    else:
        yield from lines_of(file, transcript)


def _id(file: Path) -> str:
    try:
        first = next(_records(file), {})
    except OSError:
        first = {}
    session = first.get("sessionId")
    return session if isinstance(session, str) and session else file.stem


def _read(file: Path, name: str, cwd: str) -> Transcript | None:
    if file.stat().st_size > LARGEST:
        return None
    found = Transcript(id=name, api="google-generative-ai", provider="google", cwd=cwd)
    messages: dict[str, dict[str, Any]] = {}
    for record in _records(file, found):
        changes = object_in(record, "$set") or ({} if "id" in record else record)
        if isinstance(record.get("$rewindTo"), str):
            _rewind(messages, record["$rewindTo"])
        elif isinstance(record.get("id"), str):
            messages[record["id"]] = record
        elif isinstance(changes.get("messages"), list):
            messages = {each["id"]: each for each in changes["messages"] if _has_id(each)}
        if isinstance(changes.get("summary"), str):
            found.name = changes["summary"]
    for message in messages.values():
        _add(found, message)
    found.close()
    return found if found.answers else None


def _has_id(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("id"), str)


def _rewind(messages: dict[str, dict[str, Any]], first: str) -> None:
    """Take back a message and those after it; all of them if it is unknown, as Gemini CLI does."""
    names = list(messages)
    for name in names[names.index(first) if first in messages else 0 :]:
        del messages[name]


def _add(found: Transcript, message: dict[str, Any]) -> None:
    time = milliseconds(message.get("timestamp"))
    parts = _parts(message.get("content"))
    if message.get("type") == "user":
        own = [each for part in parts for each in _given(part)]
        text = "".join(each.text for each in own if isinstance(each, TextContent)).strip()
        if own and not text.startswith(_NOT_SAID):
            found.user(own, time)
    elif message.get("type") == "gemini":
        _answer(found, message, parts, time)


def _parts(content: Any) -> list[dict[str, Any]]:
    """Return the parts of a content, which may be a text, a part, or a list of both."""
    listed = content if isinstance(content, list) else [content]
    return [
        {"text": each} if isinstance(each, str) else each for each in listed if isinstance(each, dict | str) and each
    ]


def _answer(found: Transcript, message: dict[str, Any], parts: list[dict[str, Any]], time: int) -> None:
    model, calls = message.get("model"), message.get("toolCalls")
    records = [each for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []
    if not any("functionCall" in part or part.get("thought") for part in parts):  # of older versions
        thoughts = message.get("thoughts")
        listed = thoughts if isinstance(thoughts, list) else []
        parts = [{"text": _thought(each), "thought": True} for each in listed if isinstance(each, dict)] + parts
        parts += [{"functionCall": each} for each in records]
    ids = [str(each.get("id")) for each in records if each.get("id")]
    found.close()
    found.model = model if isinstance(model, str) else found.model
    asked: list[str] = []
    for part in parts:
        call = part.get("functionCall")
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            at = len(asked)
            asked.append(str(call.get("id") or (ids[at] if at < len(ids) else f"{message['id']}-{at}")))
            name, arguments = from_gemini(call["name"], object_in(call, "args"))
            signature = part.get("thoughtSignature")
            signed = signature if isinstance(signature, str) else None
            found.block(ToolCall(id=asked[-1], name=name, arguments=arguments, thought_signature=signed), time)
        elif isinstance(part.get("text"), str) and part["text"].strip():
            text = part["text"]
            found.block(ThinkingContent(text) if part.get("thought") else TextContent(text), time)
    if asked or parts:
        found.used(_usage(object_in(message, "tokens")))
    found.close()
    for at, call in enumerate(asked):
        content, failed = _result(records[at] if at < len(records) else {})
        found.result(call, content, time, is_error=failed)


def _thought(thought: dict[str, Any]) -> str:
    subject, description = thought.get("subject"), str(thought.get("description") or "")
    return f"**{subject}** {description}" if subject else description


def _result(record: dict[str, Any]) -> tuple[list[TextContent | ImageContent], bool]:
    """Return the content of a call's result, and whether the call failed."""
    failed = record.get("status") in ("error", "cancelled") or not record.get("result")
    content: list[TextContent | ImageContent] = []
    for part in _parts(record.get("result")):
        response = object_in(object_in(part, "functionResponse"), "response")
        text = response.get("output", response.get("error"))
        if text is not None:
            content.append(TextContent(text if isinstance(text, str) else json.dumps(text)))
        content += _given(part)
        for each in _parts(object_in(part, "functionResponse").get("parts")):
            content += _given(each)
    return content or [TextContent("The call was interrupted.")] * failed, failed


def _given(part: dict[str, Any]) -> Iterator[TextContent | ImageContent]:
    """Yield the text or the image of a part."""
    data = object_in(part, "inlineData")
    if isinstance(part.get("text"), str) and part["text"]:
        yield TextContent(part["text"])
    elif str(data.get("mimeType")).startswith("image/") and isinstance(data.get("data"), str):
        yield ImageContent(data["data"], str(data["mimeType"]))


def _usage(used: dict[str, Any]) -> Usage:
    whole, cached = used.get("input"), used.get("cached")
    fresh = whole - cached if isinstance(whole, int) and isinstance(cached, int) else whole
    return tokens(fresh, used.get("output"), cached, 0, reasoning=used.get("thoughts"))
