"""Conversion of a conversation to the messages that a model reads.

Converting never raises, whatever a conversation contains: a loop that cannot build its next request has nowhere to
report the error.
"""

from __future__ import annotations

from itertools import compress, count
from operator import not_
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.content import ImageContent, TextContent
from pi_hookspecs.messages import AssistantMessage, SystemMessage, ToolResultMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.messages import Message
    from pi_hookspecs.provider import Context
    from pi_hookspecs.rare_messages import AgentMessage, BashExecutionMessage

__all__ = ["bash_execution_text", "convert_to_llm", "default_convert_to_llm", "without_images"]

_FOR_THE_MODEL = (UserMessage, AssistantMessage, ToolResultMessage, SystemMessage)

_CLASSES = frozenset(_FOR_THE_MODEL)

_NO_IMAGE = TextContent("(image omitted: the setting images.blockImages keeps images from models)")

_BRANCH_SUMMARY = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}</summary>"
)
_COMPACTION_SUMMARY = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)


def convert_to_llm(messages: Iterable[AgentMessage]) -> list[Message]:
    """Return the messages for a provider, in order, without messages that are excluded from the context.

    The user's commands, plugins' messages and summaries become user messages; messages of an unknown role are
    dropped.
    """
    sent: list[Any] = [*messages]
    known = map(_CLASSES.__contains__, map(type, sent))  # no Python code for each message, of which there are thousands
    others = [*compress(count(), map(not_, known))]
    for index in reversed(others):
        message = sent[index] if isinstance(sent[index], _FOR_THE_MODEL) else _converted(sent[index])
        sent[index : index + 1] = [] if message is None else [message]
    return sent


def default_convert_to_llm(messages: Iterable[AgentMessage]) -> list[Message]:
    """Return user, assistant, tool result and system messages unchanged and drop all others.

    This is the default for an agent without a session.
    """
    return [message for message in messages if isinstance(message, _FOR_THE_MODEL)]


def without_images(context: Context) -> Context:
    """Return the context with images replaced by a line of text, for the setting ``images.blockImages``."""
    return evolve(context, messages=tuple(map(_imageless, context.messages)))


def bash_execution_text(message: BashExecutionMessage) -> str:
    """Return a command that the user ran as text for the model: command, output, exit status and truncation."""
    parts = [f"Ran `{message.command}`\n" + (f"```\n{message.output}\n```" if message.output else "(no output)")]
    if message.cancelled:
        parts.append("(command cancelled)")
    elif message.exit_code:
        parts.append(f"Command exited with code {message.exit_code}")
    if message.truncated:
        rest = f" Full output: {message.full_output_path}" if message.full_output_path else ""
        parts.append(f"[Output truncated.{rest}]")
    return "\n\n".join(parts)


def _imageless(message: Message) -> Message:
    if not isinstance(message, UserMessage | ToolResultMessage) or isinstance(message.content, str):
        return message
    if not any(isinstance(block, ImageContent) for block in message.content):
        return message
    content: list[Any] = []
    for block in message.content:
        kept = _NO_IMAGE if isinstance(block, ImageContent) else block
        if kept is not _NO_IMAGE or content[-1:] != [_NO_IMAGE]:  # one line for consecutive images
            content.append(kept)
    return evolve(message, content=tuple(content))


def _converted(message: AgentMessage) -> Message | None:
    from pi_hookspecs.rare_messages import (
        BashExecutionMessage,
        BranchSummaryMessage,
        CompactionSummaryMessage,
        CustomMessage,
    )

    if isinstance(message, BashExecutionMessage):
        return None if message.exclude_from_context else _user(bash_execution_text(message), message.timestamp)
    if isinstance(message, CustomMessage):
        return _user(message.content, message.timestamp)
    if isinstance(message, BranchSummaryMessage):
        return _user(_BRANCH_SUMMARY.format(message.summary), message.timestamp)
    if isinstance(message, CompactionSummaryMessage):
        return _user(_COMPACTION_SUMMARY.format(message.summary), message.timestamp)
    return None


def _user(content: Any, timestamp: int) -> UserMessage:
    """Return a user message. The content of a plugin's message may also be a list, or have any wrong type."""
    if isinstance(content, str):
        content = (TextContent(content),)
    return UserMessage(content=tuple(content) if isinstance(content, list | tuple) else (), timestamp=timestamp)
