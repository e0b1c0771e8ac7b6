"""Tools that a session adds or removes: told in the conversation, so that the list before it, and the cache, stay.

The API's tool list precedes the conversation in its prompt cache. It stays as it was in the first request of a session;
what changed since is a system message where it changed, with ``tool_addition`` and ``tool_removal``.

Source: the original's request of models with its compatibility switch ``supportsMidConvoToolChanges``.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from attrs import Factory, define

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions

__all__ = ["PLACEHOLDER", "ToolChanges"]

_SESSIONS = 1000
"""Sessions whose tools are kept, those used last: a cached prompt lives for an hour at most."""

PLACEHOLDER: Mapping[str, Any] = {
    "name": "__pi_deferred_placeholder__",
    "description": "Reserved placeholder. Never available. Never call this.",
    "input_schema": {"type": "object", "properties": {}, "required": []},
    "defer_loading": True,
}
"""A tool that no model sees. With it, the prompt is prepared for changes of tools from the first request on."""


@define
class _Session:
    """The tools of a session.

    Attributes:
        first: Those of its first request.
        now: Those of its last one, by name.
        changes: How many messages were before each change, the last of these, and the blocks that tell it.
    """

    first: list[dict[str, Any]]
    now: dict[str, dict[str, Any]]
    changes: list[tuple[int, Any, list[dict[str, Any]]]] = Factory(list)


class ToolChanges:
    """The tools of the sessions of one provider."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str, str], _Session] = OrderedDict()

    def apply(
        self, model: Model, options: StreamOptions, tools: list[dict[str, Any]], messages: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the tools to list, and add what changed since to the messages.

        A request outside the conversation, or of another one than the last (after a compaction, or in another branch),
        lists its tools anew.

        Args:
            model: The model.
            options: Their ``session_id``.
            tools: The tools of the request as the API has them, without cache marks.
            messages: Its messages; system messages are inserted.
        """
        if not options.session_id or not options.continues:
            return tools
        key = options.session_id, model.base_url, model.id
        known = self._sessions.get(key)
        if known is None or not _is_continued(known, messages):
            known = self._sessions[key] = _Session(first=tools, now={each["name"]: each for each in tools})
        self._sessions.move_to_end(key)
        while len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)
        now = {each["name"]: each for each in tools}
        if now != known.now and messages:
            known.changes.append((len(messages), messages[-1], _told(known.now, now)))
            known.now = now
        for number, _, blocks in reversed(known.changes):
            messages.insert(number, {"role": "system", "content": [dict(each) for each in blocks]})
        return [dict(each) for each in known.first]


def _is_continued(known: _Session, messages: Sequence[Any]) -> bool:
    return all(number <= len(messages) and messages[number - 1] == last for number, last, _ in known.changes)


def _told(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of a change; a tool that is declared differently is added again, which replaces it."""
    removed = [
        {"type": "tool_removal", "tool": {"type": "tool_reference", "name": name}} for name in before if name not in now
    ]
    added = [
        {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}}
        for name, tool in now.items()
        if before.get(name) != tool
    ]
    return [*removed, *added]
