"""The remaining work of a conversation: its open requests, the calls made for them, and the next answer.

A request is open until an answer without tool calls follows it. Everything is read from the messages: a call states in
its id which request it belongs to and what it was, so that no state outlives a stream.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from attrs import frozen

from pi_hookspecs import AssistantMessage, ImageContent, ToolResultMessage, UserMessage
from pi_provider_offline.requests import Request, parse
from pi_provider_offline.steps import joined, steps
from pi_provider_offline.tools import Call, Reply, Toolbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Context, Message

LABEL = "offline/rules is a rule-based stand-in, not a language model"
SIGNATURE = f"({LABEL}.)"
"""Closes every answer, so that it is never taken for a model's."""
ABILITIES = (
    "I can list files, read a file or some lines of it, find files by name, search for a text, count words, lines, "
    "characters or files, run a command (run `cmd`), write a file (write FILE: text), replace text in a file "
    '(replace A with B in FILE), and call a tool by its name (call NAME with {"KEY": "VALUE"}). '
    "Names with spaces go in quotation marks."
)
MOST_QUOTED = 5
_CHANGING = ("run", "write", "replace", "call")  # such a request waits for all before it, and all after wait for it

_CALL_ID = re.compile(r"call_(\d{1,9})_(\d{1,9})_([0-9a-f]{8})\Z")
_ATTACHED = re.compile(r'<file name="([^"\n]*)">.*?</file>', re.DOTALL)
_NOTES = ("Ran `", "The following is a summary of a branch", "The conversation history before this point was compacted")
"""How the messages begin that only give the model context: the user's own commands, and summaries."""


_Made: TypeAlias = tuple[int, str, Reply]
"""A call that was made: place of its message, mark, reply."""


@frozen(eq=False)
class Answer:
    """One answer: its thinking, its text, and its calls as ``(id, tool, arguments)``."""

    thinking: str
    text: str
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = ()


@frozen(eq=False)
class _Open:
    """The open part of a conversation: requests with the place of their message, replies by the request's number."""

    requests: list[tuple[Request, int]]
    replies: dict[int, list[_Made]]
    turn: int
    images: bool


def answer_to(context: Context, tools: Toolbox, latest: str | None = None) -> Answer:
    """Return the next answer; ``latest`` replaces the words of the last user message."""
    found = _open_part(context.messages, latest)
    calls: list[tuple[str, str, dict[str, Any]]] = []
    announced, paragraphs = [], []
    changing, floor = False, -1
    for number, (request, place) in enumerate(found.requests, 1):
        if changing or (calls and request.kind in _CHANGING):
            break
        outcome, last = _advance(request, found.replies.get(number, []), max(place, floor), tools)
        if isinstance(outcome, Call):
            calls.append((f"call_{found.turn}_{number}_{_mark(outcome)}", outcome.tool, outcome.arguments))
            announced.append(str(request))
            changing = request.kind in _CHANGING
        else:
            paragraphs.append(outcome)
            floor = max(floor, last) if request.kind in _CHANGING else floor
    known = sum(request.kind != "unknown" for request, _ in found.requests)
    thinking = f"({LABEL}.) {known} request{'s' * (known != 1)} recognised, {len(calls)} to do now."
    if calls:
        return Answer(thinking, f"I will {joined(announced)}.", tuple(calls))
    return Answer(thinking, "\n\n".join(part for part in [*paragraphs, *_closing(found), SIGNATURE] if part))


def _closing(found: _Open) -> list[str]:
    unknown = list(dict.fromkeys(request.text for request, _ in found.requests if request.kind == "unknown"))
    parts = ["I cannot look at the images that came with your message."] if found.images else []
    if unknown:
        quoted = [f"\N{LEFT DOUBLE QUOTATION MARK}{text[:200]}\N{RIGHT DOUBLE QUOTATION MARK}" for text in unknown]
        more = [f"{len(unknown) - MOST_QUOTED} other passages"] if len(unknown) > MOST_QUOTED else []
        what = joined([*quoted[:MOST_QUOTED], *more])
        parts.append(f"I did not understand {what}: I am a rule-based stand-in, not a language model. {ABILITIES}")
    elif not found.requests:
        parts.append(f"I found no request in your message. {ABILITIES}")
    return parts


def _mark(call: Call) -> str:  # a checksum, which distinguishes calls for the same request
    return f"{crc32(json.dumps([call.tool, call.arguments], sort_keys=True).encode()):08x}"


def _advance(request: Request, replies: list[_Made], after: int, tools: Toolbox) -> tuple[Call | str, int]:
    """Replay a request on the replies to its calls; returns its next call or its paragraph, and the last place used."""
    doing = steps(request, tools)
    try:
        call = next(doing)
        for place, mark, reply in replies:
            if place > after and mark == _mark(call):
                after, call = place, doing.send(reply)
    except StopIteration as end:
        return end.value, after
    return call, after


def _open_part(messages: Sequence[Message], latest: str | None) -> _Open:
    asked = {place: each for place, each in enumerate(messages) if isinstance(each, UserMessage)}
    answers = {place: each for place, each in enumerate(messages) if isinstance(each, AssistantMessage)}
    last = max(asked, default=-1)
    begin = max((place + 1 for place, each in answers.items() if _closes(each, followed=place < last)), default=0)
    named: str | None = None
    requests, images = [], False
    for place, message in asked.items():
        named, found = _words(latest if latest is not None and place == last else message.text, named)
        if place >= begin:
            requests += [(request, place) for request in found]
            images |= any(isinstance(block, ImageContent) for block in message.content)
    still_open = {place: each for place, each in answers.items() if place >= begin and not _has_failed(each)}
    ids = [_CALL_ID.match(str(call.id)) for each in answers.values() for call in each.tool_calls]
    turn = max([len(answers), *(int(match[1]) for match in ids if match)]) + 1  # a compaction may have dropped answers
    return _Open(requests, _replies(messages, still_open), turn, images)


def _words(text: str, named: str | None) -> tuple[str | None, list[Request]]:
    """Return the requests of a message, and the file named last; attached files are no requests, but may be meant."""
    if text.startswith(_NOTES):
        return named, []
    attached = _ATTACHED.findall(text)
    requests = parse(_ATTACHED.sub("\n", text), attached[-1] if attached else named)
    paths = [*attached, *(request.path for request in requests if request.path not in (None, "."))]
    return (paths[-1] if paths else named), requests


def _replies(messages: Sequence[Message], answers: dict[int, AssistantMessage]) -> dict[int, list[_Made]]:
    """Return by request the calls that these rules made: place, mark and reply. One without a result has failed."""
    results: dict[str, Reply] = {}
    for message in messages[min(answers) :] if answers else ():
        if isinstance(message, ToolResultMessage):
            results.setdefault(message.tool_call_id, Reply(message.text, message.is_error))
    made: dict[int, list[_Made]] = {}
    for place, answer in answers.items():
        for call in answer.tool_calls:
            match = _CALL_ID.match(str(call.id))
            if match is not None:
                reply = results.get(call.id, Reply("No result provided", is_error=True))
                made.setdefault(int(match[2]), []).append((place, match[3], reply))
    return made


def _closes(answer: AssistantMessage, *, followed: bool) -> bool:
    """Whether an answer closes the requests before it; a failed one does so once the user has spoken since."""
    return followed if _has_failed(answer) else not answer.tool_calls


def _has_failed(answer: AssistantMessage) -> bool:
    return answer.stop_reason in ("error", "aborted")
