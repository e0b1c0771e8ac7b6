"""Overrides of login URLs, for networks in which the public addresses are not reachable.

``PI_OAUTH_URL_<PROVIDER>`` (``PI_OAUTH_URL_GITHUB_COPILOT``) replaces scheme and host of all of a provider's login
URLs: by a gateway that forwards them, or a private server. ``PI_OAUTH_PORT_<PROVIDER>`` is the port of
the browser's callback, where the usual one is taken and that server allows another.
"""

from __future__ import annotations

import os

from pi_hookspecs.errors import UserError

__all__ = ["callback_port", "endpoint"]

_LARGEST_PORT = 65_535

_SHOWN = 60
"""Characters of a variable that an error quotes."""


def endpoint(provider: str, url: str) -> str:
    """Return the URL to use for one of a provider's login URLs.

    Raises:
        UserError: The variable holds no https URL, nor an http URL of this computer.
    """
    name = _variable("URL", provider)
    base = os.environ.get(name, "").strip()
    if not base:
        return url
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port  # reading the port validates it
    except ValueError:
        host = None
    safe = host and (parts.scheme == "https" or (parts.scheme == "http" and host in ("127.0.0.1", "::1", "localhost")))
    if not safe or parts.username is not None or parts.query or parts.fragment:
        message = f"{name} must be an https URL such as 'https://login.example.com': tokens pass through it."
        raise UserError(message)
    return base.rstrip("/") + url[url.index("/", url.index("://") + 3) :]


def callback_port(provider: str, port: int) -> int:
    """Return the port on which a provider's login waits for the browser; 0 is any that is free.

    Raises:
        UserError: The variable is not a port.
    """
    name = _variable("PORT", provider)
    written = os.environ.get(name, "").strip()
    if not written:
        return port
    try:
        chosen = int(written) if written.isascii() and written.isdigit() else -1
    except ValueError:  # thousands of digits
        chosen = -1
    if not 0 <= chosen <= _LARGEST_PORT:
        raise UserError(f"{name} must be a port from 0 to {_LARGEST_PORT}, not {written[:_SHOWN]!r}.")
    return chosen


def _variable(what: str, provider: str) -> str:
    return f"PI_OAUTH_{what}_{provider.upper().replace('-', '_')}"
