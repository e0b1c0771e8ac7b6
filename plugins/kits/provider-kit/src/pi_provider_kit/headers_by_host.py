"""Headers by which a host of many vendors' models bills and routes a request, whichever API the model speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.content import ImageContent
from pi_provider_kit.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions

__all__ = ["host_headers"]


def host_headers(model: Model, messages: Sequence[Message], options: StreamOptions) -> dict[str, str]:
    """Return the headers that the model's host expects of every request; empty for most hosts.

    GitHub Copilot bills a request that a person started, and not those that follow from its tools: it is told which
    this is, and whether there are images. OpenCode routes the requests of a session to the same place.

    Args:
        model: Its provider and address name the host.
        messages: The conversation as it is sent.
        options: Their ``session_id``.
    """
    if model.provider == "github-copilot":
        return _copilot(messages)
    if options.session_id and _is_opencode(model):
        return {"x-opencode-session": options.session_id}
    return {}


def _copilot(messages: Sequence[Message]) -> dict[str, str]:
    asked = not messages or messages[-1].role == "user"
    headers = {"x-initiator": "user" if asked else "agent", "openai-intent": "conversation-edits"}
    if any(isinstance(block, ImageContent) for message in messages for block in message.content):
        headers["copilot-vision-request"] = "true"
    return headers


def _is_opencode(model: Model) -> bool:
    return model.provider in ("opencode", "opencode-go") or f".{host_of(model.base_url)}".endswith(".opencode.ai")
