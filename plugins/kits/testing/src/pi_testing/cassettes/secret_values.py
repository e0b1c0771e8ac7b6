"""Removes secrets from requests and answers before they are stored.

The same is done to a request before it is compared with a recorded one, so that the keys need not be equal.
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["REMOVED", "Secrets"]

REMOVED = "REMOVED"
"""The placeholder for a secret."""

_HEADER = re.compile(
    r"auth|key|token|secret|cookie|passw|credential|session|signature|organization|account", re.IGNORECASE
)

_QUERY = frozenset(
    [
        "key",
        "apikey",
        "accesstoken",
        "token",
        "code",
        "sig",
        "signature",
        "xamzsignature",
        "xamzcredential",
        "xamzsecuritytoken",
        "secret",
        "state",
    ]
)
"""Parameters of a URL, without dashes and underscores."""

_FIELDS = frozenset(
    [
        "accesstoken",
        "refreshtoken",
        "idtoken",
        "sessiontoken",
        "securitytoken",
        "authtoken",
        "apikey",
        "clientsecret",
        "clientassertion",
        "assertion",
        "devicecode",
        "usercode",
        "codeverifier",
        "password",
        "secretaccesskey",
        "privatekey",
        "authorization",
    ]
)
"""Fields of a body."""

_LOGIN_FIELDS = frozenset(["code", "state", "username", "secret", "token", "subjecttoken", "actortoken"])
"""Further ones where the body is a form or asks for a token; elsewhere they are ordinary words."""

_LONG_TOKEN = re.compile(r"\S{20,}")

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bgh[opsu]_\w{16,}|\bgithub_pat_\w{16,}|\bAIza[\w-]{20,}|\bya29\.[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\beyJ[\w-]{6,}\.eyJ[\w-]{6,}\.[\w-]*"
)
"""Keys and tokens that are recognised by their format, anywhere in a text."""

_QUOTED = re.compile(r'("([A-Za-z_-]{4,24})"\s*:\s*")((?:[^"\\]|\\.)+)"')

_SHORTEST = 12
"""A shorter value that was removed in one place may be an ordinary word in another."""

_SHORTEST_KEY = 6
"""The same for a key that the test names."""

_FAR = 4_102_444_800
"""The year 2100, in seconds: a recorded token must still be good when it is replayed."""


class Secrets:
    """Removes secrets, and remembers those it has found: they are removed from all other places, too."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def know(self, key: str) -> None:
        """Remove this, too: the key of the requests."""
        if len(key) >= _SHORTEST_KEY:
            self._known.add(key)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return headers without values that grant something or identify the account."""
        return {
            name: self._remember(value) if _HEADER.search(name) and not value.isdigit() else value
            for name, value in headers.items()
        }

    def query(self, query: str) -> str:
        """Return the query of a URL."""
        if not query:
            return query
        parts = parse_qsl(query, keep_blank_values=True)
        return urlencode([(name, self._remember(value) if _plain(name) in _QUERY else value) for name, value in parts])

    def form(self, text: str) -> str:
        """Return a body that is a form; only logins have such."""
        secret = _FIELDS | _LOGIN_FIELDS
        parts = parse_qsl(text, keep_blank_values=True)
        return urlencode([(name, self._remember(value) if _plain(name) in secret else value) for name, value in parts])

    def json(self, value: Any) -> Any:
        """Return a body that is JSON; tokens with claims stay readable, and do not expire."""
        if isinstance(value, list):
            return [self.json(each) for each in value]
        if not isinstance(value, dict):
            return self.text(value) if isinstance(value, str) else value
        asks = "grant_type" in value or "code_verifier" in value
        cleaned = {name: self._field(name, each, asks=asks) for name, each in value.items()}
        if REMOVED in cleaned.values():
            _put_off(cleaned)
        return cleaned

    def text(self, text: str) -> str:
        """Return any other text."""
        text = _QUOTED.sub(self._quoted, text)
        text = _SHAPES.sub(lambda found: self._remember(found[0]), text)
        return self.forget(text)

    def forget(self, text: str) -> str:
        """Return a text without the secrets that were met so far."""
        for secret in sorted(self._known, key=len, reverse=True):
            for written in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
                text = text.replace(written, REMOVED)
        return text

    def _field(self, name: str, value: Any, *, asks: bool) -> Any:
        plain = _plain(name)
        if isinstance(value, str) and value:
            is_token = plain == "token" and _LONG_TOKEN.fullmatch(value)
            if plain in _FIELDS or is_token or (asks and plain in _LOGIN_FIELDS):
                return self._remember(value)
        return self.json(value)

    def _quoted(self, found: re.Match[str]) -> str:
        return f'{found[1]}{self._remember(found[3])}"' if _plain(found[2]) in _FIELDS else found[0]

    def _remember(self, secret: str) -> str:
        """Remember a secret and return its replacement: a placeholder, or a token with claims of the same names."""
        bare = secret.removeprefix("Bearer ").removeprefix("bearer ").strip()
        self._known.update(each for each in (secret, bare) if len(each) >= _SHORTEST and each != REMOVED)
        claims = _claims(bare)
        return REMOVED if claims is None else _unsigned(claims)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _claims(token: str) -> dict[str, Any] | None:
    """Return the claims of a JSON web token; None for anything else."""
    parts = token.split(".")
    if len(parts) != 3 or not token.startswith("eyJ"):  # noqa: PLR2004 - head, claims, signature
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return None
    return claims if isinstance(claims, dict) else None


def _unsigned(claims: dict[str, Any]) -> str:
    """Return a token with these claims and nothing in them: providers look for an account or an expiry there."""
    kept = {**_emptied(claims), **({"exp": _FAR} if "exp" in claims else {})}
    parts = (json.dumps(part, separators=(",", ":")).encode() for part in ({"alg": "none"}, kept))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


def _emptied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _emptied(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_emptied(each) for each in value]
    return REMOVED if isinstance(value, str) else value


def _put_off(answer: dict[str, Any]) -> None:
    """Let a token that came with an expiry be good for ever."""
    for name in ("expires_at", "expiresAt"):
        expiry = answer.get(name)
        if isinstance(expiry, int | float):
            answer[name] = _FAR * 1000 if expiry > 10 * _FAR else _FAR
