"""Converts a conversation so that a given model accepts it, even if other models answered before.

The only place that decides what of a stored conversation is sent, by the rules of ``sendable``: codecs translate what
they get, block by block. ``encode_messages`` gives a codec a conversation turn by turn, and of a long one only what is
new since its last request (``kept``).

Calls and results are matched turn by turn, not by one map for the whole transcript: local servers begin to count their
ids anew in every turn.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, SystemMessage, ToolResultMessage, UserMessage, text_of
from pi_provider_kit.json_values import LONG
from pi_provider_kit.sendable import rules_of
from pi_provider_kit.text import clean_json, clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pi_hookspecs.messages import AssistantContent, Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit.kept import Extend
    from pi_provider_kit.sent_tools import SentTools

__all__ = [
    "NO_OUTPUT",
    "NO_RESULT",
    "data_url",
    "encode_messages",
    "same_model",
    "system_prompt_of",
    "transform_messages",
]

NO_RESULT = "No result provided"
"""Result text of a call without a result."""

NO_OUTPUT = "(no tool output)"
"""Result text of a call whose tool had none."""

_NO_IMAGE = "(image omitted: model does not support images)"
_NO_TOOL_IMAGE = "(tool image omitted: model does not support images)"
_NO_FORMAT = "(image omitted: the API does not accept {})"
_NO_DATA = "(image omitted: it has no data)"

_BLIND_NOTE = "[Current model does not support images. The image will be omitted from this request.]"
"""A line that older versions stored in results with an image; it is not true for a model that sees the image."""

BEGINNING = "(The beginning of the conversation is missing.)"
"""Message of the user where the conversation begins with an answer."""

CONTINUE = "Continue."
"""Message of the user where the conversation ends with an answer."""

_BROKEN = ("error", "aborted")

_TRIES = 1000

_MAGIC = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
)
"""Beginnings of images in base64. APIs refuse an image whose MIME type is another format's."""

_WEBP = ("UklGR", "XRUJQ")
"""Beginning of a RIFF file in base64, and what follows at place 11 if it is a WebP image."""


def same_model(message: AssistantMessage, model: Model) -> bool:
    """Whether this model gave the answer: its signatures and ids are then sent back unchanged."""
    return (message.provider, message.api, message.model) == (model.provider, model.api, model.id)


def transform_messages(
    messages: Iterable[Message],
    model: Model,
    normalize_id: Callable[[str], str] | None = None,
    *,
    foreign_thinking: Literal["drop", "text"] = "drop",
    tools: SentTools | None = None,
    whole: bool = True,
) -> tuple[Message, ...]:
    """Return the messages in the form that can be sent to the model, by the rules of its API (``RULES``).

    - Answers that failed or were aborted are removed, with the results of their calls.
    - Thinking of this model stays if it is signed or not empty; that of another model is dropped, or becomes text.
    - Signatures of another model are removed, its call ids made ids of this API, with their results.
    - A call without a result gets a placeholder; a result without a call is removed. Results directly follow their
      calls and are in their order, even if a user message was in between. A result without text and images says so.
    - Images become a line of text for a model without image input, and in formats that the API refuses. Unpaired
      surrogates, blocks of unknown types, blank texts and answers without content are removed.
    - Texts after calls, thinking that nothing follows, and roles out of order are mended where the API refuses them.

    Args:
        messages: The conversation; it is not changed. Messages that need no change are returned as they are.
        model: The model of the request.
        normalize_id: Converts another API's id to one that the API accepts. If two ids collide, it is called again
            with a number before one of them.
        foreign_thinking: How to treat the thinking of another model. (Sources differ: the newest pi drops it.)
        tools: Renames calls and results to the tools as they are sent, and has the rules; None sends all names as they
            are, by the rules of the model's API.
        whole: Whether these are all messages of the request; the first and the last of it may need company.
    """
    turns = Turns(model, normalize_id, foreign_thinking, tools)
    sent = [message for answer, others in split_turns(messages) for message in turns.turn(answer, others)]
    if not whole:
        return tuple(sent)
    rules = turns.rules
    return tuple(_in_company(sent, first=rules.user_first, last=rules.user_last))


def encode_messages(
    context: Context,
    model: Model,
    options: StreamOptions,
    extend: Extend,
    *,
    before: Iterable[dict[str, Any]] = (),
    depends_on: str = "",
    normalize_id: Callable[[str], str] | None = None,
    foreign_thinking: Literal["drop", "text"] = "drop",
    tools: SentTools | None = None,
) -> list[dict[str, Any]]:
    """Return a conversation in the format of an API: what ``extend`` makes of the messages that can be sent.

    Of a long conversation, what was made of a message for the last request is used again, unless the message, one
    before it, the model, or the names of its tools have changed since. See ``kept`` for what is kept, and how long.

    Args:
        context: Its messages; they are made sendable as by ``transform_messages``.
        model: The model of the request.
        options: Their ``session_id`` and ``on_payload``: whether plugins will see what is returned.
        extend: ``extend(sent, messages, number)`` adds what is sent of the messages, one or more turns, to a list. It
            may look at the last element of the list and replace it, but changes none in place, and keeps nothing for
            its next call. ``number`` is how many messages there were before.
        before: What precedes the conversation, such as the system prompt.
        depends_on: What else ``extend`` and ``normalize_id`` depend on, as text: the switches of the host.
        normalize_id: See ``transform_messages``.
        foreign_thinking: See ``transform_messages``.
        tools: See ``transform_messages``.
    """
    if len(context.messages) < LONG:
        sent = [*before]
        extend(
            sent,
            transform_messages(context.messages, model, normalize_id, foreign_thinking=foreign_thinking, tools=tools),
            0,
        )
        return sent
    from pi_provider_kit.kept import kept_messages

    turns = Turns(model, normalize_id, foreign_thinking, tools)
    depends_on = f"{foreign_thinking} {depends_on}"
    return kept_messages(context.messages, turns, extend, options, before=before, depends_on=depends_on)


def system_prompt_of(context: Context) -> str:
    """Return the system prompt together with the system messages of the conversation, clean to send.

    For the many APIs with a single system prompt; the codec then leaves the system messages out of its list.
    """
    messages = context.messages if SystemMessage in set(map(type, context.messages)) else ()  # nearly none has one
    later = (text_of(message.content) for message in messages if isinstance(message, SystemMessage))
    text = clean_text("\n\n".join(filter(None, (context.system_prompt, *later))))
    return text if text.strip() else ""


def data_url(image: ImageContent) -> str:
    """Return an image as a ``data:`` URL."""
    return f"data:{image.mime_type};base64,{image.data}"


def split_turns(messages: Iterable[Message]) -> Iterator[tuple[AssistantMessage | None, list[Message]]]:
    """Yield each answer with the messages up to the next one; first None with those before any answer."""
    answer: AssistantMessage | None = None
    others: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield answer, others
            answer, others = message, []
        else:
            others.append(message)
    yield answer, others


class Turns:
    """Converts one turn after another; keeps track of used ids.

    Attributes:
        rules: Those of the request.
        model: The model of the request.
        taken: The ids of calls in the conversation so far, in order.
        names: The tools that were called, and the names that are sent for them.
    """

    def __init__(
        self,
        model: Model,
        normalize_id: Callable[[str], str] | None,
        foreign_thinking: Literal["drop", "text"],
        tools: SentTools | None,
    ) -> None:
        self.rules = rules_of(model) if tools is None else tools.rules
        self.model = model
        self.taken: dict[str, None] = {}
        self.names: dict[str, str] = {}
        self._normalize = normalize_id
        self._foreign_thinking = foreign_thinking
        self._tools = tools
        self._sees = "image" in model.input

    def sent_name(self, name: str) -> str:
        """Return the name to send for a tool."""
        return name if self._tools is None else self._tools.sent(name)

    def turn(self, answer: AssistantMessage | None, others: list[Message]) -> Iterator[Message]:
        """Yield the messages of a turn as they can be sent: an answer, its results, the user's messages."""
        waiting: dict[str, deque[ToolCall]] = defaultdict(deque)
        """The calls of the answer by their original id, under their new one; an id given twice has two."""
        calls: list[ToolCall] = []
        if answer is not None and answer.stop_reason not in _BROKEN:
            content = self._answer(answer, waiting)
            calls = [block for block in content if isinstance(block, ToolCall)]
            if content:
                yield answer if _is_same(content, answer.content) else evolve(answer, content=content)
        rest: list[Message] = []
        results: dict[int, Message] = {}
        for message in others:
            if not isinstance(message, ToolResultMessage):
                rest.append(message)
            elif waiting[message.tool_call_id]:
                call = waiting[message.tool_call_id].popleft()
                results[id(call)] = self._result(message, call)
        for call in calls:
            yield results.get(id(call)) or _no_result(call)
        for message in rest:
            yield from self._user_side(message)

    # Answers

    def _answer(self, message: AssistantMessage, waiting: dict[str, deque[ToolCall]]) -> tuple[AssistantContent, ...]:
        ours = same_model(message, self.model)
        content: list[AssistantContent] = []
        in_turn: dict[str, None] = {}
        for block in message.content:
            if isinstance(block, ToolCall):
                call = self._call(block, ours=ours, in_turn=in_turn)
                waiting[block.id].append(call)
                content.append(call)
            elif isinstance(block, TextContent):
                text, signature = clean_text(block.text), block.text_signature if ours else None
                if text.strip() or (signature and self.rules.signed_blanks):
                    content.append(_text(block, text, signature))
            elif isinstance(block, ThinkingContent):
                content.extend(self._thinking(block, ours=ours))
        self.taken.update(in_turn)
        return tuple(self._in_order(content))

    def _in_order(self, content: list[AssistantContent]) -> list[AssistantContent]:
        """Return the blocks of an answer in an order that the API accepts, without thinking that nothing follows."""
        rules = self.rules
        if rules.calls_last:
            first = next((place for place, block in enumerate(content) if isinstance(block, ToolCall)), len(content))
            late = [block for block in content[first:] if isinstance(block, TextContent)]
            if late:
                content = [
                    *content[:first],
                    *late,
                    *(block for block in content[first:] if not isinstance(block, TextContent)),
                ]
        if not rules.thinking_last:
            while content and isinstance(content[-1], ThinkingContent):
                content.pop()
        if not rules.thinking_alone and all(isinstance(block, ThinkingContent) for block in content):
            return []
        return content

    def _thinking(self, block: ThinkingContent, *, ours: bool) -> Iterator[AssistantContent]:
        thinking = clean_text(block.thinking)
        if ours:
            if block.thinking_signature or thinking.strip():
                yield block if thinking is block.thinking else evolve(block, thinking=thinking)
        elif self._foreign_thinking == "text" and not block.redacted and thinking.strip():
            yield TextContent(thinking)

    def _call(self, call: ToolCall, *, ours: bool, in_turn: dict[str, None]) -> ToolCall:
        call_id = self._id(call.id, in_turn, ours=ours)
        in_turn[call_id] = None
        name = self.names[call.name] = self.sent_name(call.name)
        arguments = clean_json(call.arguments)
        signature = call.thought_signature if ours else None
        if (call_id, name, signature) == (call.id, call.name, call.thought_signature) and arguments is call.arguments:
            return call
        return evolve(call, id=call_id, name=name, arguments=arguments, thought_signature=signature)

    def _id(self, call_id: str, in_turn: dict[str, None], *, ours: bool) -> str:
        """Return the id of a call: its own where the API accepts it and has not seen it."""
        taken = self.taken if not ours or self.rules.unique_ids == "conversation" else {}
        normalize = self._normalize or str
        wanted = clean_text(call_id) or "call"
        keeps = ours and call_id == wanted and not self.rules.checks_own_ids
        new = call_id if keeps else normalize(wanted)
        for number in range(2, _TRIES):
            if new not in taken and new not in in_turn:
                break
            new = normalize(f"{number}_{wanted}")
        return new

    # Other messages

    def _result(self, message: ToolResultMessage, call: ToolCall) -> ToolResultMessage:
        content = self._blocks(message.content, _NO_TOOL_IMAGE)
        if any(isinstance(block, ImageContent) for block in content):
            content = tuple(_without_blind_note(block) for block in content)
        content = _without_blanks(content) or (TextContent(NO_OUTPUT),)
        same = (message.tool_call_id, message.tool_name) == (call.id, call.name)
        if same and _is_same(content, message.content):
            return message
        return evolve(message, tool_call_id=call.id, tool_name=call.name, content=content)

    def _user_side(self, message: Message) -> Iterator[Message]:
        if not isinstance(message, UserMessage):
            yield message
        elif isinstance(message.content, str):
            text = clean_text(message.content)
            if text.strip():
                yield message if text is message.content else evolve(message, content=text)
        else:
            content = _without_blanks(self._blocks(message.content, _NO_IMAGE))
            if content:
                yield message if _is_same(content, message.content) else evolve(message, content=content)

    def _blocks(self, blocks: tuple[Any, ...], no_image: str) -> tuple[Any, ...]:
        """Return text and images; neighbouring images that cannot be sent for one reason become one line."""
        content: list[Any] = []
        for block in blocks:
            if isinstance(block, TextContent):
                content.append(_text(block, clean_text(block.text), block.text_signature))
            elif isinstance(block, ImageContent):
                sent = self._image(block) if self._sees else TextContent(no_image)
                if isinstance(sent, ImageContent) or not content or content[-1] != sent:
                    content.append(sent)
        return tuple(content)

    def _image(self, image: ImageContent) -> ImageContent | TextContent:
        """Return an image under the type of its data, or what is said in its place."""
        data = image.data.rpartition(",")[2] if image.data.startswith("data:") else image.data
        if not data.strip():
            return TextContent(_NO_DATA)
        kind = image.mime_type.lower().replace("image/jpg", "image/jpeg")
        if self.rules.images is not None:
            kind = _kind_of(data) or kind
            if kind not in self.rules.images:
                return TextContent(_NO_FORMAT.format(image.mime_type))
        same = data is image.data and kind == image.mime_type
        return image if same else evolve(image, data=data, mime_type=kind)


def _kind_of(data: str) -> str | None:
    """Return the MIME type of an image by its data."""
    if data.startswith(_WEBP[0]) and data[11:16] == _WEBP[1]:
        return "image/webp"
    return next((kind for beginning, kind in _MAGIC if data.startswith(beginning)), None)


def _text(block: TextContent, text: str, signature: str | None) -> TextContent:
    if text is block.text and signature == block.text_signature:
        return block
    return evolve(block, text=text, text_signature=signature)


def _without_blind_note(block: Any) -> Any:
    if not isinstance(block, TextContent) or _BLIND_NOTE not in block.text:
        return block
    return evolve(block, text="\n".join(line for line in block.text.split("\n") if line != _BLIND_NOTE))


def _without_blanks(content: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(block for block in content if not isinstance(block, TextContent) or block.text.strip())


def _is_same(new: tuple[Any, ...], old: tuple[Any, ...]) -> bool:
    return len(new) == len(old) and all(one is other for one, other in zip(new, old, strict=True))


def _no_result(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=(TextContent(NO_RESULT),),
        is_error=True,
        timestamp=0,
    )


# The conversation as a whole


def _in_company(messages: list[Message], *, first: bool, last: bool) -> Iterator[Message]:
    """Yield the messages, with one of the user before the first or after the last where the API requires it."""
    spoken = [message for message in messages if not isinstance(message, SystemMessage)]
    if not spoken:
        if first or last:
            yield from messages
            yield UserMessage(content=CONTINUE, timestamp=0)
        else:
            yield from messages
        return
    if first and isinstance(spoken[0], AssistantMessage):
        yield UserMessage(content=BEGINNING, timestamp=0)
    yield from messages
    if last and isinstance(spoken[-1], AssistantMessage):
        yield UserMessage(content=CONTINUE, timestamp=0)
