"""Sessions and entries for the tests of this member."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from pi_hookspecs import AbortSignal, AssistantMessage, CompactionRequest, MessageEntry, TextContent, ToolCall
from pi_hookspecs import ToolResultMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import AgentMessage, SessionEntry


class Messages:
    """Makes messages and the entries that hold them."""

    def user(self, text: str = "do it") -> UserMessage:
        return UserMessage(content=text)

    def answer(self, text: str = "", *calls: ToolCall, **fields: Any) -> AssistantMessage:
        content = (*((TextContent(text),) if text else ()), *calls)
        return AssistantMessage(api="scripted", provider="scripted", model="model", content=content, **fields)

    def call(self, call_id: str, name: str = "bash", **arguments: Any) -> ToolCall:
        return ToolCall(id=call_id, name=name, arguments=arguments)

    def result(self, call_id: str, text: str = "ok") -> ToolResultMessage:
        return ToolResultMessage(tool_call_id=call_id, tool_name="bash", content=(TextContent(text),))

    def entries(self, messages: Sequence[AgentMessage]) -> list[SessionEntry]:
        ids = count()
        made: list[SessionEntry] = []
        for message in messages:
            parent = made[-1].id if made else None
            made.append(MessageEntry(id=f"{next(ids):08x}", parent_id=parent, timestamp=TIME, message=message))
        return made


TIME = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def say() -> Messages:
    """Messages, made short."""
    return Messages()


@pytest.fixture
def request_for() -> Callable[..., CompactionRequest]:
    """A request for a compaction of a branch."""

    def make(entries: Sequence[SessionEntry], **fields: Any) -> CompactionRequest:
        given = {"reason": "manual", "custom_instructions": None, "signal": AbortSignal(), **fields}
        return CompactionRequest(entries=entries, **given)

    return make
