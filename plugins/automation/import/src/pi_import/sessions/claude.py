"""Sessions of Claude Code: ``~/.claude/projects/FOLDER/ID.jsonl``, trees of messages with one current branch."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_hookspecs import ImageContent, TextContent, ThinkingContent, ToolCall, Usage
from pi_import.sessions.transcript import LARGEST, Stored, Transcript, lines_of, milliseconds, tokens
from pi_import.tool_forms import from_claude

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read", "stored"]

_COMMAND = re.compile(r"<command-(?:name|message)>|<local-command-(?:stdout|caveat)>")


def stored(folder: Path, cwd: Path | None) -> Iterator[Stored]:
    """Yield the stored sessions.

    Args:
        folder: ``~/.claude``.
        cwd: The working directory whose sessions are wanted; None for all.
    """
    projects = folder / "projects"
    if cwd is None:
        folders = sorted(each for each in projects.iterdir() if each.is_dir()) if projects.is_dir() else []
    else:
        names = dict.fromkeys(re.sub(r"[^A-Za-z0-9]", "-", path) for path in (str(cwd), os.path.realpath(cwd)))
        folders = [projects / name for name in names]
    for each in folders:
        for file in sorted(each.glob("*.jsonl")) if each.is_dir() else ():
            if file.is_file() and not file.name.startswith("agent-"):
                yield Stored(file, file.stem, partial(read, file))


def read(file: Path) -> Transcript | None:
    """Return a session; None if it has no answer, or is too large.

    Raises:
        OSError: It cannot be read.
    """
    if file.stat().st_size > LARGEST:
        return None
    found = Transcript(id=file.stem, api="anthropic-messages", provider="anthropic")
    messages: dict[str, dict[str, Any]] = {}
    before: dict[str, str | None] = {}
    last = previous = None
    for line in lines_of(file, found):
        kind = line.get("type")
        if kind == "summary" and isinstance(line.get("summary"), str):
            found.name = line["summary"]
        elif kind == "custom-title" and isinstance(line.get("customTitle"), str):
            found.name = line["customTitle"]
        uuid = line.get("uuid")
        if not isinstance(uuid, str) or line.get("isSidechain") is True:
            continue
        messages[uuid] = line
        before.setdefault(uuid, previous)
        previous = uuid
        if kind in ("user", "assistant"):
            last = uuid
            if isinstance(line.get("cwd"), str) and not found.cwd:
                found.cwd = line["cwd"]
    for line in _branch(messages, before, last):
        _add(found, line)
    found.close()
    return found if found.answers else None


def _branch(
    messages: dict[str, dict[str, Any]], before: dict[str, str | None], last: str | None
) -> list[dict[str, Any]]:
    """Return the lines from the root to the last message.

    Args:
        messages: The lines by their ids.
        before: The id of the line before each in the file, which stands in for a parent whose line cannot be read.
        last: The id of the last message.
    """
    branch, seen = [], set()
    while last is not None and last in messages and last not in seen:
        seen.add(last)
        line = messages[last]
        branch.append(line)
        parent = line.get("parentUuid")
        last = None if not isinstance(parent, str) else parent if parent in messages else before[last]
    return branch[::-1]


def _add(found: Transcript, line: dict[str, Any]) -> None:
    message = line.get("message")
    if not isinstance(message, dict) or line.get("isMeta") is True or line.get("isApiErrorMessage") is True:
        return
    time = milliseconds(line.get("timestamp"))
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [each for each in blocks if isinstance(each, dict)] if isinstance(blocks, list) else []
    if line.get("isCompactSummary") is True:
        found.restart("\n".join(_text(each) for each in blocks), time)
    elif line.get("type") == "assistant":
        _answer(found, message, blocks, time)
    elif line.get("type") == "user":
        results = [each for each in blocks if each.get("type") == "tool_result"]
        for each in results:
            shown = _content(each.get("content"))
            found.result(str(each.get("tool_use_id")), shown, time, is_error=each.get("is_error") is True)
        own = [each for each in _content(blocks) if not isinstance(each, TextContent) or not _COMMAND.search(each.text)]
        if own:
            found.user(own, time)


def _answer(found: Transcript, message: dict[str, Any], blocks: list[dict[str, Any]], time: int) -> None:
    model = message.get("model")
    if model == "<synthetic>":  # written by Claude Code itself
        return
    answer = str(message.get("id") or f"at {time}")
    for each in blocks:
        block = _block(each)
        if block is not None:
            found.block(block, time, answer=answer)
            found.model = model if isinstance(model, str) else found.model
    usage = message.get("usage")
    if isinstance(usage, dict):
        found.used(_usage(usage))


def _block(each: dict[str, Any]) -> TextContent | ThinkingContent | ToolCall | None:
    kind = each.get("type")
    if kind == "text" and isinstance(each.get("text"), str) and each["text"].strip():
        return TextContent(each["text"])
    if kind == "thinking" and isinstance(each.get("thinking"), str) and each["thinking"].strip():
        signature = each.get("signature")
        return ThinkingContent(each["thinking"], thinking_signature=signature if isinstance(signature, str) else None)
    if kind == "tool_use" and isinstance(each.get("id"), str) and isinstance(each.get("name"), str):
        given = each.get("input")
        name, arguments = from_claude(each["name"], given if isinstance(given, dict) else {})
        return ToolCall(id=each["id"], name=name, arguments=arguments)
    return None


def _content(content: Any) -> list[TextContent | ImageContent]:
    if isinstance(content, str):
        return [TextContent(content)] if content else []
    found: list[TextContent | ImageContent] = []
    for each in content if isinstance(content, list) else ():
        if not isinstance(each, dict):
            continue
        source = each.get("source")
        if each.get("type") == "text" and isinstance(each.get("text"), str) and each["text"]:
            found.append(TextContent(each["text"]))
        elif each.get("type") == "image" and isinstance(source, dict) and source.get("type") == "base64":
            found.append(ImageContent(str(source.get("data", "")), str(source.get("media_type", "image/png"))))
    return found


def _text(block: dict[str, Any]) -> str:
    return block["text"] if isinstance(block.get("text"), str) else ""


def _usage(usage: dict[str, Any]) -> Usage:
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return tokens(*(usage.get(name) for name in names))
