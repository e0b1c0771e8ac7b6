"""Signing in to GitHub Copilot with a code, and its short-lived tokens."""

from __future__ import annotations

from typing import Any

from pi_hookspecs.errors import UserError
from pi_provider_kit import Http

__all__ = ["CopilotLogin"]

CLIENT_ID = "Iv1.b507a08c87ecfe98"
SCOPE = "read:user"
GITHUB = "github.com"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"

_EDITOR_HEADERS = {
    "user-agent": "GitHubCopilotChat/0.35.0",
    "editor-version": "vscode/1.107.0",
    "editor-plugin-version": "copilot-chat/0.35.0",
    "copilot-integration-id": "vscode-chat",
}
"""Identity of this client for Copilot's servers; requests to models have the same headers, from the model tables."""


class CopilotLogin:
    """Implements ``Login`` for provider ``github-copilot``.

    ``refresh`` of the credential is GitHub's long-lived token; ``access`` is Copilot's, valid for half an hour;
    ``enterpriseUrl`` is the host of a GitHub Enterprise, where it is one.
    """

    name = "github-copilot"

    def __init__(self, http: Http | None = None) -> None:
        self._http = http or Http()

    async def login(self, ui: Any) -> dict[str, Any]:
        """Show a code to enter at GitHub, wait until that was done, and return the credential.

        Raises:
            UserError: The user did not consent, the code expired, or the account has no Copilot.
            RequestFailed: GitHub refused, or could not be reached.
        """
        from pi_provider_copilot.models import enable_models

        title = "GitHub Enterprise host, empty for github.com"
        host = enterprise_host(await ui.input(title, "company.ghe.com") or "")
        token = await self._github_token(ui, host or GITHUB)
        stored = {"refresh": token, **({"enterpriseUrl": host} if host else {})}
        credential = {**stored, **await self.refresh(stored)}
        await enable_models(self._http, ui, self.base_url(credential, ""), credential["access"], _EDITOR_HEADERS)
        return credential

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return the credential with a fresh token of Copilot.

        Raises:
            UserError: The account has no Copilot.
            RequestFailed: GitHub refused, or could not be reached.
        """
        from pi_provider_copilot.tokens import copilot_token

        host = credential.get("enterpriseUrl") or GITHUB
        return await copilot_token(self._http, host, credential["refresh"], _EDITOR_HEADERS)

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return Copilot's token."""
        return str(credential["access"])

    def base_url(self, credential: dict[str, Any], base_url: str) -> str:
        """Return the host that the token names, or the enterprise's; a base URL that the user set is kept."""
        from pi_provider_copilot.tokens import host_of

        if base_url and not base_url.rstrip("/").endswith(".githubcopilot.com"):
            return base_url
        return f"https://{host_of(credential)}"

    async def _github_token(self, ui: Any, host: str) -> str:
        from pi_hookspecs.errors import RequestFailed
        from pi_provider_kit.oauth import DeviceCode, endpoint, poll_device, show_code, token_request

        asked = {"client_id": CLIENT_ID, "scope": SCOPE}
        url = endpoint(self.name, f"https://{host}/login/device/code")
        headers = {"user-agent": _EDITOR_HEADERS["user-agent"]}
        code = DeviceCode.of(await token_request(self._http, url, asked, form=True, headers=headers))
        show_code(ui, self.name, code)
        fields = {"client_id": CLIENT_ID, "device_code": code.device_code, "grant_type": GRANT}
        url = endpoint(self.name, f"https://{host}/login/oauth/access_token")

        async def ask() -> dict[str, Any]:
            return await token_request(self._http, url, fields, form=True, headers=headers)

        answer = await poll_device(ask, code, provider=self.name)
        token = answer.get("access_token")
        if not isinstance(token, str) or not token:
            raise RequestFailed("GitHub's answer has no usable 'access_token'")
        return token


def enterprise_host(text: str) -> str | None:
    """Return the host that a user wrote, as a name or a URL; None for github.com itself.

    Raises:
        UserError: It is not a host name.
    """
    from urllib.parse import urlsplit

    text = text.strip()
    if not text:
        return None
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        host = ""
    if not host.isascii() or not all(part and part.replace("-", "").isalnum() for part in host.split(".")):
        message = f"{text!r} is not a host of a GitHub Enterprise. Enter a name such as 'company.ghe.com'."
        raise UserError(message)
    return None if host in (GITHUB, f"www.{GITHUB}") else host
