"""The registry of providers and models: lookup by name, and everything that a request to a model needs.

A provider's models are read when the provider is first looked up, and its key when a request is made.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from attrs import evolve

from pi_core.agent.stream import closing
from pi_core.models.auth import ModelAuth, RequestAuth
from pi_core.models.auth_storage import AuthStorage
from pi_core.models.models_file import ModelsFile
from pi_core.models.request_settings import RequestSettings
from pi_core.models.resolver import ModelResolver
from pi_core.models.retirements import RETIREMENT
from pi_core.models.tables import ModelTables
from pi_hookspecs import NoModel, ProviderInfo, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.host.registry import Registered
    from pi_core.models.fetched import FetchedModels
    from pi_core.models.patterns import ModelMatch, ModelScope
    from pi_core.models.request_images import RequestImages
    from pi_core.settings import Settings
    from pi_hookspecs import (
        AssistantMessageEvent,
        Context,
        Model,
        ModelType,
        StreamFunction,
        StreamOptions,
        VirtualModel,
    )

__all__ = ["FETCHED_MODELS", "ModelRegistry", "RequestAuth"]

FETCHED_MODELS = "fetched-models"
"""The folder in the agent directory that ``FetchedModels`` reads."""

_LIMITS = ("timeout_ms", "progress_timeout_ms", "max_retries", "max_retry_delay_ms")
_RETENTIONS = ("none", "short", "long")
_TABLE_HOOK = "register_models"
_NOT_REGISTERED = "No plugin registers this virtual model now"
_PROGRAM = "(program)"
"""Stands for a plugin's name where the program around the session registers something."""


class ModelRegistry:
    """Models, providers and keys from plugins, models.json, auth.json and the environment.

    Args:
        host: The plugin host, where tables and providers are registered.
        settings: Read for ``defaultProvider``, ``defaultModel``, and the settings of requests.
        environ: Environment variables, read for keys; None uses the environment of the process.
        auth: Stored keys; the agent directory's ``auth.json`` when None.
        models_file: The models file; None uses ``models.json`` in the agent directory.
    """

    def __init__(
        self,
        host: PluginHost,
        settings: Settings,
        environ: Mapping[str, str] | None = None,
        *,
        auth: AuthStorage | None = None,
        models_file: Path | None = None,
    ) -> None:
        self.host = host
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self.auth = auth or AuthStorage(settings.agent_dir / "auth.json", environ=self._environ)
        """Stored keys, and keys for this run only: ``registry.auth.set_runtime_api_key(...)``."""
        file = ModelsFile(models_file or settings.agent_dir / "models.json")
        self._tables = ModelTables(host, file, _fetched_models(settings.agent_dir))
        self._warnings: list[str] = []
        self._request_settings_cache: tuple[int, RequestSettings] | None = None
        self._images: RequestImages | None = None
        self._keys = ModelAuth(self._tables, self.auth, self._environ, self._warn)
        self._resolver = ModelResolver(self._tables, self._keys, settings, self._warn)

    @classmethod
    def create(
        cls,
        auth: AuthStorage | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> ModelRegistry:
        """Return the registry of the installed plugins and the user's own files.

        Args:
            auth: Stored keys; the agent directory's auth.json when None.
            host: The plugins; None uses the installed plugins.
            environ: Environment variables, read for keys and the agent directory; None uses the environment of the
                process.
        """
        if host is None:
            from pi_core.host import PluginHost
            from pi_core.settings import Settings

            host = PluginHost(Settings.load(Path.cwd(), environ=environ))
        return cls(host, host.settings, environ, auth=auth)

    @property
    def on_secret(self) -> Callable[[str], None] | None:
        """Called with the value of every key and configured header of a request; None by default."""
        return self.auth.on_secret

    @on_secret.setter
    def on_secret(self, value: Callable[[str], None] | None) -> None:
        self.auth.on_secret = value

    @property
    def warnings(self) -> list[str]:
        """Warnings for the user about models.json, auth.json and the choice of model."""
        stored = [self.auth.problem] if self.auth.problem is not None else []
        return [*self._tables.problems, *stored, *self._warnings]

    # Models and providers

    def provider_ids(self) -> list[str]:
        """Return the ids of all providers: the plugins' ids, sorted, then the ids in models.json in the file's order.

        Providers that were added at run time come last.
        """
        return self._tables.ids()

    get_providers = provider_ids

    def get_models(self, provider: str | None = None) -> list[Model]:
        """Return the models of a provider, or of all providers if None; an empty list for an unknown provider."""
        infos = self._tables.infos() if provider is None else [self._tables.info(provider)]
        return [model for info in infos if info is not None for model in info.models]

    def get_model(self, provider: str, model_id: str) -> Model | None:
        """Return a provider's model; None if it has no such model."""
        info = self._tables.info(provider)
        return info.model(model_id) if info is not None else None

    def get_models_of_type(self, model_type: ModelType) -> list[Model]:
        """Return the models of a type that are not for conversations, those of providers with a key first."""
        infos = sorted(self._tables.infos(), key=lambda info: not self._keys.is_configured(info))
        return [model for info in infos for model in info.all_models if model.type == model_type]

    def available(self, in_use: Model | None = None) -> list[Model]:
        """Return the usable models, whose provider has a key and whose API a plugin implements.

        Models of providers that are used only by name (``ProviderInfo.only_by_name``) are left out, unless one is in
        use. Neither uses the network nor runs a command; keys are not verified.

        Args:
            in_use: The model of the session to which the models are offered.
        """
        models = (model for provider_id in self._resolver.ready() for model in self.provider(provider_id).models)
        usable = [model for model in models if self._tables.has_api(model.api)]
        info = self._tables.info(in_use.provider) if in_use is not None else None
        return [*usable, in_use] if in_use is not None and info is not None and info.only_by_name else usable

    def provider(self, provider_id: str) -> ProviderInfo:
        """Return a provider's row.

        Raises:
            UnknownName: No plugin and no configuration defines the provider.
        """
        return self._resolver.provider(provider_id)

    async def discover(
        self, provider_ids: Sequence[str] | None = None, *, seconds: float | None = None
    ) -> list[ProviderInfo]:
        """Ask servers that may be running for their models (``ModelDiscovery``), and store the answers.

        Args:
            provider_ids: Providers that need no key and list no models; None means all such providers.
            seconds: The deadline for all of them together; None uses the setting ``localServersTimeoutMs``.

        Returns:
            The rows of the providers that have models.
        """
        from pi_core.models.discovery import ModelDiscoverer  # most runs need no discovery

        if seconds is None:
            seconds = self._settings.get_number("localServersTimeoutMs", 200, minimum=0) / 1000
        discoverer = ModelDiscoverer(self._tables, self._keys, self._warn)
        return await discoverer.discover(provider_ids, seconds)

    def register_provider(
        self,
        provider_id: str,
        config: Mapping[str, Any] | ProviderInfo | VirtualModel,
        stream: StreamFunction | None = None,
        *,
        plugin: str = _PROGRAM,
    ) -> Callable[[], None]:
        """Add a provider at run time, or change an existing one; return a function that undoes this.

        Args:
            provider_id: The provider's id.
            config: An object as in models.json overrides models.json and the plugins' tables. A row or a virtual model,
                such as ``register_models`` returns, replaces them.
            stream: Handles requests for the API of ``config``.
            plugin: The plugin that does this.

        Raises:
            UserError: The configuration is invalid.
        """
        if not isinstance(config, dict | ProviderInfo):
            virtual: Any = config  # the class is imported only where there is one
            return self._register_virtual(provider_id, virtual, plugin)
        remove_provider = self._tables.add(provider_id, config)
        remove_stream = self.register_api(self.provider(provider_id).api, stream) if stream is not None else None

        def unregister() -> None:
            remove_provider()
            if remove_stream is not None:
                remove_stream()

        return unregister

    def _register_virtual(self, provider_id: str, virtual: VirtualModel, plugin: str) -> Callable[[], None]:
        from pi_core.host.kinds import KINDS

        problem = KINDS[_TABLE_HOOK].problem(virtual)
        if problem is None and virtual.provider != provider_id:
            problem = f"it is a model of provider {virtual.provider!r}"
        if problem is not None:
            raise UserError(f"Cannot register provider {provider_id!r}: {problem}.")
        return self.host.register(_TABLE_HOOK, plugin, virtual)

    def register_api(self, api: str, stream: StreamFunction) -> Callable[[], None]:
        """Use a function for an API, in preference to plugins' functions; return a function that unregisters it."""
        return self._tables.add_stream(api, stream)

    # Resolving names

    def find(self, reference: str, provider: str | None = None) -> Model:
        """Return the model that a name resolves to, as ``match`` does, without its thinking level."""
        return self.match(reference, provider).model

    def match(self, reference: str, provider: str | None = None) -> ModelMatch:
        """Return the model that a name resolves to, and the thinking level of its ``:level`` suffix.

        A name is ``provider/id``, an id, or a part of an id or name, with an optional ``:level`` suffix; case is
        ignored. An id that a known provider does not list is used unchanged, with a warning. If several providers list
        an id, a provider with a key is preferred, then the setting ``defaultProvider``. No server is asked.

        Args:
            reference: The name.
            provider: The provider to search; None searches all providers.

        Raises:
            UnknownName: The provider does not exist, or no model matches.
            UserError: Models of several providers match, and none is preferred.
        """
        return self._resolver.find(reference, provider)

    def exact(self, provider: str, model_id: str) -> Model:
        """Return the model with exactly this id, even if the provider does not list it; used for stored ids.

        Raises:
            UnknownName: No plugin and no configuration defines the provider.
        """
        return self._resolver.exact(self.provider(provider), model_id)

    def has(self, provider: str, model_id: str) -> bool:
        """Return whether a stored id may still be used: not if its provider lists models, and this is not one of them.

        An id of an unknown provider may be, since only using it finds out why; so may the settings' default model.
        """
        return self._resolver.has(provider, model_id)

    def scope(self, patterns: Sequence[str]) -> ModelScope:
        """Return the available models that match patterns in the syntax of ``--models``.

        A model that is used only by name is included when a pattern begins with its provider.
        """
        from pi_core.models.patterns import scope_of

        named = {
            info.id: info
            for pattern in patterns
            if (info := self._resolver.requested_provider(pattern.strip())) is not None
        }
        more = [model for info in named.values() if self.is_only_by_name(info.id) for model in info.models]
        return scope_of(patterns, [*self.available(), *more])

    def is_only_by_name(self, provider_id: str) -> bool:
        """Return whether a provider can only be used by naming its models."""
        return self.provider(provider_id).only_by_name and self.is_configured(provider_id)

    def choose(self, provider_id: str | None = None) -> Model:
        """Return the model to use if the user names no model, or only the provider.

        Raises:
            NoModel: No provider is configured; the message says what to set.
            UnknownName: No plugin and no configuration defines the provider.
        """
        return self._resolver.choose(provider_id).model

    async def resolve(self, reference: str | None = None, provider: str | None = None) -> ModelMatch:
        """Like ``match``, or without a name ``choose``, but first ask servers that may have the model.

        No server is asked for a model that is known and usable. Raises the same errors as ``match`` and ``choose``.
        """
        match = await self._resolve(reference, provider)
        self._note_end(match.model)
        return match

    async def _resolve(self, reference: str | None, provider: str | None) -> ModelMatch:
        if reference is None:
            resolve = partial(self._resolver.choose, provider)
        else:
            resolve = partial(self._resolver.find, reference, provider)
        unlisted = self._resolver.provider_to_discover(reference, provider)
        if unlisted is not None:
            await self.discover([unlisted])
            return resolve()
        try:
            match = resolve()
        except NoModel:
            raise
        except UserError:
            if not await self.discover():
                raise
            return resolve()
        usable = self._resolver.names_provider(reference, provider) or self.is_configured(match.model.provider)
        return match if usable or not await self.discover() else resolve()

    def virtual(self, model: Model) -> Registered | None:
        """Return a virtual model's registration: its plugin and the ``VirtualModel``; None if it is not registered."""
        return self._tables.virtual(model)

    # Requests

    def stream_of(self, model: Model) -> StreamFunction:
        """Return the stream function for a model's API.

        Raises:
            NoModel: No plugin implements the API.
        """
        from pi_core.models.request_images import RequestImages

        stream = self._tables.stream_of(model)
        if self._images is None:
            self._images = RequestImages(self._settings)
        stream = self._images.stream_with(stream)
        if "AnswerFilter" not in self.host.service_kinds:
            return stream
        from pi_core.models.answer_filters import stream_with_filters

        return stream_with_filters(stream, self.host, self._settings)

    def is_configured(self, provider_id: str) -> bool:
        """Return whether a provider has a key or needs none, without using the network or running a command."""
        info = self._tables.info(provider_id)
        return info is not None and self._keys.is_configured(info)

    def logins(self) -> list[str]:
        """Return the ids of the providers that a plugin can sign in to, sorted; does not import the plugins."""
        return self._keys.logins()

    def check(self, model: Model) -> None:
        """Check before a request that a key can be found and that the base URL is complete.

        Raises:
            MissingKey: The provider needs a key and has none; the message names what to set.
            UserError: A variable in the base URL is not set or is not an address.
            UnknownName: No plugin and no configuration defines the provider, or the virtual model.
        """
        info = self.provider(model.provider)
        if model.is_virtual and self.virtual(model) is None:
            raise UnknownName("model", model.reference, [each.reference for each in info.models], _NOT_REGISTERED)
        self._keys.check(info)
        self._keys.base_url(model, info)
        self._note_end(model)

    def login_note(self, provider_id: str) -> str | None:
        """Return what the login in use says about its bills (``Login.billing``); None without a login or a note."""
        return self._keys.login_note(provider_id)

    async def get_api_key(self, provider_id: str, *, min_validity_ms: float = 0) -> str | None:
        """Return a provider's key; None for a provider that needs none.

        Args:
            provider_id: The provider.
            min_validity_ms: Milliseconds that the token of a login has to be valid; it is refreshed if they are fewer.

        Raises:
            MissingKey: The provider needs a key and has none; the message names what to set.
            UserError: A ``!command`` failed, or a login could not be refreshed.
            UnknownName: No plugin and no configuration defines the provider.
        """
        return await self._keys.key(self.provider(provider_id), min_validity_ms=min_validity_ms)

    async def get_api_key_and_headers(self, model: Model) -> RequestAuth:
        """Return key, configured headers and base URL of a request to a model; errors as in ``get_api_key``."""
        return await self._keys.for_model(model, self.provider(model.provider))

    async def prepare(self, model: Model, options: StreamOptions) -> tuple[Model, StreamOptions]:
        """Return model and options for the provider, completed with key, headers and settings.

        Values in ``options`` take precedence over configured ones. Raises the same errors as ``get_api_key``.
        """
        auth = await self._keys.for_model(model, self.provider(model.provider), options.api_key)
        settings = self._request_settings()
        complete = evolve(
            options,
            api_key=auth.api_key,
            headers={**auth.headers, **(options.headers or {})} or None,
            env={**auth.env, **(options.env or {})} or None,
            transport=options.transport or auth.transport or settings.transport,
            **{name: getattr(settings, name) for name in _LIMITS if getattr(options, name) is None},
            cache_retention=options.cache_retention or self._cache_retention(),
            thinking_budgets=options.thinking_budgets or settings.thinking_budgets,
        )
        return evolve(model, base_url=auth.base_url) if auth.base_url != model.base_url else model, complete

    async def stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Stream a model's answer, for a provider that delegates requests; see ``ModelCatalog.stream``."""
        from pi_core.models.thinking import clamp_thinking_level

        level = clamp_thinking_level(model, options.reasoning or "off")
        # Key and headers of the delegating provider must not reach the other provider.
        delegated_options = evolve(
            options, api_key=None, headers=None, env=None, reasoning=None if level == "off" else level
        )
        model, delegated_options = await self.prepare(model, delegated_options)
        async with closing(self.stream_of(model)(model, context, delegated_options)) as events:
            async for event in events:
                yield event

    def _cache_retention(self) -> Literal["none", "short", "long"] | None:
        value = self._environ.get("PI_CACHE_RETENTION")
        if not value:
            return None
        if value in _RETENTIONS:
            return cast("Literal['none', 'short', 'long']", value)
        self._warn(f"PI_CACHE_RETENTION must be {', '.join(_RETENTIONS[:-1])} or {_RETENTIONS[-1]}, not {value!r}.")
        return None

    def _request_settings(self) -> RequestSettings:
        """Return the settings of requests; they are read again after the settings have changed."""
        version = self._settings.version
        if self._request_settings_cache is None or self._request_settings_cache[0] != version:
            self._request_settings_cache = version, RequestSettings.of(self._settings)
        return self._request_settings_cache[1]

    def _note_end(self, model: Model) -> None:
        """Warn if the vendor has retired a model, or will soon."""
        if RETIREMENT in model.extra:
            from datetime import date

            from pi_core.models.retirements import retirement_note

            note = retirement_note(model, date.today())  # noqa: DTZ011 - of the user's calendar
            if note is not None:
                self._warn(note)

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)


def _fetched_models(agent_dir: Path) -> FetchedModels | None:
    """Return what the user has fetched of newer models; None, at the price of a look, if there is nothing."""
    folder = agent_dir / FETCHED_MODELS
    if not os.path.isdir(folder):  # noqa: PTH112 - unlike Path.is_dir, it does not raise where the folder is unreadable
        return None
    from pi_core.models.fetched import FetchedModels

    return FetchedModels(folder)
