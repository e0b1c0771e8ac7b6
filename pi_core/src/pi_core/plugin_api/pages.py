"""Validation of URLs that plugins open in the user's browser."""

from __future__ import annotations

from urllib.parse import urlsplit

from pi_hookspecs import UserError

__all__ = ["checked_url"]

_SCHEMES = ("https", "http", "mailto")
"""Schemes that open a page or a new e-mail; other schemes may run programs or read files."""


def checked_url(url: str) -> str:
    """Return a URL if it may be opened.

    Raises:
        UserError: The URL has another scheme, no host, or characters that are not valid in a URL.
    """
    problem = _problem(url)
    if problem is not None:
        raise UserError(f"{url!r:.200} cannot be opened: {problem}. Give an address with https, http or mailto")
    return url


def _problem(url: str) -> str | None:
    if not url.isascii() or not url.isprintable() or " " in url:
        return "it has characters that must be escaped"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return str(error)
    if parts.scheme not in _SCHEMES:
        return f"its scheme is {parts.scheme!r}"
    if parts.scheme == "mailto":
        return None if parts.path else "it names no recipient"
    return None if parts.hostname else "it names no host"
