"""Answers for the API id ``anthropic-messages``: Claude, and every host that speaks Anthropic's Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Provider

__all__ = ["register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Answer for the API id ``anthropic-messages``."""
    from pi_provider_anthropic._provider import AnthropicMessages

    return [AnthropicMessages()]
