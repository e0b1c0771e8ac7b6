"""The device authorization flow (RFC 8628): shows a user code and polls the server until it was entered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from attrs import field, frozen

from pi_hookspecs.errors import UserError
from pi_provider_kit.failure import HttpFailed
from pi_provider_kit.oauth.authorize import show_page
from pi_provider_kit.oauth.tokens import TokenRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

__all__ = ["DeviceCode", "poll_device", "show_code"]

_INTERVAL = 5.0
"""Default polling interval in seconds, and the increase of "slow down" (RFC 8628, 3.2 and 3.5)."""

_LONGEST_SECONDS = 1800.0
"""Limit on the times that a server may set."""

_TOO_MANY = 429
_SERVER_ERRORS = 500

_PASSING = ("connect", "dns", "dropped", "refused", "stalled", "timeout")
"""Kinds of transient failures."""


@frozen(kw_only=True)
class DeviceCode:
    """A server's device authorization response.

    Attributes:
        device_code: The code to poll with.
        user_code: The code that the user enters.
        verification_uri: The page to enter it on.
        interval: Polling interval in seconds.
        expires_in: Seconds until both codes expire.
    """

    device_code: str = field(repr=False)
    user_code: str
    verification_uri: str
    interval: float = _INTERVAL
    expires_in: float = 900.0

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """Parse a server's response.

        Raises:
            RequestFailed: It lacks a code or the address.
        """
        texts = {name: answer.get(name) for name in ("device_code", "user_code", "verification_uri")}
        missing = [name for name, value in texts.items() if not isinstance(value, str) or not value]
        uri = str(texts["verification_uri"])
        if missing or not uri.startswith(("https://", "http://")):  # it is opened in a browser: no other scheme is safe
            message = f"The login server's answer has no usable {' and '.join(missing) or 'verification_uri'}"
            raise HttpFailed(message, kind="unexpected")
        numbers = {
            name: min(float(value), _LONGEST_SECONDS)
            for name in ("interval", "expires_in")
            if _is_number(value := _number_of(answer.get(name)))
        }
        return cls(**{name: str(value) for name, value in texts.items()}, **numbers)  # type: ignore[arg-type]


def show_code(ui: Any, provider: str, code: DeviceCode) -> None:
    """Show the user the code and the page, and open the page where the front end can."""
    show_page(ui, f"Enter the code {code.user_code} on this page to sign in to {provider}:", code.verification_uri)


async def poll_device(
    ask: Callable[[], Awaitable[dict[str, Any]]],
    code: DeviceCode,
    *,
    provider: str,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> dict[str, Any]:
    """Poll until the user is done and return the server's response.

    Polling continues when the server fails or cannot be reached: the user may be entering the code just now.

    Args:
        ask: Polls once; raises ``TokenRefused`` with RFC 8628's codes while there is no token.
        code: The device authorization response.
        provider: Provider of the login, for messages.
        sleep: Waits so many seconds.

    Raises:
        UserError: The user denied access, or the code expired.
        RequestFailed: The server refused for another reason.
    """
    interval, left = code.interval, code.expires_in
    while left > 0:
        await sleep(min(interval, left))
        left -= max(interval, 0.001)
        try:
            return await ask()
        except TokenRefused as refused:
            if refused.error == "expired_token":
                break
            interval = _next_interval(interval, refused, provider)
        except HttpFailed as failure:
            if failure.kind not in _PASSING:
                raise
    message = f"The code {code.user_code} has expired: it was not entered in time. Run pi auth login {provider} again."
    raise UserError(message)


def _next_interval(interval: float, refused: TokenRefused, provider: str) -> float:
    """Return the delay before the next poll; raise where polling must stop."""
    if refused.error == "slow_down" or refused.status == _TOO_MANY:
        named = _number_of(refused.answer.get("interval"))
        return max(float(named), interval) if _is_number(named) else interval + _INTERVAL
    if refused.error == "access_denied":
        message = f"Consent was denied in the browser. Run pi auth login {provider} again to sign in."
        raise UserError(message) from refused
    if refused.error != "authorization_pending" and (refused.status or 0) < _SERVER_ERRORS:
        raise refused
    return interval


def _number_of(value: object) -> object:
    """Return a number that a server wrote as text, else the value itself."""
    return float(value) if isinstance(value, str) and value.isdecimal() else value


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
