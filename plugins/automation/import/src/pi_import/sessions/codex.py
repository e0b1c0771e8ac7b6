"""Sessions of codex: ``~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl``, items of the Responses API in order."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_hookspecs import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_import.sessions.transcript import LARGEST, Stored, Transcript, image_of, lines_of, milliseconds
from pi_import.tool_forms import from_codex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read", "stored"]

_CONTEXT = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions",
    "<turn_aborted>",
)
"""Beginnings of messages that codex writes itself, under the user's name."""


def stored(folder: Path, cwd: Path | None) -> Iterator[Stored]:
    """Yield the stored sessions, without those of subagents.

    Args:
        folder: ``~/.codex``.
        cwd: The working directory whose sessions are wanted; None for all.
    """
    wanted = None if cwd is None else {str(cwd), os.path.realpath(cwd)}
    for place in (folder / "sessions", folder / "archived_sessions"):
        for file in sorted(place.rglob("rollout-*.jsonl")) if place.is_dir() else ():
            about = _about(file) if file.is_file() else None
            if about is None or _is_of_subagent(about):
                continue
            if wanted is None or about.get("cwd") in wanted:
                yield Stored(file, _id(file), partial(read, file))


def _id(file: Path) -> str:
    """Return the id in a file's name, ``rollout-2025-10-29T00-59-38-ID``."""
    return file.stem.removeprefix("rollout-")[20:] or file.stem


def _about(file: Path) -> dict[str, Any]:
    """Return what the first line says about a session; empty if it cannot be read."""
    try:
        first = next(lines_of(file), {})
    except OSError:
        return {}
    meta = first.get("payload") if first.get("type") == "session_meta" else first
    return meta if isinstance(meta, dict) else {}


def _is_of_subagent(about: dict[str, Any]) -> bool:
    source = about.get("source")
    return isinstance(source, dict) and "subagent" in source


def read(file: Path) -> Transcript | None:
    """Return a session; None if it has no answer, or is too large.

    Raises:
        OSError: It cannot be read.
    """
    if file.stat().st_size > LARGEST:
        return None
    found = Transcript(id=_id(file), api="openai-responses", provider="openai")
    for line in lines_of(file, found):
        kind, payload = line.get("type"), line.get("payload")
        time = milliseconds(line.get("timestamp"))
        if kind == "session_meta" and isinstance(payload, dict):
            _meta(found, payload)
        elif kind == "turn_context" and isinstance(payload, dict):
            if isinstance(payload.get("model"), str):
                found.close()
                found.model = payload["model"]
        elif kind == "compacted" and isinstance(payload, dict):
            _compacted(found, payload, time)
        elif kind == "response_item" and isinstance(payload, dict):
            _item(found, payload, time)
        elif payload is None and isinstance(line.get("id"), str) and "instructions" in line:
            _meta(found, line)
        elif payload is None and kind is not None:
            _item(found, line, time)  # older versions write the items themselves
    found.close()
    return found if found.answers else None


def _meta(found: Transcript, meta: dict[str, Any]) -> None:
    if isinstance(meta.get("id"), str) and not found.messages:
        found.id = meta["id"]
    if isinstance(meta.get("cwd"), str):
        found.cwd = meta["cwd"]
    if isinstance(meta.get("model_provider"), str):
        found.provider = meta["model_provider"]


def _compacted(found: Transcript, payload: dict[str, Any], time: int) -> None:
    message = payload.get("message")
    found.restart(message if isinstance(message, str) else "", time)
    history = payload.get("replacement_history")
    for item in history if isinstance(history, list) else ():
        if isinstance(item, dict):
            _item(found, item, time)


def _item(found: Transcript, item: dict[str, Any], time: int) -> None:
    kind = item.get("type")
    if kind == "message":
        _message(found, item, time)
    elif kind == "reasoning":
        summary = item.get("summary")
        parts = [each.get("text") for each in summary if isinstance(each, dict)] if isinstance(summary, list) else []
        text = "\n\n".join(each for each in parts if isinstance(each, str))
        if text:
            found.block(ThinkingContent(text), time)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        _call(found, item, time)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        shown, failed = _output(item.get("output"))
        found.result(str(item.get("call_id")), shown, time, is_error=failed)


def _message(found: Transcript, item: dict[str, Any], time: int) -> None:
    content = item.get("content")
    parts = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    if item.get("role") == "assistant":
        for each in parts:
            if isinstance(each.get("text"), str) and each["text"].strip():
                found.block(TextContent(each["text"]), time)
    elif item.get("role") == "user":
        own = [each for each in _content(parts) if not isinstance(each, TextContent) or not _is_context(each.text)]
        if own:
            found.user(own, time)


def _is_context(text: str) -> bool:
    return text.lstrip().startswith(_CONTEXT)


def _call(found: Transcript, item: dict[str, Any], time: int) -> None:
    call = item.get("call_id") or item.get("id")
    if not isinstance(call, str):
        found.skipped += 1
        return
    name = str(item.get("name") or "local_shell")
    if item.get("type") == "function_call":
        try:
            given = json.loads(item.get("arguments") or "{}")
        except (TypeError, ValueError, RecursionError):
            given = {}
    elif item.get("type") == "local_shell_call":
        given = item.get("action")
    else:
        given = {"input": item.get("input")}
    name, arguments = from_codex(name, given if isinstance(given, dict) else {})
    found.block(ToolCall(id=call, name=name, arguments=arguments), time)


def _output(output: Any) -> tuple[list[TextContent | ImageContent], bool]:
    """Return the content of a result, and whether the call failed; commands have JSON with output and exit code."""
    if isinstance(output, dict):  # of older versions
        return [TextContent(str(output.get("content", "")))], output.get("success") is False
    if isinstance(output, list):
        return _content([each for each in output if isinstance(each, dict)]), False
    text = output if isinstance(output, str) else ""
    try:
        values = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, dict) and isinstance(values.get("output"), str):
        metadata = values.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else 0
        return [TextContent(values["output"])] if values["output"] else [], code not in (0, None)
    return [TextContent(text)] if text else [], False


def _content(parts: list[dict[str, Any]]) -> list[TextContent | ImageContent]:
    found: list[TextContent | ImageContent] = []
    for each in parts:
        image = image_of(each.get("image_url"))
        if isinstance(each.get("text"), str) and each["text"]:
            found.append(TextContent(each["text"]))
        elif image is not None:
            found.append(image)
    return found
