"""Messages that pi sends on its own: events and requests to the user interface, with their fields."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from pi_client.fields import FLAG, INTEGER, OBJECT, TEXT, Kind, choice, list_of, object_with
from pi_client.values import ENTRY, LEVEL, MESSAGE, JsonObject

__all__ = ["DIALOGS", "EVENTS", "UI_METHODS", "UNANSWERED", "UPDATES", "Event", "UiRequest"]

_ANY = Kind("anything", {}, lambda value: value)
_REASON = choice("manual", "threshold", "overflow")
_PLACE = {"contentIndex": INTEGER}
_SUMMARY_RETRY = {"source": choice("compaction", "branchSummary"), "reason?": _REASON}
_CALL = {"toolCallId": TEXT, "toolName": TEXT}

_CHILD = object_with("id", "status", "usage")

Fields = dict[str, Kind]
"""Fields by name; a name that ends in ``?`` may be absent."""

UPDATES: dict[str, Fields] = {
    "text_start": _PLACE,
    "text_delta": {**_PLACE, "delta": TEXT},
    "text_end": {**_PLACE, "content": TEXT},
    "thinking_start": _PLACE,
    "thinking_delta": {**_PLACE, "delta": TEXT},
    "thinking_end": {**_PLACE, "content": TEXT},
    "toolcall_start": {**_PLACE, "id": TEXT, "toolName": TEXT},
    "toolcall_delta": {**_PLACE, "delta": TEXT},
    "toolcall_end": {**_PLACE, "toolCall": object_with("type", "id", "name", "arguments")},
}
"""``assistantMessageEvent`` of a ``message_update``, by type: the new part, never the message so far."""

EVENTS: dict[str, Fields] = {
    "agent_start": {},
    "agent_end": {"messages": list_of(MESSAGE), "willRetry": FLAG, "error?": TEXT},
    "agent_settled": {"aborted": FLAG},
    "turn_start": {},
    "turn_end": {"message": MESSAGE, "toolResults": list_of(MESSAGE)},
    "message_start": {"message": MESSAGE},
    "message_update": {"usage": OBJECT, "assistantMessageEvent": object_with("type")},
    "message_end": {"message": MESSAGE},
    "tool_execution_start": {**_CALL, "args": _ANY},
    "tool_execution_update": {**_CALL, "args": _ANY, "partialResult": OBJECT},
    "tool_execution_end": {**_CALL, "result": OBJECT, "isError": FLAG, "durationMs?": INTEGER},
    "queue_update": {"steering": list_of(TEXT), "followUp": list_of(TEXT)},
    "entry_appended": {"entry": ENTRY},
    "session_info_changed": {"name?": TEXT},
    "thinking_level_changed": {"level": LEVEL},
    "model_dispatched": {
        "virtual": TEXT,
        "provider": TEXT,
        "model": TEXT,
        "thinkingLevel": LEVEL,
        "reason": choice("user", "continuation", "retry", "direct"),
        "changed": FLAG,
        "contextWindow": INTEGER,
    },
    "bash_execution_update": {"id?": _ANY, "delta": TEXT},
    "child_session_start": {"child": _CHILD},
    "child_session_update": {"child": _CHILD},
    "child_session_end": {"child": _CHILD},
    "compaction_start": {"reason": _REASON},
    "compaction_end": {
        "reason": _REASON,
        "result?": OBJECT,
        "aborted": FLAG,
        "willRetry": FLAG,
        "errorMessage?": TEXT,
    },
    "auto_retry_start": {"attempt": INTEGER, "maxAttempts": INTEGER, "delayMs": INTEGER, "errorMessage": TEXT},
    "auto_retry_end": {"success": FLAG, "attempt": INTEGER, "finalError?": TEXT},
    "summarization_retry_scheduled": _SUMMARY_RETRY,
    "summarization_retry_attempt_start": _SUMMARY_RETRY,
    "summarization_retry_finished": _SUMMARY_RETRY,
    "extension_error": {"extensionPath": TEXT, "event": TEXT, "error": TEXT, "stack?": TEXT, "extra?": _ANY},
}
"""Every event that pi itself sends. Plugins may send others; a client ignores unknown ones."""

DIALOGS: dict[str, Fields] = {
    "select": {"title": TEXT, "options": list_of(TEXT), "timeout?": INTEGER},
    "confirm": {"title": TEXT, "message": TEXT, "timeout?": INTEGER},
    "input": {"title": TEXT, "placeholder?": TEXT, "timeout?": INTEGER},
    "editor": {"title": TEXT, "prefill?": TEXT},
}
"""Requests that wait for an ``extension_ui_response``; ``timeout`` is milliseconds, kept by pi."""

UI_METHODS: dict[str, Fields] = {
    **DIALOGS,
    "notify": {"message": TEXT, "notifyType?": choice("info", "warning", "error")},
    "setStatus": {"statusKey": TEXT, "statusText?": TEXT},
    "setWidget": {"widgetKey": TEXT, "widgetLines?": list_of(TEXT), "widgetPlacement?": TEXT},
    "setTitle": {"title": TEXT},
    "set_editor_text": {"text": TEXT},
}
"""The methods of an ``extension_ui_request``."""


UNANSWERED: Final = object()
"""What a handler of dialogs returns if there is no user to ask, as opposed to None, with which a user dismisses one."""


@frozen
class Event:
    """An event; ``data`` is the whole event as received."""

    data: JsonObject

    @property
    def type(self) -> str:
        """The event's type: a key of ``EVENTS``, or a plugin's own."""
        return str(self.data.get("type"))

    @property
    def text(self) -> str:
        """New text of the answer; empty for every other event."""
        update = self.data.get("assistantMessageEvent")
        if self.type != "message_update" or not isinstance(update, dict) or update.get("type") != "text_delta":
            return ""
        return str(update.get("delta", ""))

    def __getitem__(self, name: str) -> Any:
        return self.data[name]


@frozen
class UiRequest:
    """A dialog or a notice of a plugin for the user.

    Attributes:
        method: A key of ``UI_METHODS``.
        data: The request as received: ``title``, ``options``, ``message`` ...
    """

    method: str
    data: JsonObject

    @property
    def is_dialog(self) -> bool:
        """Whether pi waits for an answer."""
        return self.method in DIALOGS

    @property
    def title(self) -> str:
        """The dialog's title."""
        return str(self.data.get("title", ""))

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a ``select``; accepts both wire formats."""
        given = self.data.get("options") or ()
        return tuple(str(each.get("value", each.get("label")) if isinstance(each, dict) else each) for each in given)

    def __getitem__(self, name: str) -> Any:
        return self.data[name]
