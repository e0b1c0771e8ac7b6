"""Parses what a user pastes when the redirect fails: a code, ``code#state``, or the URL of the redirect."""

from __future__ import annotations

import re
import secrets

from pi_hookspecs.errors import UserError

__all__ = ["pasted_code"]

_QUERY = re.compile(r"(?:(?<=[?#&])|^)(?:code|error|state)=.*", re.DOTALL)
"""Start of the query or fragment that a server adds to a URL."""

_LONGEST = 8192
"""Maximum characters of a code; longer text is something else from the clipboard."""

_EXCERPT = 120
"""Characters of a server's text in a message."""


def pasted_code(text: str, state: str, *, provider: str) -> str:
    """Return the code in the pasted text. A bare code is accepted as one of this login.

    Args:
        text: The pasted text.
        state: The ``state`` of this login's request.
        provider: Provider of the login, for messages.

    Raises:
        UserError: There is no code in it, it belongs to another login, or it reports denied consent. The
            pasted text is not in the message.
    """
    from urllib.parse import parse_qs

    text = text.strip().strip("\"'<>")
    query = _QUERY.search(text)
    if query is not None:
        values = parse_qs(query[0].replace("#", "&"))
        if "error" in values:
            raise denied(provider, values["error"][0], values.get("error_description", [""])[0])
        code, found = values.get("code", [""])[0], values.get("state", [""])[0]
    else:
        code, _, found = ("", "", "") if "://" in text else text.partition("#")
    if found and not same_state(found, state):
        message = (
            "What was pasted belongs to another login: its state is not the one that was sent."
            f" Use the page that was opened last, or run pi auth login {provider} again."
        )
        raise UserError(message)
    if not code or len(code) > _LONGEST or not (code.isascii() and code.isprintable()) or " " in code:
        message = "There is no code in what was pasted. Paste the code, or the whole address of the page it is on."
        raise UserError(message)
    return code


def denied(provider: str, error: str, description: str) -> UserError:
    """Return the error of a login that was refused in the browser; the server's text is shortened to a line."""
    words = " ".join(f"{error}: {description}".rstrip(": ").split())[:_EXCERPT]
    what = "Consent was denied" if error == "access_denied" else "The login was refused"
    return UserError(f"{what} in the browser ({words}). Run pi auth login {provider} again to sign in.")


def same_state(one: str, other: str) -> bool:
    """Compare two states in constant time."""
    return secrets.compare_digest(one.encode("utf-8", "replace"), other.encode())
