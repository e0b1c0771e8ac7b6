"""Login with a ChatGPT plan, in a browser or with a variant of device codes that ends as the browser flow does."""

from __future__ import annotations

from typing import Any

from pi_hookspecs.errors import RequestFailed, UserError
from pi_provider_kit import Http
from pi_provider_kit.oauth import DeviceCode, TokenRefused, endpoint, poll_device, show_code, token_request

__all__ = ["CodexLogin", "code_of_device"]

CODE_URL = "https://auth.openai.com/api/accounts/deviceauth/usercode"
POLL_URL = "https://auth.openai.com/api/accounts/deviceauth/token"
PAGE = "https://auth.openai.com/codex/device"
REDIRECT_URI = "https://auth.openai.com/deviceauth/callback"

_NOT_YET = (403, 404)
"""Statuses while the user has not entered the code."""


async def code_of_device(http: Http, ui: Any, provider: str, client_id: str) -> dict[str, str]:
    """Show a code, wait until it was entered, and return what to exchange: code, verifier and redirect URI.

    Raises:
        UserError: The account does not allow it, or the code expired.
        RequestFailed: The server refused, or could not be reached.
    """
    device = await _device(http, provider, client_id)
    show_code(ui, provider, device)
    asked = {"device_auth_id": device.device_code, "user_code": device.user_code}

    async def ask() -> dict[str, Any]:
        try:
            return await token_request(http, endpoint(provider, POLL_URL), asked)
        except TokenRefused as refused:
            if refused.status not in _NOT_YET or refused.error in ("access_denied", "expired_token"):
                raise
            raise TokenRefused(str(refused), error="authorization_pending", status=refused.status) from None

    answer = await poll_device(ask, device, provider=provider)
    code, verifier = answer.get("authorization_code"), answer.get("code_verifier")
    if not (isinstance(code, str) and code and isinstance(verifier, str) and verifier):
        raise RequestFailed("The login server's answer has no usable 'authorization_code'")
    return {"code": code, "code_verifier": verifier, "redirect_uri": REDIRECT_URI}


async def _device(http: Http, provider: str, client_id: str) -> DeviceCode:
    try:
        answer = await token_request(http, endpoint(provider, CODE_URL), {"client_id": client_id})
    except TokenRefused as refused:
        if refused.status not in _NOT_YET:
            raise
        message = (
            f"ChatGPT does not let this account sign in with a code ({refused}). Allow it in ChatGPT's security"
            f" settings, or run pi auth login {provider} where there is a browser."
        )
        raise UserError(message) from refused
    return DeviceCode.of(
        {
            **answer,
            "device_code": answer.get("device_auth_id"),
            "user_code": answer.get("user_code") or answer.get("usercode"),
            "verification_uri": endpoint(provider, PAGE),
        }
    )


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
