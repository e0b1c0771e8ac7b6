"""Which part of a request a provider refuses, by the words of its refusal.

Vendors name a part by its name, by its number in the request (``tools.42``) or by its kind. A part of the newest
message is the likeliest, because the request before was accepted. A wrong guess costs one request: what did not help is
put back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pi_hookspecs import AssistantMessage, ImageContent, LeftOut, ThinkingContent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import Context, Message, Model
    from pi_hookspecs.failures import FailureKind

__all__ = ["MOST_PARTS", "Refusal", "refused_part"]

MOST_PARTS = 8
"""Parts that are left out of one request, one after another: a server names one tool of several at a time."""

_REFUSALS = (400, 403, 404, 413, 415, 422, 500, 501)

_IN_STREAM = r"(?i)invalid_|bad_request|validation|unsupported_"
"""What an error within a stream, which has no status, must say to be a refusal of the request."""

_PARAMETER = (
    r"(?i)unsupported (?:parameter|value)|tool_choice|temperature|top_p|reasoning[_.]?effort|effort level"
    r"|tool_use_failed|tool call validation|did not match schema|did not call a tool"
    r"|(?:unknown|unrecognized|unexpected) (?:request )?(?:parameter|argument)s?\b"
    r"(?!\W*(?:messages|input|contents|tools))"
    r"|stream_options"
    r"|budget_tokens|thinking[._](?:type|budget)|max_(?:\w+_)?tokens|does not support (?:thinking|reasoning|effort)"
)
"""Settings of the request, or the model's new call: nothing of the conversation is to blame."""

_MEDIA = (
    r"(?i)\b(?:images?|pictures?|photos?|media|mime|base64|data[ _]ur[il]|pixels?|dimensions?|mmproj|vision|visual"
    r"|multi-?modal|attachments?)\b"
)
_MEDIA_PARTS = r"(?i)image_url|input_image|inline_?data|image\.source"
_NO_MEDIA = r"(?i)support\w*\b.{0,30}\b(?:image|picture|vision|visual|multi-?modal)|(?:image|vision|visual) input"
"""What a host says in place of "model not found", because none of its models of this name takes pictures."""

_BYTES = r"(?i)\bpayload\b|\bbytes\b|\b\d+ ?[mk]i?b\b|request_too_large|entity too large|body"
_LARGE = 1_000_000
"""Characters of pictures in a request that can make it too large as a whole."""

_SCHEMA = (
    r"""(?i)["']tools["'],|"""
    r"schema|\btools? ?(?:[.\[/:]|->)|function_?declarations?|\bparameters\b|\btool definitions?\b"
    r"|\btools?\b.{0,40}\bname\b|\bgrammar\b|\btools?\b.{0,40}\b(?:index|position) \d"
)
_DEFINITION = r"(?i)schema|function_?declaration|tool definition|grammar"
"""What only declarations of tools have: where none is named, any of them may be to blame."""

_NUMBERED = (
    r"""(?i)["']tools["'],\s*(\d+)""",
    r"(?i)function_?declarations?[.\[](\d+)",
    r"(?i)\btools? ?(?:[.\[/:]|->) ?(\d+)",
    r"(?i)\btool (?:number |#)?(\d+)\b",
    r"(?i)\btools?\b.{0,40}\b(?:index|position) (\d+)",
)
_BUILT_IN = frozenset(("read", "bash", "edit", "write", "grep", "find", "ls"))

_THINKING = (
    r"(?i)\bthinking\b|\breasoning(?:_(?:content|text|details?))?\b|signature|encrypted_content|\brs_\w+|thought"
)
_CALLS = (
    r"(?i)tool_?use|tool_?result|tool_?calls?|tool (?:call|output|result|message)s?"
    r"|function[_ ]?(?:call|response|output)|call_id"
)
_MESSAGES = (
    r"(?i)\bmessages\b|\b(?:each|every) message|\b(?:message|input|contents?)[.\[/]+\d"
    r"|\bmsgs?\b|\bmessage (?:sequence|order|history|list)\b"
    r"|\b(?:final|last) (?:block|message|assistant|content)|\bassistant\b"
    r"|\broles?\b|\balternat|\bcontent block|\btext content|\bnon-empty|\bturns?\b|\bitem ['`]"
)

_PLACE = r"""(?i)\b(?:messages?|msgs?|input|contents?)["']?(?:[.\[/,: ]| at position )+(\d+)"""
"""Where a message is in the request."""

_MERGED = ("anthropic", "bedrock", "google")
"""APIs in which results and the user's next message are one message, so that roles alternate."""


class Refusal(NamedTuple):
    """What a provider refused.

    Attributes:
        text: The provider's words.
        status: HTTP status, if it is known.
        kind: The kind of the failure.
        model: The model that was asked.
    """

    text: str
    status: int | None
    kind: FailureKind
    model: Model


def refused_part(refusal: Refusal, request: Context, attempt: int) -> LeftOut | None:
    """Return the part to leave out; None if the refusal is not about a part.

    Args:
        refusal: What the provider said.
        request: What was refused, already without the parts that were left out before.
        attempt: Number of this part in the prompt, from 1.
    """
    text, kind = refusal.text, refusal.kind
    if not _is_refusal(refusal) or attempt > MOST_PARTS:
        return None
    if kind == "strict_tools" and any(tool.constrained_sampling is not None for tool in request.tools):
        return LeftOut(kind="strict", ids=(refusal.model.reference,), what="strict schemas of tools")
    if kind in ("other", "overflow", "configuration", "model") and _is_about_pictures(text, kind, request):
        return _pictures(request, attempt)
    if kind == "configuration" and re.search(_DEFINITION, text):  # a server that cannot turn a schema into a grammar
        return _tool(text, request)
    if kind not in ("other", "strict_tools") or re.search(_PARAMETER, text):
        return None
    return _of_the_conversation(text, request, attempt, refusal.model.api)


def _is_refusal(refusal: Refusal) -> bool:
    if refusal.status in (None, 200):
        return re.search(_IN_STREAM, refusal.text) is not None
    return refusal.status in _REFUSALS


def _of_the_conversation(text: str, request: Context, attempt: int, api: str) -> LeftOut | None:
    is_quoted = not re.search(_CALLS, text) and _named(text, request) is not None
    part = _tool(text, request) if is_quoted or re.search(_SCHEMA, text) else None
    if part is None and re.search(_THINKING, text):
        part = _thinking(text, request)
    if part is None and _has_new_picture(request) and not (re.search(_CALLS, text) or _numbered(text, request, api)):
        return _pictures(request, attempt)
    if part is None and (re.search(_CALLS, text) or re.search(_MESSAGES, text)):
        part = _answer(text, request, attempt, api)
    return part


# Pictures


def _is_about_pictures(text: str, kind: FailureKind, request: Context) -> bool:
    keys = [block for message in request.messages for block in _images(message)]
    if not keys:
        return False
    if kind == "model":
        return re.search(_NO_MEDIA, text) is not None
    if re.search(_MEDIA, text) or re.search(_MEDIA_PARTS, text):
        return True
    large = sum(len(block.data) for block in keys) >= _LARGE
    return kind == "overflow" and large and re.search(_BYTES, text) is not None


def _has_new_picture(request: Context) -> bool:
    """Return whether there is a picture after the newest answer, which no accepted request had yet.

    Whatever the provider says then, the picture is the likeliest reason.
    """
    for message in reversed(request.messages):
        if isinstance(message, AssistantMessage) and _is_sent(message):
            return False
        if _images(message):
            return True
    return False


def _pictures(request: Context, attempt: int) -> LeftOut:
    """Return the pictures of the newest message that has any; after a refusal without them, all others."""
    from pi_core import picture_key

    found = [keys for message in request.messages if (keys := [picture_key(each.data) for each in _images(message)])]
    keys = found[-1] if attempt == 1 else [key for keys in found for key in keys]
    if attempt > 1:
        what = "all pictures"
    else:
        what = "the newest picture" if len(keys) == 1 else f"the {len(keys)} newest pictures"
    return LeftOut(kind="picture", ids=tuple(dict.fromkeys(keys)), what=what)


def _images(message: Message) -> list[ImageContent]:
    content = message.content
    return [] if isinstance(content, str) else [block for block in content if isinstance(block, ImageContent)]


# Tools


def _tool(text: str, request: Context) -> LeftOut | None:
    """Return the tool that is named or numbered; if none is, all tools that are not pi's own."""
    names = [tool.name for tool in request.tools]
    name = _named(text, request)
    for pattern in _NUMBERED if name is None else ():
        number = re.search(pattern, text)
        if number is not None and int(number[1]) < len(names):
            name = names[int(number[1])]
            break
    if name is not None:
        return LeftOut(kind="tool", ids=(name,), what=f"the tool {name!r}")
    others = tuple(each for each in names if each not in _BUILT_IN)
    if not others or re.search(_DEFINITION, text) is None:
        return None
    return LeftOut(kind="tool", ids=others, what=f"all tools but pi's own: {', '.join(others)}")


def _named(text: str, request: Context) -> str | None:
    """Return the tool that a text names; the longest name where one is a part of another."""
    names = sorted((tool.name for tool in request.tools), key=len, reverse=True)
    return next((each for each in names if _is_named(each, text)), None)


def _is_named(name: str, text: str) -> bool:
    quoted = rf"""(?<![\w.-])['"`\\“]+{re.escape(name)}['"`\\”]+"""
    return re.search(rf"{quoted}|\b(?:functions?|tools?)[ .:/]+{re.escape(name)}(?![\w-])", text) is not None


# Answers


def _thinking(text: str, request: Context) -> LeftOut | None:
    """Return the thinking of the answer that is named; if none is, of all answers."""
    answers = [each for each in _answers(request) if any(isinstance(block, ThinkingContent) for block in each.content)]
    named = [each for each in answers if any(_is_in(text, block.thinking_signature) for block in _thoughts(each))]
    keys = tuple(str(answer.timestamp) for answer in named or answers)
    return LeftOut(kind="thinking", ids=keys, what="the thinking of earlier answers") if keys else None


def _answer(text: str, request: Context, attempt: int, api: str) -> LeftOut | None:
    """Return the answer that is named or numbered; if none is, the newest one, or with calls if it is about calls."""
    answers = list(_answers(request))
    named = next((each for each in answers if any(_is_in(text, call.id) for call in each.tool_calls)), None)
    if named is None:
        numbered = _numbered(text, request, api)
        named = numbered if numbered in answers else None
    if named is None and attempt > 3:  # noqa: PLR2004 - of guesses; each costs a request and takes more away
        return None
    with_calls = [each for each in answers if each.tool_calls] if re.search(_CALLS, text) else []
    answer = named or next(reversed(with_calls or answers), None)
    if answer is None:
        return None
    calls = len(answer.tool_calls)
    which = "the newest answer" if answer is answers[-1] else "an earlier answer"
    what = f"an answer with {calls} tool {'call' if calls == 1 else 'calls'}" if calls else which
    return LeftOut(kind="answer", ids=(str(answer.timestamp),), what=what)


def _numbered(text: str, request: Context, api: str) -> AssistantMessage | None:
    """Return the answer whose number in the request, or that of whose result, a refusal names; None for the user's.

    Codecs may send a message as several or join some, so the number is a good guess and not more.
    """
    found = re.search(_PLACE, text)
    if found is None:
        return None
    answer: AssistantMessage | None = None
    merged, before = api.startswith(_MERGED), None
    at = 0 if api in ("openai-completions", "mistral-conversations") and request.system_prompt else -1
    for message in request.messages:
        is_answer = isinstance(message, AssistantMessage)
        if isinstance(message, AssistantMessage):
            if not _is_sent(message):
                continue
            answer = message
        if is_answer and merged and before is None:
            at += 1  # a line of the user is put before a first answer
        if not merged or before is not is_answer:
            at += max(1, len(message.content)) if is_answer and "responses" in api else 1
        before = is_answer
        if at >= int(found[1]):
            return answer if is_answer or message.role == "toolResult" else None
    return None


def _answers(request: Context) -> Iterator[AssistantMessage]:
    """Yield the answers that are still sent as they are."""
    for message in request.messages:
        if isinstance(message, AssistantMessage) and message.provider != "(left out)" and _is_sent(message):
            yield message


def _is_sent(answer: AssistantMessage) -> bool:
    """Return whether an answer is part of requests: failed and aborted ones stay in the session alone."""
    return answer.stop_reason not in ("error", "aborted")


def _thoughts(answer: AssistantMessage) -> list[ThinkingContent]:
    return [block for block in answer.content if isinstance(block, ThinkingContent)]


def _is_in(text: str, value: str | None) -> bool:
    """Return whether a text names an id, alone or as a part of a longer value such as a stored reasoning item."""
    if not value:
        return False
    ids = re.findall(r"\b(?:rs|msg|fc|call|toolu|tooluse|chatcmpl)[_-][\w-]+", text)
    return any(each in value for each in ids) or (len(value) > 5 and value in text)  # noqa: PLR2004 - not "1" or "a"
