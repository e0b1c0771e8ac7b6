"""Summary of a session for lists, from as few bytes of its file as possible.

Most lines are classified by their start and end; only names, the user's first message and lines in an unusual format
are parsed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs.session_store import SessionInfo
from pi_session_kit.lines import NoSession, first_value, parse_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Summary", "instant", "session_info", "summarise", "text_of_all"]

_START = re.compile(
    rb'\{"type":"([a-z_]+)","id":"[^"\\]*","parentId":(?:null|"[^"\\]*"),"timestamp":"[^"\\]*"'
    rb'(?:,"message":\{"role":"([a-zA-Z]+)")?'
)
_TIMESTAMP = b',"timestamp":'
_STAMP_LENGTH = 40
"""Bytes at the end of a line that contain its message's timestamp, if that is the last field."""

_LATEST = 10**17
"""Largest valid time in milliseconds."""

_LAST_FIELD = re.compile(rb"(\d{1,17})\}\}\r?")


@frozen
class Summary:
    """Summary of a session; times in Unix milliseconds, None if missing."""

    id: str
    cwd: str
    created: int | None
    modified: int | None
    message_count: int = 0
    first_message: str = ""
    name: str | None = None
    parent: str | None = None


def summarise(data: bytes) -> Summary:
    """Return the summary of a session file.

    Raises:
        NoSession: It is not a session.
    """
    _, end, header = first_value(data)
    if not isinstance(header, dict) or header.get("type") != "session" or not isinstance(header.get("id"), str):
        raise NoSession("its first line is not a session header")
    count, modified, first, name = 0, 0, "", None
    for kind, role, time, start, stop in _entries(data, end + 1):
        if kind == "message" and role != "system":
            count += 1
            if role in ("user", "assistant"):
                modified = max(modified, time)
                if role == "user" and not first:
                    first = _text(_value(data[start:stop]))
        elif kind == "session_info":
            name = _name(_value(data[start:stop]))
    created, parent = instant(header.get("timestamp")), header.get("parentSession", header.get("branchedFrom"))
    return Summary(
        id=header["id"],
        cwd=header["cwd"] if isinstance(header.get("cwd"), str) else "",
        created=created,
        modified=modified or created,
        message_count=count,
        first_message=first,
        name=name,
        parent=parent if isinstance(parent, str) else None,
    )


def session_info(summary: Summary, path: str, stored: int, read_text: Callable[[], str]) -> SessionInfo:
    """Return what lists show of a session.

    Args:
        summary: Its summary.
        path: Its reference.
        stored: When it was last stored, in Unix milliseconds, for times that it does not have.
        read_text: See ``SessionInfo``.
    """
    return SessionInfo(
        path=path,
        id=summary.id,
        cwd=summary.cwd,
        created=_moment(summary.created, stored),
        modified=_moment(summary.modified, stored),
        message_count=summary.message_count,
        first_message=summary.first_message or "(no messages)",
        name=summary.name,
        parent_session_path=summary.parent,
        read_text=read_text,
    )


def text_of_all(data: bytes) -> str:
    """Return the text of all messages of user and assistant, joined by spaces."""
    texts = []
    for kind, role, _, start, stop in _entries(data, 0):
        if kind == "message" and role in ("user", "assistant"):
            texts.append(_text(_value(data[start:stop])))
    return " ".join(filter(None, texts))


def _moment(milliseconds: int | None, otherwise: int) -> datetime:
    try:
        return datetime.fromtimestamp((otherwise if milliseconds is None else milliseconds) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(otherwise / 1000, UTC)


def instant(timestamp: Any) -> int | None:
    """Return the Unix milliseconds of an ISO timestamp; None if it is invalid."""
    try:
        moment = datetime.fromisoformat(timestamp)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (TypeError, ValueError, OverflowError):
        return None


def _entries(data: bytes, place: int) -> Iterator[tuple[str, str, int, int, int]]:
    """Yield the entries: type, role and time of a message, and start and end of the line."""
    find, matches, size = data.find, _START.match, len(data)
    while place < size:
        end = find(b"\n", place)
        if end < 0:
            end = size
        found = matches(data, place, end)
        if found is None:
            yield from _parsed(data, place, end)
        else:
            kind, role = found.groups()
            time = _last_time(data, place, end) if role in (b"user", b"assistant") else 0
            if time is None or (kind == b"message" and role is None) or data[end - 1 : end] not in (b"}", b"\r"):
                yield from _parsed(data, place, end)
            else:
                yield kind.decode(), (role or b"").decode(), time, place, end
        place = end + 1


def _last_time(data: bytes, start: int, end: int) -> int | None:
    """Return the timestamp at the end of a message; None if it ends with another field."""
    place = data.rfind(_TIMESTAMP, max(start, end - _STAMP_LENGTH), end)
    found = _LAST_FIELD.fullmatch(data, place + len(_TIMESTAMP), end) if place >= 0 else None
    return int(found[1]) if found else None


def _parsed(data: bytes, start: int, end: int) -> Iterator[tuple[str, str, int, int, int]]:
    value = _value(data[start:end])
    kind = value.get("type")
    if not isinstance(kind, str):
        return
    message = value.get("message")
    role = message.get("role") if isinstance(message, dict) and "content" in message else None
    time = message.get("timestamp") if isinstance(message, dict) else None
    if not isinstance(time, int | float) or not 0 < time < _LATEST:
        time = instant(value.get("timestamp")) or 0
    yield kind, role if isinstance(role, str) else "", int(time), start, end


def _value(line: bytes) -> dict[str, Any]:
    try:
        value = parse_line(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(entry: dict[str, Any]) -> str:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return " ".join(text for text in texts if isinstance(text, str))


def _name(entry: dict[str, Any]) -> str | None:
    name = entry.get("name")
    return (name.strip() or None) if isinstance(name, str) else None
