"""Converts a conversation so that a given model accepts it, even if other models answered before.

Calls and results are matched turn by turn, not by one map for the whole transcript: local servers begin to count their
ids anew in every turn.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, SystemMessage, ToolResultMessage, UserMessage, text_of
from pi_provider_kit.text import clean_json, clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pi_hookspecs.messages import AssistantContent, Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context

__all__ = ["NO_RESULT", "data_url", "same_model", "system_prompt_of", "transform_messages"]

NO_RESULT = "No result provided"
"""Result text of a call without a result."""

_NO_IMAGE = "(image omitted: model does not support images)"
_NO_TOOL_IMAGE = "(tool image omitted: model does not support images)"

_BROKEN = ("error", "aborted")

_TRIES = 1000


def same_model(message: AssistantMessage, model: Model) -> bool:
    """Whether this model gave the answer: its signatures and ids are then sent back unchanged."""
    return (message.provider, message.api, message.model) == (model.provider, model.api, model.id)


def transform_messages(
    messages: Iterable[Message],
    model: Model,
    normalize_id: Callable[[str], str] | None = None,
    *,
    foreign_thinking: Literal["drop", "text"] = "drop",
) -> tuple[Message, ...]:
    """Return the messages in the form that can be sent to the model.

    - Answers that failed or were aborted are removed, with the results of their calls.
    - Thinking of this model stays if it is signed or not empty; that of another model is dropped, or becomes text.
    - Signatures of another model are removed, its call ids made ids of this API, with their results.
    - A call without a result gets a placeholder; a result without a call is removed. Results directly follow their
      call, even if a user message was in between.
    - Images become a line of text for a model without image input. Unpaired surrogates, blocks of unknown types, empty
      user text and answers without content are removed.

    Args:
        messages: The conversation; it is not changed. Messages that need no change are returned as they are.
        model: The model of the request.
        normalize_id: Converts another API's id to one that the API accepts. If two ids collide, it is called again
            with a number before one of them.
        foreign_thinking: How to treat the thinking of another model. (Sources differ: the newest pi drops it.)
    """
    turns = _Turns(model, normalize_id, foreign_thinking)
    return tuple(message for answer, others in _split(messages) for message in turns.turn(answer, others))


def system_prompt_of(context: Context) -> str:
    """Return the system prompt together with the system messages of the conversation, clean to send.

    For the many APIs with a single system prompt; the codec then leaves the system messages out of its list.
    """
    later = (text_of(message.content) for message in context.messages if isinstance(message, SystemMessage))
    return clean_text("\n\n".join(filter(None, (context.system_prompt, *later))))


def data_url(image: ImageContent) -> str:
    """Return an image as a ``data:`` URL."""
    return f"data:{image.mime_type};base64,{image.data}"


def _split(messages: Iterable[Message]) -> Iterator[tuple[AssistantMessage | None, list[Message]]]:
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


class _Turns:
    """Converts one turn after another; keeps track of used ids."""

    def __init__(
        self, model: Model, normalize_id: Callable[[str], str] | None, foreign_thinking: Literal["drop", "text"]
    ) -> None:
        self._model = model
        self._normalize = normalize_id
        self._foreign_thinking = foreign_thinking
        self._sees = "image" in model.input
        self._taken: set[str] = set()

    def turn(self, answer: AssistantMessage | None, others: list[Message]) -> Iterator[Message]:
        waiting: dict[str, deque[ToolCall]] = defaultdict(deque)
        """The calls of the answer by their original id, under their new one; an id given twice has two."""
        if answer is not None and answer.stop_reason not in _BROKEN:
            content = self._answer(answer, waiting)
            if content:
                yield answer if _is_same(content, answer.content) else evolve(answer, content=content)
        rest: list[Message] = []
        for message in others:
            if not isinstance(message, ToolResultMessage):
                rest.append(message)
            elif waiting[message.tool_call_id]:
                yield self._result(message, waiting[message.tool_call_id].popleft())
        for calls in waiting.values():
            yield from map(_no_result, calls)
        for message in rest:
            yield from self._user_side(message)

    # Answers

    def _answer(self, message: AssistantMessage, waiting: dict[str, deque[ToolCall]]) -> tuple[AssistantContent, ...]:
        ours = same_model(message, self._model)
        content: list[AssistantContent] = []
        in_turn: set[str] = set()
        for block in message.content:
            if isinstance(block, ToolCall):
                call = self._call(block, ours=ours, in_turn=in_turn)
                waiting[block.id].append(call)
                content.append(call)
            elif isinstance(block, TextContent):
                text = clean_text(block.text)
                if text or block.text_signature:
                    content.append(_text(block, text, block.text_signature if ours else None))
            elif isinstance(block, ThinkingContent):
                content.extend(self._thinking(block, ours=ours))
        self._taken |= in_turn
        return tuple(block for block in content if block != TextContent(""))

    def _thinking(self, block: ThinkingContent, *, ours: bool) -> Iterator[AssistantContent]:
        thinking = clean_text(block.thinking)
        if ours:
            if block.thinking_signature or thinking.strip():
                yield block if thinking is block.thinking else evolve(block, thinking=thinking)
        elif self._foreign_thinking == "text" and not block.redacted and thinking.strip():
            yield TextContent(thinking)

    def _call(self, call: ToolCall, *, ours: bool, in_turn: set[str]) -> ToolCall:
        call_id = call.id
        if not ours or not call_id or call_id in in_turn:
            call_id = self._new_id(call_id, self._taken | in_turn if not ours else in_turn)
        in_turn.add(call_id)
        arguments = clean_json(call.arguments)
        signature = call.thought_signature if ours else None
        if call_id == call.id and arguments is call.arguments and signature == call.thought_signature:
            return call
        return evolve(call, id=call_id, arguments=arguments, thought_signature=signature)

    def _new_id(self, call_id: str, taken: set[str]) -> str:
        normalize = self._normalize or str
        wanted = call_id or "call"
        new = normalize(wanted)
        for number in range(2, _TRIES):
            if new not in taken:
                break
            new = normalize(f"{number}_{wanted}")
        return new

    # Other messages

    def _result(self, message: ToolResultMessage, call: ToolCall) -> ToolResultMessage:
        content = self._blocks(message.content, _NO_TOOL_IMAGE)
        if message.tool_call_id == call.id and _is_same(content, message.content):
            return message
        return evolve(message, tool_call_id=call.id, content=content)

    def _user_side(self, message: Message) -> Iterator[Message]:
        if not isinstance(message, UserMessage):
            yield message
        elif isinstance(message.content, str):
            text = clean_text(message.content)
            if text.strip():
                yield message if text is message.content else evolve(message, content=text)
        else:
            blocks = self._blocks(message.content, _NO_IMAGE)
            content = tuple(block for block in blocks if not isinstance(block, TextContent) or block.text.strip())
            if content:
                yield message if _is_same(content, message.content) else evolve(message, content=content)

    def _blocks(self, blocks: tuple[Any, ...], no_image: str) -> tuple[Any, ...]:
        """Return text and images; neighbouring images that the model cannot see become one line."""
        content: list[Any] = []
        for block in blocks:
            if isinstance(block, TextContent):
                content.append(_text(block, clean_text(block.text), block.text_signature))
            elif isinstance(block, ImageContent):
                if self._sees:
                    content.append(block)
                elif not content or content[-1] != TextContent(no_image):
                    content.append(TextContent(no_image))
        return tuple(content)


def _text(block: TextContent, text: str, signature: str | None) -> TextContent:
    if text is block.text and signature == block.text_signature:
        return block
    return evolve(block, text=text, text_signature=signature)


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
