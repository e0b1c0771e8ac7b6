"""Logins and sources of credentials of providers."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["CredentialSource", "Login"]


@runtime_checkable
class CredentialSource(Protocol):
    """Provides a provider's key or token; asked last, after the configured sources.

    It may also have ``available(provider) -> bool | None``: whether it has a credential, without using the
    network or a command. For None (not known) it is asked when a request is made, and its provider is never selected
    automatically.
    """

    name: str
    """The provider id, or ``*`` for all."""

    async def credential(self, provider: str) -> str | None:
        """Return a key or token that is valid now, or None."""
        ...


@runtime_checkable
class Login(Protocol):
    """Signs in to a provider and keeps its token fresh. Credentials are plain data, as stored in auth.json.

    It may also have ``base_url(credential, base_url) -> str``: the base URL for requests with this credential, given
    that of the model; for vendors whose token contains a host. ``headers(credential) -> dict[str, str]``: additional
    headers of every request. And ``billing``: a sentence about what requests with this login may cost, which front
    ends display.
    """

    name: str
    """The provider id."""

    async def login(self, ui: Any) -> dict[str, Any]:
        """Run the login dialog and return the credential to store.

        Args:
            ui: A ``UserInterface``. Where pi runs on the same computer as the user's browser it also has
                ``open_url(url) -> bool``, which opens a page and returns whether that worked.
        """
        ...

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential for one that has expired."""
        ...

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return the key or token to send to the provider."""
        ...
