"""Device login to ChatGPT, with a variant of device codes that ends as the browser flow does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed, UserError
from pi_provider_kit.oauth import DeviceCode, TokenRefused, endpoint, poll_device, show_code, token_request

if TYPE_CHECKING:
    from pi_provider_kit import Http

__all__ = ["code_of_device"]

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
