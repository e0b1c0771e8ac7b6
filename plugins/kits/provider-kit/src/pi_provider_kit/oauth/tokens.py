"""Requests to an authorization server: with a deadline, and errors without secrets."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import now_ms
from pi_provider_kit.failure import HttpFailed, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_provider_kit.http_client import Http

__all__ = ["EXPIRY_MARGIN_MS", "TokenRefused", "credential_of", "token_request"]

EXPIRY_MARGIN_MS = 5 * 60 * 1000
"""Time before its expiry at which a token counts as expired."""

_SECONDS = 30.0
"""Deadline of a request; a token refresh holds a lock that other processes wait for."""

_SKEW_SECONDS = 300.0
"""A larger difference to the server's clock is reported: it may be why a token is rejected."""

_LONGEST_TEXT = 400
"""Characters of a server's description in a message."""

_MOST_SECONDS = 10**12
"""A longer, or infinite, lifetime is invalid."""

_PUBLIC = ("client_id", "grant_type", "redirect_uri", "scope", "response_type")
"""Fields of a request that a message may quote."""


class TokenRefused(HttpFailed):
    """An authorization server rejected a request.

    Attributes:
        error: Its code, such as ``invalid_grant`` or ``authorization_pending``; empty if it gave none.
        answer: Its whole response.
    """

    def __init__(self, message: str, *, error: str = "", answer: Mapping[str, Any] | None = None, **known: Any) -> None:
        super().__init__(message, kind="status", **known)
        self.error = error
        self.answer = dict(answer or {})


async def token_request(
    http: Http,
    url: str,
    fields: Mapping[str, Any] | None = None,
    *,
    form: bool = False,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Send a request and return the JSON object of the response.

    Args:
        http: The login's HTTP client.
        url: The endpoint.
        fields: The body, sent as JSON, or as a form; None makes it a GET without a body.
        form: Send the fields as a form, as specified in RFC 6749.
        headers: In addition to those that the kit sets.

    Raises:
        TokenRefused: The server rejected it, with any status: some send 200.
        RequestFailed: It could not be reached, or its response is invalid.
    """
    from urllib.parse import urlencode

    from pi_provider_kit.request import HttpRequest, Timeouts, fetch_json

    sent = dict(headers or {})
    body: Any = None if fields is None else dict(fields)
    if form and fields is not None:
        sent["content-type"] = "application/x-www-form-urlencoded"
        body = urlencode(fields).encode()
    request = HttpRequest(url=url, body=body, headers=sent, method="GET" if fields is None else "POST")
    clock = _Clock()
    secrets = [str(value) for name, value in (fields or {}).items() if name not in _PUBLIC]
    try:
        async with asyncio.timeout(_SECONDS):
            options = clock.options()
            answer = await fetch_json(http, request, options, timeouts=Timeouts(first_byte=_SECONDS, idle=_SECONDS))
    except TimeoutError:
        message = f"The login server at {_host(url)} did not answer completely within {_SECONDS:g} s. Try again later"
        raise HttpFailed(message, kind="timeout") from None
    except HttpFailed as failure:
        if failure.kind == "unexpected":  # the body may be a token in another format, so it is not in the message
            raise _odd(url, failure.status) from None
        if failure.kind != "status":
            raise
        # Not chained: the original may repeat a code or a token that was sent.
        raise _refused(failure.status, _parsed(failure.body), failure.body, secrets, clock.note()) from None
    if not isinstance(answer, dict):
        raise _odd(url, None)
    if answer.get("error"):
        raise _refused(None, answer, "", secrets, clock.note())
    return answer


def credential_of(answer: Mapping[str, Any], *, margin_ms: int = EXPIRY_MARGIN_MS) -> dict[str, Any]:
    """Return the credential to store for a token endpoint's response.

    ``expires`` is relative to this computer's clock, so that a wrong clock does no harm. A refresh response without a
    new refresh token keeps the old one: the field is then missing.

    Raises:
        RequestFailed: The response lacks a token or its lifetime; no value of it is in the message.
    """
    access, seconds = answer.get("access_token"), answer.get("expires_in")
    if isinstance(seconds, str) and seconds.isdecimal() and len(seconds) < len(str(_MOST_SECONDS)):
        seconds = int(seconds)
    for name, fits in (
        ("access_token", isinstance(access, str) and bool(access)),
        ("expires_in", isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds < _MOST_SECONDS),
    ):
        if not fits:
            message = (
                f"The login server's answer has no usable {name!r} (it has {', '.join(sorted(answer)) or 'nothing'})"
            )
            raise HttpFailed(message, kind="unexpected")
    credential = {"type": "oauth", "access": access, "expires": now_ms() + int(float(seconds or 0) * 1000) - margin_ms}
    refresh = answer.get("refresh_token")
    if isinstance(refresh, str) and refresh:
        credential["refresh"] = refresh
    return credential


class _Clock:
    """Compares this computer's clock with the one of the server that answers."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def options(self) -> Any:
        from pi_hookspecs.provider import StreamOptions

        return StreamOptions(on_response=self._look)

    def note(self) -> str:
        """Return a note on the difference; empty if it is small."""
        if abs(self._ahead) <= _SKEW_SECONDS:
            return ""
        where = "ahead of" if self._ahead > 0 else "behind"
        minutes = round(abs(self._ahead) / 60)
        return f" (this computer's clock is {minutes} minutes {where} the server's: correct it and try again)"

    async def _look(self, _status: int, headers: Mapping[str, str]) -> None:
        import time
        from email.utils import parsedate_to_datetime

        try:
            self._ahead = time.time() - parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError):
            return


def _refused(status: int | None, answer: Mapping[str, Any], body: str, secrets: list[str], note: str) -> TokenRefused:
    """Return the error with the server's text: OAuth's two fields, or an API's error object."""
    reported = answer.get("error")
    nested = reported if isinstance(reported, dict) else {}
    error = reported if isinstance(reported, str) else str(nested.get("code") or nested.get("type") or "")
    description = answer.get("error_description") or nested.get("message") or answer.get("message") or ""
    words = ": ".join(part for part in (error, str(description)) if part) or body or "no body"
    words = " ".join(redact(words, secrets).split())[:_LONGEST_TEXT].rstrip(". ")
    text = f"{status} {words}" if status is not None else words
    return TokenRefused(f"{text}{note}", error=error, answer=answer, status=status)


def _odd(url: str, status: int | None) -> HttpFailed:
    message = (
        f"The login server at {_host(url)} answered with something that is not a JSON object."
        " Check that no proxy, and no sign-in page of the network, is in between"
    )
    return HttpFailed(message, kind="unexpected", status=status)


def _parsed(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).netloc.rpartition("@")[2]
