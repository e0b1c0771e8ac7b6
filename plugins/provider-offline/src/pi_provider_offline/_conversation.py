"""What of a conversation is still to be done: the open requests, and the calls made for them with their replies.

A request is open until an answer without tool calls follows it. Everything is read from the messages; a call says in
its id which request it belongs to and what it was, so that no state outlives a stream.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from zlib import crc32

from attrs import frozen

from pi_provider_offline._language import parse
from pi_provider_offline._requests import Names, Request
from pi_provider_offline._results import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Message
    from pi_provider_offline._toolbox import Call

_CALL_ID = re.compile(r"call_(\d{1,9})_(\d{1,9})_([0-9a-f]{8})\Z")

_ATTACHED = re.compile(r'<file name="([^"\n]*)">.*?</file>', re.DOTALL)

_NOTES = (
    "Ran `",
    "The following is a summary of a branch that this conversation came back from:",
    "The conversation history before this point was compacted into the following summary:",
)
"""How the messages begin that only tell the model something (pi.md 1.3)."""


@frozen(eq=False, repr=False)
class Made:
    """A call that was made: its place among the messages, which request it was for, what it was, what it gave."""

    place: int
    request: int
    mark: str
    reply: Reply


@frozen(eq=False, repr=False)
class Asked:
    """An open request and the place of its message."""

    request: Request
    place: int


@frozen(eq=False, repr=False)
class Conversation:
    """The open part of a conversation.

    Attributes:
        asked: The open requests, in order; a call's id counts them from 1.
        made: The calls made for them, in order.
        turn: Number of the answer to come; higher than in any id so far.
        rounds: Answers with tool calls since the first open request.
        images: Images among the open messages, which the rules cannot look at.
        silent: Whether there are open messages, but without a request.
    """

    asked: tuple[Asked, ...] = ()
    made: tuple[Made, ...] = ()
    turn: int = 1
    rounds: int = 0
    images: int = 0
    silent: bool = False


def call_id(turn: int, request: int, call: Call) -> str:
    """Return the id of a call: ``call_<turn>_<request>_<mark>``; the mark is a checksum of tool and arguments."""
    return f"call_{turn}_{request}_{mark_of(call)}"


def mark_of(call: Call) -> str:
    """Return what tells a call from another one for the same request."""
    return f"{crc32(json.dumps([call.tool, call.arguments], sort_keys=True).encode()):08x}"


def read_conversation(messages: Sequence[Message], latest_request: str | None = None) -> Conversation:
    """Find the open requests and their calls.

    Args:
        messages: The conversation; roles that are none of user, assistant and tool result are passed over.
        latest_request: Words to take instead of those of the last user message.
    """
    roles = [getattr(message, "role", "") for message in messages]
    last_user = max((i for i, role in enumerate(roles) if role == "user"), default=-1)
    answers = [i for i, role in enumerate(roles) if role == "assistant"]
    begin = max((i + 1 for i in answers if _closes(messages[i], followed=i < last_user)), default=0)
    names, asked, images, spoken = Names(), [], 0, False
    for place, message in enumerate(messages):
        if roles[place] != "user":
            continue
        override = latest_request if place == last_user else None
        names, requests = _words(_text(message) if override is None else override, names)
        if place >= begin:
            spoken = True
            images += _count_images(message)
            asked += [Asked(request, place) for request in requests]
    open_answers = [i for i in answers if i >= begin and not _failed(messages[i])]
    return Conversation(
        tuple(asked),
        tuple(_calls(messages, roles, open_answers)),
        _next_turn(messages, answers),
        len(open_answers),
        images,
        silent=spoken and not asked,
    )


def _failed(message: Any) -> bool:
    return getattr(message, "stop_reason", "") in ("error", "aborted")


def _closes(message: Any, *, followed: bool) -> bool:
    """Tell whether an answer closes the requests before it: it calls no tools.

    A failed one closes them only when the user has spoken since; else this is another attempt at the same request.
    """
    if _failed(message):
        return followed
    return not any(getattr(block, "type", "") == "toolCall" for block in _blocks(message))


def _blocks(message: Any) -> tuple[Any, ...]:
    content = getattr(message, "content", ())
    return content if isinstance(content, tuple) else ()


def _text(message: Any) -> str:
    content = getattr(message, "content", "")
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in _blocks(message) if getattr(block, "type", "") == "text")


def _count_images(message: Any) -> int:
    return sum(getattr(block, "type", "") == "image" for block in _blocks(message))


def _words(text: str, names: Names) -> tuple[Names, list[Request]]:
    """Parse a message; attached files are no requests, but "it" may mean them."""
    if text.startswith(_NOTES):
        return names, []
    for match in _ATTACHED.finditer(text):
        names = names.with_file(match[1])
    requests = parse(_ATTACHED.sub("\n", text), names)
    for request in requests:
        names = names.after(request)
    return names, requests


def _calls(messages: Sequence[Any], roles: list[str], answers: list[int]) -> list[Made]:
    """Return the calls of the open answers that these rules made; one without a result counts as failed."""
    replies: dict[str, Reply] = {}
    for place in range(answers[0] if answers else len(messages), len(messages)):
        if roles[place] == "toolResult":
            replies.setdefault(messages[place].tool_call_id, Reply.of(messages[place]))
    made = []
    for place in answers:
        for block in _blocks(messages[place]):
            match = _CALL_ID.match(getattr(block, "id", "") or "")
            if match is not None:
                reply = replies.get(block.id, Reply("No result provided", is_error=True))
                made.append(Made(place, int(match[2]), match[3], reply))
    return made


def _next_turn(messages: Sequence[Any], answers: list[int]) -> int:
    """Return a number that no id in sight has: after a compaction, counting answers would repeat one."""
    ids = [getattr(block, "id", "") or "" for place in answers for block in _blocks(messages[place])]
    used = [int(match[1]) for match in map(_CALL_ID.match, ids) if match is not None]
    return max([len(answers), *used]) + 1
