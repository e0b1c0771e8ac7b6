"""Implements the APIs of OpenAI, Azure OpenAI, the ChatGPT backend and hosts compatible with Chat Completions.

The images APIs of OpenAI and OpenRouter, and OpenAI's moderations, are for models that have no conversations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import CredentialSource, Login, Provider

__all__ = ["register_credentials", "register_logins", "register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API ids of Chat Completions, Responses, Azure, Codex, images and moderations."""
    from pi_provider_openai import providers as of

    conversations: list[Provider] = [of.Completions(), of.Responses(), of.AzureResponses(), of.CodexResponses()]
    return [*conversations, of.Images(), of.OpenRouterImages(), of.Moderations()]


@hookimpl
def register_credentials() -> Sequence[CredentialSource]:
    """Provide an Entra token for Azure where no key is configured."""
    from pi_provider_openai.entra import EntraToken

    return [EntraToken()]


@hookimpl
def register_logins() -> Sequence[Login]:
    """Add the login of provider ``openai-codex`` with a ChatGPT plan."""
    from pi_provider_openai.codex_login import CodexLogin

    return [CodexLogin()]
