"""Login with a ChatGPT plan."""

from __future__ import annotations

from typing import Any

from pi_provider_kit import Http

__all__ = ["CodexLogin"]

CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann"
AUTHORIZE_URL = "https://auth.openai.com/oauth/authorize"
TOKEN_URL = "https://auth.openai.com/oauth/token"  # noqa: S105 - an address
SCOPE = "openid profile email offline_access"
CALLBACK_PORT = 1455
CALLBACK_PATH = "/auth/callback"
WAYS = ("Enter a code on another screen", "Paste the address at which a browser ends up")
"""Choices where pi cannot open pages."""


class CodexLogin:
    """Implements ``Login`` for provider ``openai-codex``."""

    name = "openai-codex"

    def __init__(self, http: Http | None = None) -> None:
        self._http = http or Http()

    async def login(self, ui: Any) -> dict[str, Any]:
        """Get a code from the callback, the device flow or pasted by the user, and return the credential.

        Raises:
            UserError: The user did not sign in, or did not consent.
            RequestFailed: The code was not exchanged, or the token is for no account.
        """
        from pi_provider_kit.oauth import opens_pages

        # Without dialogs the device code still works: the user can enter it on another computer.
        if not opens_pages(ui) and await ui.select(f"How do you want to sign in to {self.name}?", WAYS) != WAYS[1]:
            from pi_provider_openai.codex_device import code_of_device

            found = await code_of_device(self._http, ui, self.name, CLIENT_ID)
        else:
            found = await self._code_of_browser(ui)
        return await self._credential({"grant_type": "authorization_code", "client_id": CLIENT_ID, **found})

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential.

        Raises:
            RequestFailed: The server refused, or could not be reached.
        """
        fields = {"grant_type": "refresh_token", "refresh_token": credential["refresh"], "client_id": CLIENT_ID}
        return await self._credential(fields)

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return the access token, which names the account, too."""
        return str(credential["access"])

    async def _code_of_browser(self, ui: Any) -> dict[str, str]:
        """Return what to exchange: code, verifier and redirect URI."""
        from pi_provider_kit import oauth

        pkce, state = oauth.Pkce.new(), oauth.new_state()
        port = oauth.callback_port(self.name, CALLBACK_PORT)
        async with oauth.CallbackServer(
            self.name, port, CALLBACK_PATH, state, on_stray=lambda line: ui.notify(line, "warning")
        ) as callback:
            parameters = {
                "response_type": "code",
                "client_id": CLIENT_ID,
                "redirect_uri": callback.redirect_uri,
                "scope": SCOPE,
                "code_challenge": pkce.challenge,
                "code_challenge_method": "S256",
                "state": state,
                "id_token_add_organizations": "true",
                "codex_cli_simplified_flow": "true",
                "originator": "pi",
            }
            url = oauth.authorize_url(oauth.endpoint(self.name, AUTHORIZE_URL), parameters)
            code = await oauth.authorization_code(ui, url, provider=self.name, state=state, callback=callback)
        return {"code": code, "code_verifier": pkce.verifier, "redirect_uri": callback.redirect_uri}

    async def _credential(self, fields: dict[str, str]) -> dict[str, Any]:
        from pi_provider_kit.oauth import credential_of, endpoint, token_request
        from pi_provider_openai.codex import account_of

        answer = await token_request(self._http, endpoint(self.name, TOKEN_URL), fields, form=True)
        credential = credential_of(answer)
        return {**credential, "accountId": account_of(credential["access"])}
