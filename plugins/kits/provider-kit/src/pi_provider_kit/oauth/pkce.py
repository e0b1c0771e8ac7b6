"""PKCE: proof that the client that exchanges a code is the one that requested it (RFC 7636)."""

from __future__ import annotations

import secrets
from typing import Self

from attrs import field, frozen

__all__ = ["Pkce", "new_state"]

_BYTES = 32


@frozen(kw_only=True)
class Pkce:
    """A verifier and its challenge.

    Attributes:
        verifier: 32 random bytes, base64url without padding; sent with the code alone.
        challenge: Its SHA-256, base64url without padding; sent with the authorization request as method ``S256``.
    """

    verifier: str = field(repr=False)
    challenge: str

    @classmethod
    def new(cls) -> Self:
        """Return a random pair."""
        import base64
        import hashlib

        verifier = secrets.token_urlsafe(_BYTES)
        digest = hashlib.sha256(verifier.encode()).digest()
        return cls(verifier=verifier, challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode())


def new_state() -> str:
    """Return a random value that ties a callback to its request."""
    return secrets.token_urlsafe(_BYTES)
