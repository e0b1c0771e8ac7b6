"""Access control for a web server on this computer: a request needs the token, and must come from a local page.

Every user and every web page on the computer can reach a port on 127.0.0.1. The token keeps other users out; checking
the Host and Origin headers keeps out web sites, including sites whose name resolves to this computer (DNS rebinding).
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["LocalGate", "read_token"]

_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names by which a browser on this computer reaches the server; any other name is a web site that impersonates it."""

_COOKIE = "pi_token_"

_MIN_TOKEN = 16
"""Minimum number of characters of a token that cannot easily be guessed."""


class LocalGate:
    """Checks the headers of requests; header names are case-insensitive.

    Args:
        token: The secret that a client must know.
        server: A description of the server, for messages.
        public_url: An address at which a proxy or a tunnel of the user offers the server, too.
    """

    def __init__(self, token: str, server: str = "pi", public_url: str | None = None) -> None:
        self._token = token
        self._server = server
        public = urlsplit(public_url or "")
        self._public_name = public.hostname
        self._public_path = public.path.strip("/")
        self._is_encrypted = public.scheme == "https"

    def foreign(self, headers: Mapping[str, str]) -> str | None:
        """Return why a request may come from another web site; None if it cannot."""
        host, origin = headers.get("Host", ""), headers.get("Origin")
        name = _hostname(host)
        if name is None or name not in (*_NAMES, self._public_name):
            return f"{self._server} is served as 127.0.0.1 and localhost, not as {host!r}\n"
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return f"Pages of {origin!r} may not connect to {self._server}\n"
        return None

    def knows(self, headers: Mapping[str, str], given: str) -> bool:
        """Return whether a request has the token: in its URL, as a bearer token, or in the cookie.

        Args:
            headers: The headers of the request.
            given: The token in its URL; empty if there is none.
        """
        token = given or _bearer(headers)
        tokens = [token] if token else _cookies(headers)
        known = self._token.encode()
        return any(hmac.compare_digest(found.encode(errors="surrogateescape"), known) for found in tokens)

    def is_public(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request came through the proxy or tunnel of the user."""
        return self._public_name is not None and _hostname(headers.get("Host", "")) == self._public_name

    def cookie(self, headers: Mapping[str, str]) -> str:
        """Return the value of ``Set-Cookie`` for the browser that sent a request; pages cannot read it."""
        is_public = self.is_public(headers)
        secure = "; Secure" if is_public and self._is_encrypted else ""
        name = _cookie_name(headers, self._public_path if is_public else "")
        return f"{name}={self._token}; HttpOnly; SameSite=Strict; Path=/{secure}"


def read_token(path: Path) -> str:
    """Return the token stored in a file; create the file if it does not exist.

    Raises:
        UserError: The file cannot be read or created, other users may read it, or the token is too short.
    """
    try:
        with suppress(FileExistsError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as made:
                made.write(f"{secrets.token_urlsafe(32)}\n")
        token = path.read_text(encoding="ascii").strip()
        shared = path.stat().st_mode & 0o077
    except (OSError, UnicodeError) as error:
        raise UserError(f"The token file {str(path)!r} cannot be read or created: {error}") from error
    if shared:
        raise UserError(f"The token file {str(path)!r} is readable by other users. Run: chmod 600 {path}")
    if len(token) < _MIN_TOKEN or not token.isprintable() or any(each in token for each in ' ;,"\\'):
        raise UserError(
            f"The token file {str(path)!r} needs a token of at least {_MIN_TOKEN} letters, digits, '-' or '_'. "
            "Delete the file; a new token is then generated"
        )
    return token


def _hostname(host: str) -> str | None:
    with suppress(ValueError):
        return urlsplit(f"//{host}").hostname
    return None


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _cookies(headers: Mapping[str, str]) -> list[str]:
    """Return the tokens in cookies, those of servers on other ports included: a user's servers may have one token.

    The cookies of other programs on this computer come with them, in any form, also one that ``SimpleCookie`` refuses.
    """
    pairs = (each.strip().partition("=") for each in headers.get("Cookie", "").split(";"))
    return [value for name, _, value in pairs if name.startswith(_COOKIE)]


def _cookie_name(headers: Mapping[str, str], path: str) -> str:
    """Return the name of a server's cookie, which says where it is: browsers send a cookie to every port of a host."""
    port = None
    with suppress(ValueError):
        port = urlsplit(f"//{headers.get('Host', '')}").port
    place = "".join(each if each.isalnum() else "_" for each in path if each.isascii())
    return f"{_COOKIE}{port or 80}{f'_{place}' if place else ''}"
