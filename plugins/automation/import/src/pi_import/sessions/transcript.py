"""A conversation of another agent, and the session file of pi that it becomes."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_hookspecs import (
    AssistantMessage,
    Cost,
    ImageContent,
    MessageEntry,
    SessionHeader,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = [
    "LARGEST",
    "Stored",
    "Transcript",
    "image_of",
    "json_object",
    "lines_of",
    "milliseconds",
    "object_in_file",
    "tokens",
]

LARGEST = 256 << 20
"""Bytes of a stored session; a larger one is not imported."""

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")


@define
class Stored:
    """A stored session of another agent, not yet read.

    Attributes:
        file: Its file.
        id: Its id, as the name of its file has it; by this a session that is stored already is not read again.
        read: Reads it; None for one without an answer.
    """

    file: Path
    id: str
    read: Callable[[], Transcript | None]


@define
class Transcript:
    """A conversation while it is being built from the lines of another agent, in order.

    Attributes:
        id: The session's id there.
        cwd: Its working directory.
        api: The API of its answers, as pi calls it.
        provider: Their provider.
        model: The model of the next answer.
        name: A title, if it has one.
        messages: The messages so far.
        names: The tools of calls, by the calls' ids.
        skipped: Lines that could not be used.
        broken: Lines that could not be read.
        compacted: Whether what came before a compaction is missing.
        note: How it differs from the conversation there, for the report; empty if it does not.
    """

    id: str = ""
    cwd: str = ""
    api: str = ""
    provider: str = ""
    model: str = "unknown"
    name: str = ""
    messages: list[UserMessage | AssistantMessage | ToolResultMessage] = field(factory=list)
    names: dict[str, str] = field(factory=dict)
    skipped: int = 0
    broken: int = 0
    compacted: bool = False
    note: str = ""
    _open: str | None = None
    _blocks: list[Any] = field(factory=list)
    _usage: Usage = field(factory=Usage)
    _time: int = 0

    @property
    def answers(self) -> int:
        """The number of answers."""
        return sum(isinstance(each, AssistantMessage) for each in self.messages)

    @property
    def session_id(self) -> str:
        """The id of the session in pi: the same, if pi's file names can contain it."""
        if _ID.fullmatch(self.id):
            return self.id
        return hashlib.sha256(self.id.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def user(self, content: list[TextContent | ImageContent], time: int) -> None:
        """Add a message of the user."""
        self.close()
        if content:
            self.messages.append(UserMessage(content=tuple(content), timestamp=time))

    def block(self, block: TextContent | ThinkingContent | ToolCall, time: int, *, answer: str | None = None) -> None:
        """Add a block to the answer in progress.

        Args:
            block: The block.
            time: Unix milliseconds.
            answer: The id of its answer; blocks of one id are one message. None continues the answer in progress.
        """
        if answer is not None and answer != self._open:
            self.close()
        self._open = answer or self._open or "open"
        self._time = self._time or time
        self._blocks.append(block)
        if isinstance(block, ToolCall):
            self.names[block.id] = block.name

    def used(self, usage: Usage) -> None:
        """Set the tokens of the answer in progress."""
        self._usage = usage

    def result(self, call: str, content: list[TextContent | ImageContent], time: int, *, is_error: bool) -> None:
        """Add the result of a tool call; one whose call is unknown is dropped, because no model accepts it."""
        self.close()
        if call not in self.names:
            self.skipped += 1
            return
        self.messages.append(
            ToolResultMessage(
                tool_call_id=call,
                tool_name=self.names[call],
                content=tuple(content) or (TextContent("(no output)"),),
                is_error=is_error,
                timestamp=time,
            )
        )

    def close(self) -> None:
        """End the answer in progress."""
        if self._blocks:
            calls = any(isinstance(each, ToolCall) for each in self._blocks)
            self.messages.append(
                AssistantMessage(
                    content=tuple(self._blocks),
                    api=self.api,
                    provider=self.provider,
                    model=self.model,
                    usage=self._usage,
                    stop_reason="toolUse" if calls else "stop",
                    timestamp=self._time,
                )
            )
        self._open, self._blocks, self._usage, self._time = None, [], Usage(cost=Cost()), 0

    def restart(self, summary: str, time: int) -> None:
        """Begin again after a compaction: what came before is replaced by its summary."""
        self.close()
        self.compacted = True
        self.messages.clear()
        self.names.clear()
        if summary:
            self.user([TextContent(summary)], time)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the session's file."""
        from pi_core import dumps

        first = self.messages[0].timestamp if self.messages else 0
        yield dumps(SessionHeader(id=self.session_id, timestamp=_iso(first), cwd=self.cwd)) + b"\n"
        parent: str | None = None
        for number, message in enumerate(self.messages):
            entry = hashlib.sha256(f"{self.session_id} {number}".encode()).hexdigest()[:8]
            yield (
                dumps(MessageEntry(id=entry, parent_id=parent, timestamp=_iso(message.timestamp), message=message))
                + b"\n"
            )
            parent = entry
        if self.name:
            from pi_hookspecs.rare_entries import SessionInfoEntry

            last = self.messages[-1].timestamp
            entry = hashlib.sha256(f"{self.session_id} name".encode()).hexdigest()[:8]
            yield (
                dumps(SessionInfoEntry(id=entry, parent_id=parent, timestamp=_iso(last), name=self.name[:200])) + b"\n"
            )


def lines_of(file: Path, transcript: Transcript | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines; other lines are skipped, and counted by the transcript."""
    with file.open("rb") as lines:
        for line in lines:
            if (value := json_object(line)) is not None:
                yield value
            elif transcript is not None and line.strip():
                transcript.broken += 1


def object_in_file(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; empty if it cannot be read, is too large, or holds something else."""
    try:
        content = file.read_bytes() if file.stat().st_size <= LARGEST else b""
    except OSError:
        return {}
    return json_object(content) or {}


def json_object(text: Any) -> dict[str, Any] | None:
    """Return the object of a JSON text; None for anything else."""
    try:
        value = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def image_of(url: Any) -> ImageContent | None:
    """Return the image in a data URL; None for anything else."""
    if not isinstance(url, str) or not url.startswith("data:image/") or ";base64," not in url:
        return None
    head, _, data = url.partition(";base64,")
    return ImageContent(data, head.removeprefix("data:"))


def tokens(given: Any, answered: Any, read: Any, written: Any, *, reasoning: Any = 0) -> Usage:
    """Return the tokens of an answer; what is not a number counts as 0.

    Args:
        given: Tokens of the request, without those of the cache.
        answered: Tokens of the answer, without those of reasoning.
        read: Tokens that came from the cache.
        written: Tokens that were written to it.
        reasoning: Tokens of reasoning, which count as answered.
    """
    parts = [
        value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
        for value in (given, answered, read, written, reasoning)
    ]
    output = parts[1] + parts[4]
    return Usage(input=parts[0], output=output, cache_read=parts[2], cache_write=parts[3], total_tokens=sum(parts))


def milliseconds(time: Any) -> int:
    """Return a time in ISO 8601 in Unix milliseconds; 0 for anything else."""
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        return 0
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    try:
        return max(int(moment.timestamp() * 1000), 0)
    except (OverflowError, ValueError):
        return 0


def _iso(time: int) -> str:
    return datetime.fromtimestamp(time / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
