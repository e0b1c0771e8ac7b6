"""Which model is meant: all providers joined, the choice when the user names none (decision D25), what a request needs.

A provider's models are read when somebody looks at that provider, its key when a request is made.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from attrs import evolve

from pi_core._model_auth import ModelAuth, RequestAuth
from pi_core._model_tables import ModelTables
from pi_core.auth_storage import AuthStorage
from pi_core.models_file import ModelsFile
from pi_hookspecs import NoModel, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_hookspecs import Model, ProviderInfo, StreamFunction, StreamOptions

__all__ = ["ModelRegistry", "RequestAuth"]

IDLE_TIMEOUT_MS = 300_000
"""Default of the setting ``httpIdleTimeoutMs``: how long a server may say nothing."""
LONGEST_RETRY_DELAY_MS = 60_000
"""Default of the setting ``retry.provider.maxRetryDelayMs`` (decision D22)."""

_KNOWN_FIRST = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
_NAMED = 4
"""How many variables a message names."""
_RETENTIONS = ("none", "short", "long")


class ModelRegistry:
    """Models, providers and keys, as plugins, models.json, auth.json and the environment have them.

    Args:
        host: Where the tables and the providers are registered.
        settings: ``defaultProvider``, ``defaultModel``, and how requests are made.
        environ: Where keys are looked up; the process's environment when None.
        auth: Stored keys; the agent directory's ``auth.json`` when None.
        models_file: The agent directory's ``models.json`` when None.
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
        """Stored keys, and those of this run: ``registry.auth.set_runtime_api_key(...)``."""
        self._tables = ModelTables(host, ModelsFile(models_file or settings.agent_dir / "models.json"))
        self._keys = ModelAuth(self._tables, self.auth, self._environ)
        self._warnings: list[str] = []

    @classmethod
    def create(
        cls,
        auth: AuthStorage | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> ModelRegistry:
        """Return the registry of the installed plugins and the user's own files (document 001).

        Args:
            auth: Stored keys; the agent directory's auth.json when None.
            host: The plugins; the installed ones when None.
            environ: Where keys and the agent directory are looked up; the process's environment when None.
        """
        if host is None:
            from pi_core.host import PluginHost
            from pi_core.settings import Settings

            host = PluginHost(Settings.load(Path.cwd(), environ=environ))
        return cls(host, host.settings, environ, auth=auth)

    @property
    def warnings(self) -> list[str]:
        """What the user should know about models.json, auth.json and the choice of model."""
        stored = [self.auth.problem] if self.auth.problem is not None else []
        return [*self._tables.problems, *stored, *self._warnings]

    # What there is

    def get_providers(self) -> list[str]:
        """Return the ids of all known providers, sorted (pi.md 5)."""
        return self._tables.ids()

    provider_ids = get_providers

    def get_models(self, provider: str | None = None) -> list[Model]:
        """Return a provider's models, or all; an empty list for a provider that nobody knows (pi.md 5)."""
        infos = self._tables.infos() if provider is None else [self._tables.info(provider)]
        return [model for info in infos if info is not None for model in info.models]

    def get_model(self, provider: str, model_id: str) -> Model | None:
        """Return a provider's model; None where there is none (pi.md 5)."""
        info = self._tables.info(provider)
        return info.model(model_id) if info is not None else None

    def available(self) -> list[Model]:
        """Return the models that could answer: their provider has a key, and a plugin speaks their API.

        No network is asked and no command run; whether a key is right, only its provider knows.
        """
        models = (model for provider_id in self._ready() for model in self.provider(provider_id).models)
        return [model for model in models if self._tables.speaks(model.api)]

    def _ready(self) -> dict[str, bool]:
        """Return the ids of the providers that have a key or need none, and whether they have a default model."""
        return self._those(self._keys.is_configured)

    def _those(self, can_be_used: Callable[[ProviderInfo], bool]) -> dict[str, bool]:
        return {each.id: each.default_model is not None for each in self._tables.outlines() if can_be_used(each)}

    def provider(self, provider_id: str) -> ProviderInfo:
        """Return a provider's row.

        Raises:
            UnknownName: Nobody knows the provider.
        """
        info = self._tables.info(provider_id)
        if info is None:
            raise UnknownName("provider", provider_id, self.get_providers(), "pi plugins lists what is installed")
        return info

    def register_provider(
        self, provider_id: str, config: Mapping[str, Any] | ProviderInfo, stream: StreamFunction | None = None
    ) -> Callable[[], None]:
        """Add a provider at run time, or change a known one; returns how to take that back.

        Args:
            provider_id: Its id.
            config: As in models.json (pi.md 5): it lies over models.json and the plugins' tables. A row, such as
                ``register_models`` returns, stands in their place.
            stream: Answers for the API that ``config`` names.

        Raises:
            UserError: The configuration is not as it must be.
        """
        remove = self._tables.add(provider_id, config)
        silence = self.register_api(self.provider(provider_id).api, stream) if stream is not None else None

        def take_back() -> None:
            remove()
            if silence is not None:
                silence()

        return take_back

    def register_api(self, api: str, stream: StreamFunction) -> Callable[[], None]:
        """Let a function answer for an API, before all plugins; returns how to take that back."""
        return self._tables.add_stream(api, stream)

    # Which one is meant

    def find(self, reference: str, provider: str | None = None) -> Model:
        """Return the model that ``provider/id``, or an id, means (pi.md 12.3).

        An id that a known provider does not list is used as it is, with a warning. Of several providers that list
        an id, one with a key is meant.

        Raises:
            UnknownName: No such provider, or no model of this id at any provider.
        """
        if provider is not None:
            info = self.provider(provider)
            return self._of(info, reference.removeprefix(f"{info.id}/"))
        prefix, slash, model_id = reference.partition("/")
        named = self._tables.info(prefix) if slash else None
        if named is not None and (model := named.model(model_id)) is not None:
            return model
        for info in self._may_list(named):
            if (listed := info.model(reference)) is not None:
                return listed
        if named is not None:
            return self._of(named, model_id)
        hint = f"No plugin knows a provider {prefix!r}; pi plugins lists them" if slash else "Name it as PROVIDER/ID"
        raise UnknownName("model", reference, [each.reference for each in self.get_models()], hint)

    def _may_list(self, named: ProviderInfo | None) -> Iterator[ProviderInfo]:
        """Go through where to look for an id, which at a gateway may look like ``named``'s own: first those with a key.

        Whoever has the named provider's key means that provider, not a gateway that he cannot use.
        """
        ready = self._ready()
        yield from map(self.provider, ready)
        if named is None or named.id not in ready:
            yield from (info for info in self._tables.infos() if info.id not in ready)

    def choose(self, provider_id: str | None = None) -> Model:
        """Return the model to use when the user names none, or only the provider.

        Raises:
            NoModel: Nothing is configured; the message says what to set.
            UnknownName: No plugin knows the provider.
        """
        default = self._settings.get_str("defaultModel", None)
        preferred = self._settings.get_str("defaultProvider", None)
        if provider_id is not None and provider_id != preferred:
            return self._default_of(self.provider(provider_id))
        if default is not None:
            return self.find(default, preferred)
        if preferred is not None:
            return self._default_of(self.provider(preferred))
        unspoken: list[ProviderInfo] = []
        for can_be_used in (self._keys.has_key, self._keys.is_configured):  # plugins with keys are asked last
            for info in self._candidates(self._those(can_be_used)):
                model = self._default_of(info)
                if self._tables.speaks(model.api):
                    return model
                unspoken.append(info)
        raise self._no_model(unspoken)

    def _candidates(self, ready: Mapping[str, bool]) -> Iterator[ProviderInfo]:
        """Go through the providers to choose from: those with a default model, then the user's own with any."""
        yield from (self.provider(each) for each, has_default in ready.items() if has_default)
        for each, has_default in ready.items():
            if not has_default and self._tables.layers(each) and (info := self.provider(each)).models:
                yield info

    def _default_of(self, info: ProviderInfo) -> Model:
        """Return a provider's default; one that is never chosen unasked is, once it is named, its first model."""
        model_id = info.default_model or next((model.id for model in info.models), None)
        if model_id is None:
            message = f"Provider {info.id!r} lists no models. Name one with --model {info.id}/ID."
            raise NoModel(message)
        return self._of(info, model_id)

    def _of(self, info: ProviderInfo, model_id: str) -> Model:
        model: Model | None = info.model(model_id)
        if model is not None:
            return model
        self._warn(f'Model "{model_id}" not found for provider "{info.id}". Using custom model id.')
        return info.custom_model(model_id)

    def _no_model(self, unspoken: Iterable[ProviderInfo]) -> NoModel:
        """Return the error of a choice without candidates; ``unspoken`` have keys and nobody who speaks their API."""
        infos = [info for info in self._tables.infos() if self._tables.speaks(info.api)]
        variables = sorted({_variable_of(info) for info in infos if info.key_variables}, key=_by_fame)
        keys = f"Set a provider's key ({', '.join(variables[:_NAMED])})" if variables else "Install a provider's plugin"
        problem = next(
            (f"{info.id} has a key, but no installed plugin speaks {info.api}." for info in unspoken),
            "No API key found for any model.",
        )
        return NoModel(
            f"{problem} {keys}, and choose with --model PROVIDER/ID."
            " To try pi without a key or a network: --model offline/rules"
            " (a rule-based stand-in, not a language model)."
        )

    # What a request needs

    def stream_of(self, model: Model) -> StreamFunction:
        """Return the ``stream`` of the provider that speaks the model's API.

        Raises:
            UnknownName: No plugin answers for the API.
        """
        return self._tables.stream_of(model)

    def is_configured(self, provider_id: str) -> bool:
        """Return whether a provider has a key or needs none, without a network or a command."""
        info = self._tables.info(provider_id)
        return info is not None and self._keys.is_configured(info)

    def check(self, model: Model) -> None:
        """Raise what can be known before a request: nobody to ask for the key, no base URL.

        Raises:
            MissingKey: The provider needs a key and has none; the message names what to set.
            UserError: A variable that the base URL names is not set.
            UnknownName: Nobody knows the provider.
        """
        self._keys.check(self.provider(model.provider))
        self._keys.base_url(model)

    async def get_api_key(self, provider_id: str) -> str | None:
        """Return a provider's key; None for a provider that needs none.

        Raises:
            MissingKey: The provider needs a key and has none; the message names what to set.
            UserError: A ``!command`` failed, or a login could not be refreshed.
            UnknownName: Nobody knows the provider.
        """
        return await self._keys.key(self.provider(provider_id))

    async def get_api_key_and_headers(self, model: Model) -> RequestAuth:
        """Return key, configured headers and base URL of a request to a model; raises as ``get_api_key`` does."""
        return await self._keys.for_model(model, self.provider(model.provider))

    async def prepare(self, model: Model, options: StreamOptions) -> tuple[Model, StreamOptions]:
        """Return model and options as they go to the provider: complete with all that is configured.

        What ``options`` say counts before what is configured. Raises as ``get_api_key`` does.
        """
        auth = await self._keys.for_model(model, self.provider(model.provider), options.api_key)
        read = self._settings.get_number
        idle = read("httpIdleTimeoutMs", IDLE_TIMEOUT_MS, minimum=0)
        longest = read("retry.provider.maxRetryDelayMs", LONGEST_RETRY_DELAY_MS, minimum=0)
        complete = evolve(
            options,
            api_key=auth.api_key,
            headers={**auth.headers, **(options.headers or {})} or None,
            transport=options.transport or auth.transport or self._settings.get_str("transport", None),
            timeout_ms=int(idle) if options.timeout_ms is None else options.timeout_ms,
            max_retry_delay_ms=int(longest) if options.max_retry_delay_ms is None else options.max_retry_delay_ms,
            cache_retention=options.cache_retention or self._cache_retention(),
            thinking_budgets=options.thinking_budgets or self._thinking_budgets(),
        )
        return evolve(model, base_url=auth.base_url) if auth.base_url != model.base_url else model, complete

    def _cache_retention(self) -> Literal["none", "short", "long"] | None:
        value = self._environ.get("PI_CACHE_RETENTION")
        if not value:
            return None
        if value in _RETENTIONS:
            return cast("Literal['none', 'short', 'long']", value)
        self._warn(f"PI_CACHE_RETENTION must be {', '.join(_RETENTIONS[:-1])} or {_RETENTIONS[-1]}, not {value!r}.")
        return None

    def _thinking_budgets(self) -> dict[str, int] | None:
        budgets = self._settings.get_object("thinkingBudgets")
        read = self._settings.get_number
        found = {level: read(("thinkingBudgets", level), None, minimum=0) for level in budgets}
        return {level: int(tokens) for level, tokens in found.items() if tokens is not None} or None

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)


def _variable_of(info: ProviderInfo) -> str:
    """Return the variable to name: of several, the one for a key, not for a token of a login."""
    return next((name for name in info.key_variables if name.endswith("_API_KEY")), info.key_variables[0])


def _by_fame(variable: str) -> tuple[int, str]:
    return _KNOWN_FIRST.index(variable) if variable in _KNOWN_FIRST else len(_KNOWN_FIRST), variable
