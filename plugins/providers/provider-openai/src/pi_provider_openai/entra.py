"""Tokens of Entra for Azure: of a managed identity, a signed-in developer, a service principal."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from pi_hookspecs.errors import UserError

__all__ = ["SCOPE", "EntraToken", "entra_token"]

SCOPE = "https://cognitiveservices.azure.com/.default"

_WHERE = ("AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME")


class EntraToken:
    """Credential source of provider ``azure-openai-responses`` for users without a key.

    ``AZURE_OPENAI_AD_TOKEN`` is used directly. Else the package azure-identity is used, if it is installed and a
    resource is configured: the search for a managed identity takes seconds on a machine without one.
    """

    name = "azure-openai-responses"

    def available(self, provider: str) -> bool:
        """Whether there is a token, or may be one; none is requested, and azure-identity is not imported."""
        if provider != self.name:
            return False
        return _own_token() is not None or (_is_named() and _identity_is_installed())

    async def credential(self, provider: str) -> str | None:
        """Return a valid token, None if there is none.

        Raises:
            UserError: azure-identity is installed and got no token.
        """
        if provider != self.name:
            return None
        if token := _own_token():
            return token
        if not _is_named() or _identity() is None:
            return None
        return await entra_token()


async def entra_token() -> str:
    """Return a token for Azure's models; azure-identity caches it until it expires.

    Raises:
        UserError: The package is not installed, or got no token.
    """
    identity = _identity()
    if identity is None:
        message = (
            "An Entra token needs the package azure-identity."
            " Install pluggypi-provider-openai[entra], or set AZURE_OPENAI_API_KEY."
        )
        raise UserError(message)
    try:
        token = await asyncio.to_thread(_credential(identity).get_token, SCOPE)
    except Exception as error:  # its errors come from several packages
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        message = f"No Entra token for Azure OpenAI: {reason} Sign in with `az login`, or set AZURE_OPENAI_API_KEY."
        raise UserError(message) from error
    return str(token.token)


def _own_token() -> str | None:
    return os.environ.get("AZURE_OPENAI_AD_TOKEN", "").strip() or None


def _is_named() -> bool:
    return any(os.environ.get(name) for name in _WHERE)


def _identity_is_installed() -> bool:
    from importlib.util import find_spec

    try:
        return find_spec("azure.identity") is not None
    except (ImportError, ValueError):  # no package azure; a module that was put there by hand
        return False


_credentials: dict[Any, Any] = {}
"""The credential by the module that made it: it caches the tokens."""


def _credential(identity: Any) -> Any:
    if identity not in _credentials:
        _credentials[identity] = identity.DefaultAzureCredential()
    return _credentials[identity]


def _identity() -> Any:
    """Return the module azure.identity, None if it is not installed."""
    from importlib import import_module

    try:
        return import_module("azure.identity")
    except ImportError:
        return None
