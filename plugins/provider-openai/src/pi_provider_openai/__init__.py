"""Speaks to OpenAI, Azure OpenAI, the ChatGPT backend and every host that is compatible with Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import CredentialSource, Provider
    from pi_provider_openai._local import discover_local_models

__all__ = ["discover_local_models", "register_credentials", "register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Answer for the API ids of Chat Completions, Responses, Azure and Codex."""
    from pi_provider_openai._providers import AzureResponses, CodexResponses, Completions, Responses

    return [Completions(), Responses(), AzureResponses(), CodexResponses()]


@hookimpl
def register_credentials() -> Sequence[CredentialSource]:
    """Answer with an Entra token for Azure where no key is configured."""
    from pi_provider_openai._entra import EntraToken

    return [EntraToken()]


def __getattr__(name: str) -> Any:
    if name == "discover_local_models":  # it is wanted long after registration, if at all
        from pi_provider_openai._local import discover_local_models

        return discover_local_models
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
