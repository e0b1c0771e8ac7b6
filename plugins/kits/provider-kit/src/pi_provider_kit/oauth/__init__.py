"""Building blocks of logins: PKCE, the browser's callback, pasted codes, token requests and device codes.

Everything public is importable from here and loaded on first use, as with ``pi_provider_kit`` itself. A login of a
provider is a class with ``login``, ``refresh`` and ``api_key`` (``pi_hookspecs.Login``) over these pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # for type checkers; a test checks that ``_HOMES`` agrees with these imports
    from pi_provider_kit.oauth.authorize import *
    from pi_provider_kit.oauth.callback import *
    from pi_provider_kit.oauth.device import *
    from pi_provider_kit.oauth.endpoints import *
    from pi_provider_kit.oauth.jwt import *
    from pi_provider_kit.oauth.pasted import *
    from pi_provider_kit.oauth.pkce import *
    from pi_provider_kit.oauth.tokens import *

_HOMES: dict[str, str] = {
    "authorize": "authorization_code authorize_url opens_pages show_page",
    "callback": "CallbackServer",
    "device": "DeviceCode poll_device show_code",
    "endpoints": "callback_port endpoint",
    "jwt": "jwt_payload",
    "pasted": "pasted_code",
    "pkce": "Pkce new_state",
    "tokens": "EXPIRY_MARGIN_MS TokenRefused credential_of token_request",
}
"""Module of this package to the public names that live there."""

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - computed, so that a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
