"""Everything that a request needs besides the model: key, configured headers, base URL with resolved placeholders.

``AuthStorage`` defines the order in which keys are looked up; this module supplies the sources that depend on the
provider: its environment variables, models.json, and the credential sources and logins of plugins.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.agent.safe_text import format_exception, safe_repr
from pi_core.base.configured_values import ConfiguredValues
from pi_hookspecs import MissingKey, UserError
from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pi_core.models.auth_storage import AuthStorage
    from pi_core.models.tables import ModelTables
    from pi_hookspecs import CredentialSource, Login, Model, ProviderInfo

__all__ = ["ModelAuth", "RequestAuth"]

_PLACEHOLDER = r"\{([A-Z][A-Z0-9_]*)\}"
"""``{CLOUDFLARE_ACCOUNT_ID}`` in a base URL: an environment variable."""


_USED = "request"
"""The source of secrets that were used in requests."""


@frozen(kw_only=True, eq=False, repr=False)
class RequestAuth(Value):
    """Key, headers and address of a request to a model.

    Attributes:
        api_key: The key or token; None for a provider that needs none.
        headers: Headers of the login and of models.json; the provider plugin adds the model's own ``headers``.
        base_url: The URL to send the request to.
        transport: The transport that models.json configures, if any.
        env: Variables of the stored key, which count before those of the environment.
    """

    api_key: str | None = field(default=None, repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    base_url: str = ""
    transport: str | None = None
    env: dict[str, str] = field(factory=dict, repr=False)


class ModelAuth:
    """Resolves keys, headers and base URLs.

    Args:
        tables: The providers.
        storage: auth.json, and keys of this process.
        environ: Environment variables.
        warn: Called with each warning for the user.
    """

    def __init__(
        self, tables: ModelTables, storage: AuthStorage, environ: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
        self._tables = tables
        self._warn = warn
        self._storage = storage
        self._values = ConfiguredValues(environ, storage.start_policies)

    # Without a network or a command

    def has_key(self, info: ProviderInfo) -> bool:
        """Return whether a provider needs no key, or one is configured; does not ask plugins."""
        return info.keyless or self._has_key(info)

    def is_configured(self, info: ProviderInfo) -> bool:
        """Return whether a provider can be used, because it or a plugin's credential source has a key."""
        return self.has_key(info) or any(self._can_answer(each, info.id) for each in self._credential_sources(info.id))

    def check(self, info: ProviderInfo) -> None:
        """Check that a key is configured or may come from a plugin.

        Raises:
            MissingKey: The provider needs a key and no source can have one; the message says what to set.
        """
        if self.has_key(info):
            return
        if all(self._can_answer(each, info.id) is False for each in self._credential_sources(info.id, "*")):
            raise self._missing_key_error(info)

    def base_url(self, model: Model, info: ProviderInfo) -> str:
        """Return a model's base URL, with each ``{NAME}`` replaced by the environment variable of that name.

        Raises:
            UserError: A variable is not set, or contains no address.
        """
        if info.base_url_from and model.base_url == info.base_url:
            replaced = self._base_url_from(model, info)
            if replaced is not None:
                return replaced
        if "{" not in model.base_url:
            return model.base_url
        environ = self._storage.environ_of(model.provider)
        for name in re.findall(_PLACEHOLDER, model.base_url):
            if not environ.get(name):
                message = f"Set {name}: the base URL of {model.reference} contains it ({model.base_url})."
                raise UserError(message)
        return re.sub(_PLACEHOLDER, lambda match: environ[match[1]], model.base_url)

    def _base_url_from(self, model: Model, info: ProviderInfo) -> str | None:
        """Return the base URL from environment variables; None if models.json configures the base URL of the model."""
        environ = self._storage.environ_of(info.id)
        values = {name: environ.get(name, "").strip() for name in re.findall(_PLACEHOLDER, info.base_url_from)}
        if not all(values.values()) or any(model.id in layer.model_base_urls for layer in self._tables.layers(info.id)):
            return None
        for name, value in values.items():
            if not value.startswith(("http://", "https://")):
                message = (
                    f"{name} is {value!r}, which is not a URL. Set it to one that starts with http:// or https://,"
                    f" or unset it to use {info.base_url}."
                )
                raise UserError(message)
        return re.sub(_PLACEHOLDER, lambda match: values[match[1]].rstrip("/"), info.base_url_from)

    def _has_key(self, info: ProviderInfo) -> bool:
        if self._storage.has_key(info.id, info.key_variables):
            return True
        configured = self._configured_key(info.id)
        return configured is not None and not self._values.missing(configured)

    def logins(self) -> list[str]:
        """Return the ids of the providers that a plugin can sign in to, sorted; does not import the plugins."""
        host = self._tables.host
        direct = (each.name for each in host.registrations("register_logins"))
        return sorted({*host.owners("register_logins"), *direct})

    def login_note(self, provider: str) -> str | None:
        """Return what the login in use says about its bills (``Login.billing``); None without a login or a note."""
        if self._storage.login_in_use(provider) is None:
            return None
        note = getattr(self._login(provider), "billing", None)
        return note if isinstance(note, str) and note else None

    # For a request

    async def key(self, info: ProviderInfo, *, min_validity_ms: float = 0) -> str | None:
        """Return a provider's key; None if it has no key and needs none.

        Args:
            info: The provider.
            min_validity_ms: Milliseconds that the token of a login has to be valid; it is refreshed if they are fewer.

        Raises:
            MissingKey: The provider needs a key and has none.
            UserError: A ``!command`` failed, or a login could not be refreshed.
        """
        key = await self._storage.get_api_key(
            info.id,
            info.key_variables,
            fallback=partial(self._resolved_key, info.id),
            sources=partial(self._credential_sources, info.id, "*"),
            login=self._login,
            min_validity_ms=min_validity_ms,
        )
        if key is None and not info.keyless:
            raise self._missing_key_error(info)
        if key is not None:
            self._storage.add_secret(key, _USED)
        return key

    async def for_model(self, model: Model, info: ProviderInfo, api_key: str | None = None) -> RequestAuth:
        """Return key, headers and address of a request; ``api_key`` replaces the configured key.

        Raises:
            MissingKey: The provider needs a key and has none.
            UserError: A value cannot be resolved.
        """
        base_url = self.base_url(model, info)
        signed: dict[str, str] = {}
        key = api_key or await self.key(info)
        if not api_key:
            base_url, signed = self._login_overrides(info.id, base_url)
        auth = RequestAuth(api_key=key, headers=signed, base_url=base_url, env=self._storage.own_variables(info.id))
        for layer in self._tables.layers(info.id):
            headers = dict(auth.headers)
            if layer.auth_header and key is not None:
                headers["Authorization"] = f"Bearer {key}"
            for configured in (layer.headers, layer.model_headers.get(model.id, {})):
                headers |= {name: await self._header(info, name, value) for name, value in configured.items()}
            transport = layer.model_transports.get(model.id) or layer.transport or auth.transport
            auth = evolve(auth, headers=headers, transport=transport)
        for name, value in auth.headers.items():
            self._keep_header(name, value)
        return auth

    def _keep_header(self, name: str, value: str) -> None:
        """Keep a header that may be secret; others, such as versions, would be redacted wherever they occur."""
        from pi_hookspecs.secrets import is_secret_name

        if is_secret_name(name):
            self._storage.add_secret(value.partition(" ")[2] or value, _USED)
        elif self._storage.on_secret is not None:
            self._storage.on_secret(value)

    def _login_overrides(self, provider: str, base_url: str) -> tuple[str, dict[str, str]]:
        """Return the base URL and headers of the stored login; by default the given URL and no headers."""
        credential = self._storage.login_in_use(provider)
        login = self._login(provider) if credential is not None else None
        login_url, headers = getattr(login, "base_url", None), getattr(login, "headers", None)
        return (
            login_url(credential, base_url) if login_url is not None else base_url,
            dict(headers(credential)) if headers is not None else {},
        )

    async def _header(self, info: ProviderInfo, name: str, raw: str) -> str:
        value = await self._values.resolve(raw)
        if value is None:
            variables = " and ".join(self._values.missing(raw))
            message = f"Set {variables}: the header {name!r} that is configured for {info.id} contains it."
            raise UserError(message)
        return value

    async def _resolved_key(self, provider: str) -> str | None:
        raw = self._configured_key(provider)
        return await self._values.resolve(raw) if raw is not None else None

    def _configured_key(self, provider: str) -> str | None:
        layers = reversed(self._tables.layers(provider))
        return next((layer.api_key for layer in layers if layer.api_key is not None), None)

    def _credential_sources(self, *names: str) -> Sequence[CredentialSource]:
        """Return the plugins' credential sources with these names, without importing other plugins."""
        host = self._tables.host
        for name in names:
            host.load(*(record.name for record in host.registering("register_credentials", name)))
        return [each.thing for each in host.registrations("register_credentials") if each.name in names]

    def _can_answer(self, source: CredentialSource, provider: str) -> bool | None:
        """Return whether a source has a key, without using the network; None if the source does not know."""
        try:
            available = getattr(source, "available", None)
            answer = available(provider) if callable(available) else None
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and others have keys, too
            failed = f"{safe_repr(source)} failed: {format_exception(error)}"
            self._warn(f"Cannot tell whether there is a key for {provider}: {failed}")
            return False
        return None if answer is None else bool(answer)

    def _login(self, provider: str) -> Login | None:
        found = self._tables.host.find("register_logins", provider)
        return found.thing if found is not None else None

    def _missing_key_error(self, info: ProviderInfo) -> MissingKey:
        variables = list(dict.fromkeys(self._missing_variables(info)))
        if variables:
            hint = " or ".join(variables)
        elif self._tables.layers(info.id):
            hint = '"apiKey" of the provider in models.json, or "keyless": true if it needs none'
        else:
            hint = "its key"
        # The missing key may be in a file that cannot be used.
        missing = " ".join(filter(None, (f"No API key found for {info.id}.", self._storage.problem)))
        if info.id not in self.logins():
            return MissingKey(f"{missing} Set {hint}.")
        ways = f"Set {hint}, or sign in" if variables else "Sign in"
        ways += f": pi auth login {info.id} (see pi help keys)"
        return MissingKey(f"{missing} {ways}")

    def _missing_variables(self, info: ProviderInfo) -> Iterator[str]:
        yield from info.key_variables
        yield from self._values.missing(self._configured_key(info.id) or "")
