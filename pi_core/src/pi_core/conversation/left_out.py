"""``LeftOutParts``: what requests leave out because a provider refused it; the session keeps it.

A part is stored as a custom entry, so that the next start leaves it out, too. It counts for the whole session, on every
branch: a picture that is refused is refused wherever the conversation goes on. A later entry puts parts back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_core.session import SessionManager
    from pi_core.session.tree import SessionTree
    from pi_hookspecs import Context, LeftOut, Model
    from pi_hookspecs.messages import AssistantMessage, Message

__all__ = ["LEFT_OUT", "LeftOutParts", "picture_key"]

LEFT_OUT = "left_out"
"""Type of the custom entries: ``{"kind", "ids", "what", "why"}``, or ``{"putBack": [ids of such entries]}``."""

_NO_PICTURE = "(image left out: the provider refused it)"
_NO_ANSWER = "(left out: the provider refused this answer)"
_ELSEWHERE = "(left out)"
"""Provider of an answer whose signatures and ids must not be sent: providers treat it as another model's."""


def picture_key(data: str) -> str:
    """Return what identifies a picture by its base64 data, without reading all of it."""
    from hashlib import sha256

    return f"{len(data)}-{sha256((data[:4096] + data[-4096:]).encode()).hexdigest()[:16]}"


class LeftOutParts:
    """The parts that requests of a session leave out.

    Args:
        manager: The session; another one can be opened in it.

    Attributes:
        request: The latest request, as it was sent.
    """

    def __init__(self, manager: SessionManager) -> None:
        self.request: Context | None = None
        self._manager = manager
        self._tree: SessionTree | None = None
        self._seen = 0
        self._parts: dict[str, Mapping[str, Any]] = {}

    @property
    def parts(self) -> Mapping[str, Mapping[str, Any]]:
        """The data of the parts that are left out, by the ids of their entries."""
        tree = self._manager.tree
        if tree is not self._tree:  # another session was opened
            self._tree, self._seen, self._parts = tree, 0, {}
        if self._seen < len(tree):
            numbers = tree.of_type("custom") if not self._seen else range(self._seen, len(tree))
            self._seen = len(tree)
            for number in numbers:
                if tree.type(number) == "custom":
                    self._read(tree.entry(number))
        return self._parts

    def add(self, part: LeftOut, why: str) -> str:
        """Leave a part out of all later requests; return the id of its entry."""
        data = {"kind": part.kind, "ids": list(part.ids), "what": part.what, "why": why}
        return self._manager.append_custom_entry(LEFT_OUT, data)

    def put_back(self, entry_ids: Iterable[str]) -> None:
        """Send these parts again."""
        self._manager.append_custom_entry(LEFT_OUT, {"putBack": list(entry_ids)})

    def without(self, model: Model, context: Context) -> Context:
        """Return a request without the parts that are left out."""
        ids: dict[str, set[str]] = {}
        for part in self.parts.values():
            ids.setdefault(part["kind"], set()).update(part["ids"])
        if ids:
            tools = [tool for tool in context.tools if tool.name not in ids.get("tool", ())]
            if model.reference in ids.get("strict", ()):
                tools = [evolve(tool, constrained_sampling=None) for tool in tools]
            context = evolve(context, messages=tuple(_sendable(context.messages, ids)), tools=tuple(tools))
        self.request = context
        return context

    def _read(self, entry: Any) -> None:
        data = entry.data if entry.custom_type == LEFT_OUT else None
        if not isinstance(data, dict):
            return
        back, ids = data.get("putBack"), data.get("ids")
        if isinstance(back, list):
            for entry_id in back:
                self._parts.pop(str(entry_id), None)
        elif isinstance(data.get("kind"), str) and isinstance(ids, list) and all(isinstance(each, str) for each in ids):
            self._parts[entry.id] = data


def _sendable(messages: Iterable[Message], ids: Mapping[str, set[str]]) -> Iterable[Message]:
    from pi_hookspecs.messages import AssistantMessage, ToolResultMessage

    answers, thinking, pictures = (ids.get(kind, set()) for kind in ("answer", "thinking", "picture"))
    gone: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            key = str(message.timestamp)
            gone = {call.id for call in message.tool_calls} if key in answers else set()
            if key in answers:
                yield _text_alone(message)
            elif key in thinking:
                yield _without_thinking(message)
            else:
                yield message
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in gone:
            continue
        else:
            yield _without_pictures(message, pictures) if pictures else message


def _text_alone(message: AssistantMessage) -> AssistantMessage:
    from pi_hookspecs.content import TextContent

    text = TextContent(message.text if message.text.strip() else _NO_ANSWER)
    return evolve(message, content=(text,), provider=_ELSEWHERE, stop_reason="stop")


def _without_thinking(message: AssistantMessage) -> AssistantMessage:
    from pi_hookspecs.content import ThinkingContent

    content = tuple(block for block in message.content if not isinstance(block, ThinkingContent))
    return evolve(message, content=content, provider=_ELSEWHERE)


def _without_pictures(message: Message, pictures: set[str]) -> Message:
    from pi_hookspecs.content import ImageContent, TextContent

    blocks = () if isinstance(message.content, str) else message.content
    if not any(isinstance(block, ImageContent) and picture_key(block.data) in pictures for block in blocks):
        return message
    content: Any = tuple(
        TextContent(_NO_PICTURE) if isinstance(block, ImageContent) and picture_key(block.data) in pictures else block
        for block in blocks
    )
    return evolve(message, content=content)
