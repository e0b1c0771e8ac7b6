"""Adds the provider `gitlab-duo`: models behind a known API, with a custom login."""

from typing import Any

from pi_hookspecs import PiAPI, hookimpl, now_ms
from pi_provider_kit import Http
from pi_provider_kit.oauth import token_request

PROVIDER = {
    "name": "GitLab Duo",
    "baseUrl": "https://cloud.gitlab.com/ai/v1/proxy/anthropic",
    "api": "anthropic-messages",
    "authHeader": True,
    "models": [
        {
            "id": "claude-sonnet-4-5",
            "name": "Claude Sonnet 4.5 (GitLab Duo)",
            "input": ["text", "image"],
            "contextWindow": 200000,
            "maxTokens": 16384,
        }
    ],
}
LIFETIME_MS = 25 * 60_000
"""GitLab's tokens for its AI gateway are good for half an hour."""


class GitLabLogin:
    """Exchanges a permanent personal access token for short-lived tokens of the AI gateway. Implements ``Login``."""

    name = "gitlab-duo"

    def __init__(self) -> None:
        self._http = Http()

    async def login(self, ui: Any) -> dict[str, Any]:
        """Ask for the token, and store it if GitLab takes it."""
        host = await ui.input("GitLab host", "https://gitlab.com") or "https://gitlab.com"
        token = await ui.input("Personal access token with the scope ai_features")
        return await self.refresh({"refresh": (token or "").strip(), "host": host.rstrip("/")})

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Ask for another short token, and for the headers that belong to it."""
        url = f"{credential['host']}/api/v4/ai/third_party_agents/direct_access"
        answer = await token_request(self._http, url, {}, headers={"private-token": credential["refresh"]})
        fresh = {"access": answer["token"], "headers": answer.get("headers", {}), "expires": now_ms() + LIFETIME_MS}
        return {**credential, **fresh}

    def api_key(self, credential: dict[str, Any]) -> str:
        """The short token."""
        return str(credential["access"])

    def headers(self, credential: dict[str, Any]) -> dict[str, str]:
        """Who the user is to the gateway."""
        return dict(credential["headers"])


@hookimpl
def activate(pi: PiAPI) -> None:
    pi.register_provider("gitlab-duo", PROVIDER, login=GitLabLogin())
