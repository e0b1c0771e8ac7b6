"""Implements Google's APIs: the Gemini API, Vertex AI and Cloud Code Assist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import CredentialSource, Login, Provider

__all__ = ["register_credentials", "register_logins", "register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API ids of the Gemini API, its images, Vertex AI and Cloud Code Assist."""
    from pi_provider_google.providers import CodeAssist, GenerativeAI, GenerativeImages, Vertex

    return [GenerativeAI(), GenerativeImages(), Vertex(), CodeAssist()]


@hookimpl
def register_credentials() -> Sequence[CredentialSource]:
    """Provide Google's application default credentials for Vertex AI where no key is configured."""
    from pi_provider_google.adc import AmbientCredentials

    return [AmbientCredentials()]


@hookimpl
def register_logins() -> Sequence[Login]:
    """Add the login of Cloud Code Assist with a Google account."""
    from pi_provider_google.login import AntigravityLogin, GeminiLogin

    return [GeminiLogin(), AntigravityLogin()]
