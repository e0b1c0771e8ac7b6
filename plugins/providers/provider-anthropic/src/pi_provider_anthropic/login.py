"""Login with a Claude plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import Http

if TYPE_CHECKING:
    from pi_provider_kit.oauth import CallbackServer

__all__ = ["AnthropicLogin"]

CLIENT_ID = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"
AUTHORIZE_URL = "https://claude.ai/oauth/authorize"
TOKEN_URL = "https://console.anthropic.com/v1/oauth/token"  # noqa: S105 - an address
CODE_PAGE = "https://console.anthropic.com/oauth/code/callback"
"""Redirect target without a callback server: a page that shows the code to paste."""
SCOPES = "org:create_api_key user:profile user:inference"
CALLBACK_PORT = 53692
CALLBACK_PATH = "/callback"


class AnthropicLogin:
    """Implements ``Login`` for provider ``anthropic``."""

    name = "anthropic"
    billing = (
        "This session uses a sign-in to Anthropic. Requests of programs other than Claude Code may be billed as extra"
        " usage, by the token, and not with the plan. The setting warnings.anthropicExtraUsage turns this notice off."
    )

    def __init__(self, http: Http | None = None) -> None:
        self._http = http or Http()

    async def login(self, ui: Any) -> dict[str, Any]:
        """Get a code from the callback or pasted by the user, and return the credential.

        Raises:
            UserError: The user did not sign in, or did not consent.
            RequestFailed: The code was not exchanged.
        """
        from pi_provider_kit.oauth import CallbackServer, Pkce, callback_port, opens_pages

        pkce = Pkce.new()
        if not opens_pages(ui):
            return await self._sign_in(ui, pkce.verifier, pkce.challenge, None)
        port = callback_port(self.name, CALLBACK_PORT)
        callback = CallbackServer(
            self.name, port, CALLBACK_PATH, pkce.verifier, on_stray=lambda line: ui.notify(line, "warning")
        )
        async with callback:
            return await self._sign_in(ui, pkce.verifier, pkce.challenge, callback)

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential.

        Raises:
            RequestFailed: The server refused, or could not be reached.
        """
        from pi_provider_kit.oauth import credential_of

        fields = {
            "grant_type": "refresh_token",
            "client_id": CLIENT_ID,
            "refresh_token": credential["refresh"],
        }
        return credential_of(await self._tokens(fields))

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return the access token; requests with it use Claude Code's identity."""
        return str(credential["access"])

    async def _sign_in(self, ui: Any, verifier: str, challenge: str, callback: CallbackServer | None) -> dict[str, Any]:
        from pi_provider_kit.oauth import authorization_code, authorize_url, credential_of, endpoint

        comes_back = callback is not None and callback.problem is None
        redirect = callback.redirect_uri if callback is not None and comes_back else CODE_PAGE
        parameters = {
            "code": "true",
            "client_id": CLIENT_ID,
            "response_type": "code",
            "redirect_uri": redirect,
            "scope": SCOPES,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": verifier,  # the server compares the two
        }
        url = authorize_url(endpoint(self.name, AUTHORIZE_URL), parameters)
        code = await authorization_code(ui, url, provider=self.name, state=verifier, callback=callback)
        fields = {
            "grant_type": "authorization_code",
            "client_id": CLIENT_ID,
            "code": code,
            "state": verifier,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        return credential_of(await self._tokens(fields))

    async def _tokens(self, fields: dict[str, str]) -> dict[str, Any]:
        from pi_provider_kit.oauth import endpoint, token_request

        return await token_request(self._http, endpoint(self.name, TOKEN_URL), fields)
