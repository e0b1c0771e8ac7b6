"""The entries that the tests of session stores write."""

from __future__ import annotations

from typing import Any

from pi_hookspecs import (
    AssistantMessage,
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    Cost,
    CustomEntry,
    CustomMessageEntry,
    EditedContent,
    ImageContent,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionEntry,
    SessionHeader,
    SessionInfoEntry,
    StoredSession,
    TextContent,
    ThinkingContent,
    ThinkingLevelChangeEntry,
    ToolCall,
    ToolResultMessage,
    UnknownEntry,
    Usage,
    UsageEntry,
    UserMessage,
)

__all__ = ["ALL_SCRIPTS", "all_of", "answer", "entries_of_all_kinds", "entry", "header"]

_STAMP = "2026-01-02T03:04:05.678Z"
_BEGINNING = 1_767_323_045_678
"""The same time in milliseconds."""

ALL_SCRIPTS = 'Gr\u00fc\u00dfe \N{SNOWMAN} \N{GRINNING FACE} \u05e9\u05dc\u05d5\u05dd \u2028\u2029\u0085\r\n\t\0 \\ "'


def header(name: str = "one", cwd: str = "/home/me/project", parent: str | None = None) -> SessionHeader:
    """Return the header of a new session."""
    return SessionHeader(id=name, timestamp=_STAMP, cwd=cwd, parent_session=parent)


def entry(number: int, text: str = "Hello") -> MessageEntry:
    """Return a user's message; each follows the one with the previous number."""
    message = UserMessage(content=text, timestamp=_BEGINNING + 60_000 * number)
    return MessageEntry(
        id=_id(number), parent_id=_id(number - 1) if number else None, timestamp=_STAMP, message=message
    )


def answer(number: int, text: str = "Hello.") -> MessageEntry:
    """Return a model's answer."""
    message = AssistantMessage(
        content=(TextContent(text),), api="a", provider="p", model="m", timestamp=_BEGINNING + 60_000 * number
    )
    return MessageEntry(id=_id(number), parent_id=_id(number - 1), timestamp=_STAMP, message=message)


def entries_of_all_kinds() -> list[SessionEntry]:
    """Return a session with every kind of entry."""
    usage = Usage(input=3, output=5, cache_read=7, total_tokens=15, cost=Cost(input=0.25, total=0.25))
    call = ToolCall("call_1", "read", {"path": "\u00e4/a.txt", "deep": {"lines": [1, 2.5, None, True]}})
    message = AssistantMessage(
        content=(ThinkingContent("Hm.", thinking_signature="c2ln"), TextContent(ALL_SCRIPTS), call),
        api="a",
        provider="p",
        model="m",
        usage=usage,
        stop_reason="toolUse",
        timestamp=_BEGINNING,
    )
    result = ToolResultMessage(
        tool_call_id="call_1",
        tool_name="read",
        content=(TextContent("text"), ImageContent("aW1n", "image/png")),
        details={"lines": 1},
        timestamp=_BEGINNING,
    )
    made: list[SessionEntry] = [entry(0, ALL_SCRIPTS)]

    def common() -> dict[str, Any]:
        return {"id": _id(len(made)), "parent_id": _id(len(made) - 1), "timestamp": _STAMP}

    made.append(MessageEntry(message=message, **common()))
    made.append(MessageEntry(message=result, **common()))
    made.append(ModelChangeEntry(provider="p", model_id="m2", **common()))
    made.append(ThinkingLevelChangeEntry(thinking_level="high", **common()))
    made.append(CompactionEntry(summary="s", first_kept_entry_id=_id(2), tokens_before=99, usage=usage, **common()))
    made.append(BranchSummaryEntry(from_id="root", summary="tried", details={"files": ["a"]}, **common()))
    made.append(CustomEntry(custom_type="todo", data={"items": ["a", None, 1.5]}, **common()))
    made.append(CustomMessageEntry(custom_type="note", content="seen", display=False, **common()))
    made.append(LabelEntry(target_id=_id(1), label="here", **common()))
    made.append(SessionInfoEntry(name="A name", **common()))
    made.append(UsageEntry(kind="title", provider="p", model="m", usage=usage, **common()))
    made.append(ContextEditEntry(target_id=_id(1), replacement=EditedContent("less"), **common()))
    made.append(UnknownEntry(type="from_the_future", extra={"what": ["ever"]}, **common()))
    return made


def all_of(session: StoredSession) -> list[SessionEntry]:
    """Return the entries of a session; what a store gives back need not be a list."""
    return [session.entries[number] for number in range(len(session.entries))]


def _id(number: int) -> str:
    return f"{number:08x}"
