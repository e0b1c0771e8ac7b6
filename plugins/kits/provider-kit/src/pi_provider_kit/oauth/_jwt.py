"""What a JSON web token says of itself. It came from the server that made it; its signature is not ours to check."""

from __future__ import annotations

from typing import Any

__all__ = ["jwt_payload"]


def jwt_payload(token: str) -> dict[str, Any]:
    """Return the claims of a token.

    Raises:
        ValueError: It is no JSON web token; the message does not repeat it.
    """
    import base64
    import json

    message = "not a JSON web token"
    try:
        _, body, _ = token.split(".")
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except ValueError:
        raise ValueError(message) from None
    if not isinstance(claims, dict):
        raise ValueError(message)  # noqa: TRY004 - a wrong value, as above: the token is text either way
    return claims
