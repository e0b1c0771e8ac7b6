"""Login to Cloud Code Assist with a Google account: as Gemini CLI, or as Antigravity."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_hookspecs.errors import UserError
from pi_provider_kit import Http

if TYPE_CHECKING:
    from pi_provider_kit.oauth import CallbackServer

__all__ = ["AntigravityLogin", "GeminiLogin"]

AUTHORIZE_URL = "https://accounts.google.com/o/oauth2/v2/auth"
TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address

_SCOPE = "https://www.googleapis.com/auth/"
_PERMISSIONS = "https://myaccount.google.com/permissions"


@frozen
class _Client:
    """The OAuth client. Google documents the secret of an installed application as "not treated as a secret"."""

    id: str
    secret: str = field(repr=False)


class _GoogleLogin:
    """Base class of the two logins.

    A credential has ``projectId`` and the tokens. A refresh keeps it and the refresh token.

    Args:
        http: The HTTP client.
        interval: Polling interval in seconds while an account is set up.
    """

    name: str
    port: int
    path: str
    scopes: tuple[str, ...]
    host: str

    def __init__(self, http: Http | None = None, *, interval: float = 5.0) -> None:
        self._http = http or Http()
        self._interval = interval

    def client(self) -> _Client:
        """Return the application.

        Raises:
            UserError: It is not known.
        """
        raise NotImplementedError

    async def login(self, ui: Any) -> dict[str, Any]:
        """Get a code from the callback or pasted by the user, find the project, and return the credential.

        Raises:
            UserError: The user did not sign in, did not consent, or has to name a project.
            RequestFailed: Google refused, or could not be reached.
        """
        from pi_provider_google.projects import find_project
        from pi_provider_kit.oauth import CallbackServer, callback_port, credential_of, new_state

        client, state = self.client(), new_state()
        port = callback_port(self.name, self.port)
        callback = CallbackServer(self.name, port, self.path, state, on_stray=lambda line: ui.notify(line, "warning"))
        async with callback:
            answer = await self._exchanged(ui, client, state, callback)
        credential = credential_of(answer)
        if "refresh" not in credential:
            message = f"Google returned no refresh token. Revoke pi's access at {_PERMISSIONS}, then sign in again."
            raise UserError(message)
        ui.notify("Looking for the project of the account")
        access = credential["access"]
        project = await find_project(self._http, self.name, self.host, access, interval=self._interval)
        return {**credential, "projectId": project}

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential.

        Raises:
            UserError: The application is not known.
            RequestFailed: Google refused, or could not be reached.
        """
        from pi_provider_kit.oauth import credential_of

        client = self.client()
        fields = {"client_id": client.id, "client_secret": client.secret, "grant_type": "refresh_token"}
        return credential_of(await self._tokens({**fields, "refresh_token": credential["refresh"]}))

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return token and project as JSON, which the provider parses."""
        return json.dumps({"token": credential["access"], "projectId": credential.get("projectId", "")})

    async def _exchanged(self, ui: Any, client: _Client, state: str, callback: CallbackServer) -> dict[str, Any]:
        from pi_provider_kit.oauth import Pkce, authorization_code, authorize_url, endpoint

        pkce = Pkce.new()
        parameters = {
            "client_id": client.id,
            "response_type": "code",
            "redirect_uri": callback.redirect_uri,
            "scope": " ".join(f"{_SCOPE}{scope}" for scope in self.scopes),
            "code_challenge": pkce.challenge,
            "code_challenge_method": "S256",
            "state": state,
            "access_type": "offline",
            "prompt": "consent",  # without it Google gives a refresh token only the first time
        }
        url = authorize_url(endpoint(self.name, AUTHORIZE_URL), parameters)
        code = await authorization_code(ui, url, provider=self.name, state=state, callback=callback)
        fields = {
            "client_id": client.id,
            "client_secret": client.secret,
            "code": code,
            "grant_type": "authorization_code",
            "redirect_uri": callback.redirect_uri,
            "code_verifier": pkce.verifier,
        }
        return await self._tokens(fields)

    async def _tokens(self, fields: dict[str, str]) -> dict[str, Any]:
        from pi_provider_kit.oauth import endpoint, token_request

        return await token_request(self._http, endpoint(self.name, TOKEN_URL), fields, form=True)


class GeminiLogin(_GoogleLogin):
    """Implements ``Login`` for provider ``google-gemini-cli``, as the application that Google publishes for it."""

    name = "google-gemini-cli"
    port = 8085
    path = "/oauth2callback"
    scopes = ("cloud-platform", "userinfo.email", "userinfo.profile")
    host = "https://cloudcode-pa.googleapis.com"

    def client(self) -> _Client:
        """See ``_GoogleLogin``."""
        return _Client(
            "681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com",
            # Part of the source of Gemini CLI, which explains it: an installed application cannot keep a secret.
            "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",
        )


class AntigravityLogin(_GoogleLogin):
    """Implements ``Login`` for provider ``google-antigravity``.

    Google publishes no application for it, so that the user configures one: ``GOOGLE_ANTIGRAVITY_CLIENT_ID`` and
    ``GOOGLE_ANTIGRAVITY_CLIENT_SECRET``.
    """

    name = "google-antigravity"
    port = 51121
    path = "/oauth-callback"
    scopes = ("cloud-platform", "userinfo.email", "userinfo.profile", "cclog", "experimentsandconfigs")
    host = "https://cloudcode-pa.googleapis.com"

    def client(self) -> _Client:
        """See ``_GoogleLogin``."""
        names = ("GOOGLE_ANTIGRAVITY_CLIENT_ID", "GOOGLE_ANTIGRAVITY_CLIENT_SECRET")
        client_id, secret = (os.environ.get(name, "").strip() for name in names)
        if not client_id or not secret:
            message = (
                f"Google publishes no OAuth client for Antigravity. Set {names[0]} and {names[1]} to one that may use "
                "it, or sign in to google-gemini-cli."
            )
            raise UserError(message)
        return _Client(client_id, secret)
