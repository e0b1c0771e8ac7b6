"""Implements the API id ``anthropic-messages``: Claude, and every host of Anthropic's Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import CredentialSource, Login, Provider

__all__ = ["register_credentials", "register_logins", "register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API id ``anthropic-messages``."""
    from pi_provider_anthropic.provider import AnthropicMessages

    return [AnthropicMessages()]


@hookimpl
def register_credentials() -> Sequence[CredentialSource]:
    """Provide the token of ``ANTHROPIC_AUTH_TOKEN`` for provider ``anthropic``."""
    from pi_provider_anthropic.auth_token import AuthToken

    return [AuthToken()]


@hookimpl
def register_logins() -> Sequence[Login]:
    """Add the login of provider ``anthropic`` with a Claude plan."""
    from pi_provider_anthropic.login import AnthropicLogin

    return [AnthropicLogin()]
