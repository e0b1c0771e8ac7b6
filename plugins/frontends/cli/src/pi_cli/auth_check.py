"""``pi auth check`` and ``print-...``: whether a provider can be used, with which credential, and what to do if not."""

from __future__ import annotations

import json
import os
import sys
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen

from pi_cli.report import print_json, print_lines
from pi_cli.words import one_line
from pi_hookspecs import MissingKey, PiError, RequestFailed, UnknownName, UserError, now_ms

if TYPE_CHECKING:
    from pi_core import ModelRegistry

__all__ = ["Answer", "answer", "check", "print_answer", "print_key"]

_EXIT_CODES = {"ready": 0, "not ready": 1, "invalid": 2}
"""Exit codes of ``pi auth check``."""

_REFUSED = range(400, 500)
_TRY_LATER = (408, 429)


@frozen
class _State:
    """State of a provider's credential, with its message, and the key if it is ready and needs one."""

    name: Literal["ready", "not ready", "invalid"]
    words: str
    key: str | None = field(default=None, repr=False)


async def check(registry: ModelRegistry, provider: str | None, *, as_json: bool = False) -> int:
    """Print the state of a provider, or of all that are configured; return the exit code.

    For all together it is "invalid" if any credential is, else "ready" if any is.

    Raises:
        UnknownName: The provider is not known.
        UserError: auth.json cannot be used.
    """
    stored = registry.auth.providers()
    if registry.auth.problem is not None:
        raise UserError(registry.auth.problem)
    if provider is not None:
        names = [registry.provider(provider).id]
    else:
        keyed = (each for each in registry.get_providers() if not registry.provider(each).keyless)
        names = sorted({*stored, *(each for each in keyed if registry.is_configured(each))})
    if as_json:
        states = [await _state(registry, name) for name in names]
        rows = zip(names, states, strict=True)
        print_json([{"provider": name, "state": state.name, "detail": one_line(state.words)} for name, state in rows])
    else:
        states = [await _print_state(registry, name) for name in names]
        if not states:
            sys.stdout.write("not ready: no provider has a key or a login. Sign in with pi auth login, or set a key.\n")
    if not states:
        return _EXIT_CODES["not ready"]
    codes = [_EXIT_CODES[state.name] for state in states]
    return _EXIT_CODES["invalid"] if _EXIT_CODES["invalid"] in codes else min(codes)


@frozen
class Answer:
    """The state of one provider, in the words of the original.

    Attributes:
        status: As the first line of the output, and for ``Answer.code``.
        provider: The provider, as it was asked for if there is no such provider.
        auth_type: What it is used with, if it is ready.
        reason: Why it is not.
        credentials: The key or token.
    """

    status: Literal["ready", "not_ready", "invalid"]
    provider: str
    auth_type: Literal["api_key", "oauth"] | None = None
    reason: Literal["provider_not_found", "credentials_not_configured", "invalid_state"] | None = None
    credentials: str | None = field(default=None, repr=False)

    @property
    def code(self) -> int:
        """The exit code."""
        return _EXIT_CODES[self.status.replace("_", " ")]


async def answer(registry: ModelRegistry, provider: str, *, refresh: bool) -> Answer:
    """Return whether a provider can be used, as ``pi auth check --provider`` of the original tells programs.

    Args:
        registry: The providers.
        provider: The provider.
        refresh: Whether to renew a login that has expired.
    """
    if registry.auth.problem is not None:
        return Answer("invalid", provider, reason="invalid_state")
    try:
        provider = registry.provider(provider).id
    except UnknownName:
        return Answer("not_ready", provider, reason="provider_not_found")
    login = registry.auth.login_in_use(provider)
    if login is not None and not refresh and _malformed(dict(login), provider) is None:
        return Answer("ready", provider, "oauth", credentials=str(login.get("access") or login.get("access_token")))
    state = await _state(registry, provider)
    if state.name != "ready":
        is_absent = state.name == "not ready"
        reason: Any = "credentials_not_configured" if is_absent else "invalid_state"
        return Answer("not_ready" if is_absent else "invalid", provider, reason=reason)
    return Answer("ready", provider, "oauth" if login is not None else "api_key", credentials=state.key)


def print_answer(found: Answer, *, as_json: bool, credentials: bool) -> int:
    """Print an answer, with the key or token if the user has asked for it; return the exit code."""
    shown = found.credentials if credentials else None
    if as_json:
        fields = {"status": found.status, "provider": found.provider, "authType": found.auth_type}
        fields |= {"reason": found.reason, "credentials": shown}
        sys.stdout.write(json.dumps({key: value for key, value in fields.items() if value is not None}) + "\n")
    else:
        print_lines(shown or found.status)
    return found.code


async def print_key(registry: ModelRegistry, provider: str, *, bearer: bool, min_expiry_ms: int = 0) -> int:
    """Print the key of a provider, or the token of its login; return the exit code.

    Args:
        registry: The providers.
        provider: The provider.
        bearer: Whether to print the token of a login.
        min_expiry_ms: Milliseconds that the token has to be valid; it is renewed if they are fewer.

    Raises:
        UnknownName: The provider is not known.
        UserError: There is no such credential, it is of the other kind, or a new token is not valid long enough.
    """
    info = registry.provider(provider)
    signed_in = registry.auth.login_in_use(info.id) is not None
    if bearer and not signed_in:
        raise UserError(
            f"There is no login for {info.id}, so there is no token. Run pi auth login {info.id}, or see"
            f" pi auth print-api-key {info.id}."
        )
    if signed_in and not bearer:
        raise UserError(f"{info.id} is used with a login, not with a key. See pi auth print-bearer-token {info.id}.")
    key = await registry.get_api_key(info.id, min_validity_ms=min_expiry_ms)
    if key and bearer and (login := registry.auth.login_in_use(info.id)) is not None:
        key = str(login["access"])  # the request's key may contain more: Google's also has the project
        expires = login.get("expires")
        if isinstance(expires, int | float) and expires < now_ms() + min_expiry_ms:
            minutes = max((expires - now_ms()) / 60_000, 0)
            raise UserError(
                f"The new token of {info.id} is valid for only {minutes:.0f} min, which is less than --min-expiry; "
                f"its server decides how long. Give a smaller --min-expiry."
            )
    if not key:
        raise UserError(f"{info.id} has no key: {'it needs none' if info.keyless else 'what is stored is empty'}.")
    print_lines(key)
    return 0


async def _print_state(registry: ModelRegistry, provider: str) -> _State:
    state = await _state(registry, provider)
    print_lines(f"{provider}: {state.name}{': ' if state.name != 'ready' else ' '}{one_line(state.words)}")
    return state


async def _state(registry: ModelRegistry, provider: str) -> _State:
    entry = registry.auth.get(provider)
    problem = _malformed(entry, provider) if entry is not None else None
    if problem is not None:
        return _State("invalid", problem)
    try:
        key = await registry.get_api_key(provider)
    except (MissingKey, UnknownName) as missing:  # a stored key may be for a plugin that is gone
        return _State("not ready", str(missing))
    except PiError as error:
        return _State("invalid" if _is_final(error, entry) else "not ready", str(error))
    if key is None:
        return _State("ready", "(it needs no key)")
    return _State("ready", f"({_origin(registry, provider)})", key) if key else _State("invalid", "The key is empty.")


def _malformed(entry: dict[str, Any], provider: str) -> str | None:
    """Describe what is malformed in a stored entry, without including any of its values."""
    kind = entry.get("type")
    fields = {"api_key": ("key",), "oauth": ("access", "access_token")}.get(str(kind))
    again = f"Run pi auth login {provider} to store another."
    if fields is None:
        return f"auth.json has an entry whose type is {kind!r}, neither 'api_key' nor 'oauth'. {again}"
    if not any(isinstance(entry.get(name), str) and entry[name] for name in fields):
        return f"auth.json has an entry without {fields[0]!r}. {again}"
    return None


def _is_final(error: PiError, entry: dict[str, Any] | None) -> bool:
    """Whether a retry later cannot help: the server refused the login, or the key's command fails."""
    cause = error.__cause__
    if isinstance(cause, RequestFailed):
        return cause.status in _REFUSED and cause.status not in _TRY_LATER
    return cause is not None or (entry or {}).get("type") != "oauth"


def _origin(registry: ModelRegistry, provider: str) -> str:
    """Return the source of the key in use."""
    entry = registry.auth.get(provider)
    if entry is not None and entry.get("type") == "oauth":
        return f"signed in{_lasting(entry.get('expires'))}"
    if entry is not None:
        return "API key in auth.json"
    variables = registry.provider(provider).key_variables
    return next((name for name in variables if os.environ.get(name)), "key of models.json or a plugin")


def _lasting(expires: object) -> str:
    if not isinstance(expires, int | float) or not isfinite(expires):
        return ""
    minutes = int((expires - now_ms()) // 60_000)
    if minutes < 0:
        return ""
    return f", token valid for {minutes} min" if minutes < 120 else f", token valid for {minutes // 60} h"  # noqa: PLR2004
