"""Copilot's own token: valid for half an hour, exchanged for GitHub's, with the host that it is valid for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed, UserError
from pi_hookspecs.messages import now_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_provider_kit import Http

__all__ = ["copilot_token", "host_of"]

DEFAULT_HOST = "api.individual.githubcopilot.com"

_NOT_ALLOWED = (403, 404)

_MOST_SECONDS = 10**12
"""A longer, or infinite, lifetime is invalid."""

_PROXY_HOST = re.compile(r"(?:^|;)proxy-ep=(?P<host>[A-Za-z0-9.-]+)(?:;|$)")


async def copilot_token(http: Http, host: str, github_token: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Exchange GitHub's token for Copilot's and return the credential with both.

    Raises:
        UserError: The account has no Copilot.
        RequestFailed: GitHub refused, or could not be reached.
    """
    from pi_provider_kit.oauth import TokenRefused, endpoint, token_request

    url = endpoint("github-copilot", f"https://api.{host}/copilot_internal/v2/token")
    try:
        answer = await token_request(http, url, headers={**headers, "authorization": f"Bearer {github_token}"})
    except TokenRefused as refused:
        if refused.status not in _NOT_ALLOWED:
            raise
        message = (
            f"{host} gives this account no token for Copilot ({refused})."
            f" See https://{host}/settings/copilot and check that it has a plan with Copilot"
        )
        raise UserError(message) from refused
    token = answer.get("token")
    if not isinstance(token, str) or not token:
        raise RequestFailed("GitHub's answer has no usable 'token' for Copilot")
    return {"type": "oauth", "refresh": github_token, "access": token, "expires": _expires(answer)}


def host_of(credential: Mapping[str, Any]) -> str:
    """Return the host of requests: the token's own, else the enterprise's, else that of individual plans."""
    found = _PROXY_HOST.search(str(credential.get("access", "")))
    if found:
        return re.sub(r"^proxy\.", "api.", found["host"])
    enterprise = credential.get("enterpriseUrl")
    return f"copilot-api.{enterprise}" if enterprise else DEFAULT_HOST


def _expires(answer: Mapping[str, Any]) -> int:
    """Return when to refresh the token, in milliseconds.

    ``refresh_in`` is relative and so independent of this computer's clock; ``expires_at`` is the
    server's clock, less the margin that all logins have.
    """
    from pi_provider_kit.oauth import EXPIRY_MARGIN_MS

    for name in ("refresh_in", "expires_at"):
        seconds = answer.get(name)
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and abs(seconds) < _MOST_SECONDS:
            return int(seconds * 1000) + (now_ms() if name == "refresh_in" else -EXPIRY_MARGIN_MS)
    raise RequestFailed("GitHub's answer does not say how long the token for Copilot is valid")
