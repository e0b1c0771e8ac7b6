"""The provider ``offline``: its one model, and the stream that answers for it."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.models import Model, ProviderInfo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from pi_hookspecs import AssistantMessageEvent, Context, MessageBuilder, StreamOptions, Usage
    from pi_provider_offline.conversation import Answer

API = "offline-rules"

PROVIDER = ProviderInfo(
    id="offline",
    name="Offline (rule-based stand-in, not a language model)",
    api=API,
    keyless=True,
    only_by_name=True,  # a stand-in must never answer in a model's place unasked
    models=(
        Model(
            id="rules",
            name="Offline rules (rule-based stand-in, not a language model)",
            api=API,
            provider="offline",
            input=("text",),
            context_window=128_000,
        ),
    ),
)

_EVENTS_PER_BREATH = 16  # then other tasks get their turn, so that an abort can arrive
_ARGUMENT_PIECE = 48  # characters of one delta of a tool call's arguments


class OfflineRules:
    """Implements the API id ``offline-rules``: rules read the request, call tools and answer from their results."""

    api = API

    async def stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Yield a short thinking block, then text and tool calls, then exactly one ``Done`` or ``Error``.

        The same context gives the same message. Of the answer to ``on_payload`` only ``request`` is used, which
        replaces the user's latest words.
        """
        from pi_hookspecs.stream import MessageBuilder

        builder = MessageBuilder(model)
        try:
            answer = await _compose(model, context, options)
            if options.output_schema is not None and not answer.calls:
                from pi_provider_offline.output import as_json

                answer = evolve(answer, text=as_json(answer.text, options.output_schema))
            if options.on_response is not None:
                await options.on_response(200, {})
            events = () if _aborted(options) else _events(builder, context, answer)
            for count, event in enumerate(events):
                yield event
                if count % _EVENTS_PER_BREATH == 0:
                    await asyncio.sleep(0)
                if _aborted(options):  # before the next event is made: making it adds to the message
                    break
            yield builder.abort() if _aborted(options) else builder.done()
        except Exception as error:  # noqa: BLE001 - a request that fails is an answer, whatever failed
            yield builder.fail(error)


def _aborted(options: StreamOptions) -> bool:
    return options.signal is not None and options.signal.aborted


async def _compose(model: Model, context: Context, options: StreamOptions) -> Answer:
    """Ask the payload hook and work out the whole answer."""
    from pi_provider_offline.conversation import answer_to
    from pi_provider_offline.tools import Toolbox

    tools = Toolbox(() if options.tool_choice == "none" else context.tools)
    if options.on_payload is None:
        return answer_to(context, tools)
    payload = _payload(model, context)
    changed = await options.on_payload(payload, model)
    words = changed.get("request") if isinstance(changed, dict) else None
    return answer_to(context, tools, words if isinstance(words, str) and words != payload["request"] else None)


def _payload(model: Model, context: Context) -> dict[str, Any]:
    """Return what ``on_payload`` gets: plain data, and under ``request`` the user's latest words."""
    messages = [{"role": each.role, "content": _text_of(each)} for each in context.messages]
    return {
        "model": model.id,
        "system": context.system_prompt,
        "messages": messages,
        "tools": [tool.name for tool in context.tools],
        "request": next((each["content"] for each in reversed(messages) if each["role"] == "user"), ""),
    }


def _text_of(message: object) -> str:  # of a role that pi does not know: nothing
    return str(getattr(message, "text", ""))


def _usage(context: Context, output: str) -> Usage:
    """Estimate tokens as four characters each, rounded up; they cost nothing."""
    from pi_hookspecs.messages import Usage

    tokens_in = -(-(len(context.system_prompt) + sum(len(_text_of(each)) for each in context.messages)) // 4)
    tokens_out = -(-len(output) // 4)
    return Usage(input=tokens_in, output=tokens_out, total_tokens=tokens_in + tokens_out)


def _events(builder: MessageBuilder, context: Context, answer: Answer) -> Iterator[AssistantMessageEvent]:
    """Yield the stream's events up to, without, the last one. Tokens count as used once the whole answer is out."""
    builder.usage = _usage(context, "")
    yield builder.start()
    thinking = builder.thinking_start()
    yield thinking
    for word in _words(answer.thinking):
        yield builder.thinking(thinking.content_index, word)
    yield builder.thinking_end(thinking.content_index)
    text = builder.text_start()
    yield text
    for word in _words(answer.text):
        yield builder.text(text.content_index, word)
    yield builder.text_end(text.content_index)
    calls = [(call_id, tool, json.dumps(arguments, ensure_ascii=False)) for call_id, tool, arguments in answer.calls]
    for call_id, tool, arguments in calls:
        call = builder.tool_call_start(call_id, tool)
        yield call
        for place in range(0, len(arguments), _ARGUMENT_PIECE):
            yield builder.tool_call(call.content_index, arguments[place : place + _ARGUMENT_PIECE])
        yield builder.tool_call_end(call.content_index)
    spoken = answer.thinking + answer.text + "".join(tool + arguments for _, tool, arguments in calls)
    builder.usage = _usage(context, spoken)


def _words(text: str) -> list[str]:  # each with the space behind it
    return re.findall(r"\s*\S+\s*|\s+\Z", text)
