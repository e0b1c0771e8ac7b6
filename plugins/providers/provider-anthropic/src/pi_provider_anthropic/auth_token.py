"""The variable ``ANTHROPIC_AUTH_TOKEN``: a token that is sent as bearer, regardless of its format."""

from __future__ import annotations

import os

__all__ = ["AuthToken", "auth_token"]


class AuthToken:
    """Provides the token for provider ``anthropic`` where there is neither a login nor a key.

    The vendor's own client has the same order: ``ANTHROPIC_API_KEY`` takes precedence over the token.
    """

    name = "anthropic"

    def available(self, provider: str) -> bool:
        """Whether the variable is set."""
        return provider == self.name and auth_token() is not None

    async def credential(self, provider: str) -> str | None:
        """Return the token, None if there is none."""
        return auth_token() if provider == self.name else None


def auth_token() -> str | None:
    """Return the token of the environment; a key that equals it is sent as bearer."""
    return os.environ.get("ANTHROPIC_AUTH_TOKEN", "").strip() or None
