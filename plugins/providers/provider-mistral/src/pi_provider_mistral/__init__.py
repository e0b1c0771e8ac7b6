"""Implements the API id ``mistral-conversations``: the models of Mistral, through their own chat API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Provider

__all__ = ["register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API id ``mistral-conversations``."""
    from pi_provider_mistral.provider import MistralConversations

    return [MistralConversations()]
