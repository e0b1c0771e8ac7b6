"""Merges providers and models of plugins' tables, of what was fetched since, of models.json and of registrations.

Only the tables of providers that are looked up are read; a plugin is imported when one of its providers is looked up.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.models.models_file import ProviderConfig, provider_config
from pi_core.models.renamed import RENAMED
from pi_core.models.retirements import RETIREMENT, without_retirement
from pi_hookspecs import NoModel, ProviderInfo, UserError
from pi_hookspecs.model_json import Wrong
from pi_hookspecs.models import VIRTUAL_API

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.host.registry import Registered
    from pi_core.models.fetched import FetchedModels
    from pi_core.models.models_file import ModelsFile
    from pi_hookspecs import Model, Provider, StreamFunction

__all__ = ["ModelTables"]

_TABLES = "register_models"
_PROVIDERS = "register_providers"


class ModelTables:
    """The rows of all providers, and the stream functions of their APIs.

    Args:
        host: The plugin host, where tables and providers are registered.
        file: The user's models.json.
        fetched: What the user has fetched of newer models; None for nothing.
    """

    def __init__(self, host: PluginHost, file: ModelsFile, fetched: FetchedModels | None = None) -> None:
        self.host = host
        self._file = file
        self._fetched = fetched
        self._added: dict[str, list[Mapping[str, Any] | ProviderInfo]] = {}
        self._streams: list[tuple[str, StreamFunction]] = []
        self._discovered: dict[str, ProviderInfo] = {}
        self._configs: Mapping[str, ProviderConfig] = {}
        self._layers: dict[str, list[ProviderConfig]] = {}
        self._ids: dict[str, str] | None = None
        self._by_lower_case: dict[str, str] = {}
        self._ids_version = -1

    @property
    def problems(self) -> Sequence[str]:
        """The mistakes in the current models.json, and in what was fetched as far as it was read, one line each."""
        self._refresh()
        lines = [
            f"{self._file.path}, line {line}: no installed plugin implements the API {api!r}."
            f" Models of {name!r} that need it fail."
            for (name, api), line in self._file.apis.items()
            if not self.has_api(api)
        ]
        return [*self._file.problems, *(self._fetched.problems if self._fetched is not None else ()), *lines]

    # Providers

    def ids(self) -> list[str]:
        """Return the ids of all providers: the plugins' ids, sorted, then the ids in models.json in the file's order.

        Providers that were added at run time come last.
        """
        return [*self._known_ids()]

    def _known_ids(self) -> dict[str, str]:
        """Return the ids of all providers with their lower case; cached until a source changes."""
        self._refresh()
        if self._ids is None or self._ids_version != self.host.changes:
            direct = (each.name for each in self.host.registrations(_TABLES))
            installed = sorted({*self.host.registered_names(_TABLES), *direct})
            self._ids = {name: name.lower() for name in (*installed, *self._configs, *self._added)}
            self._by_lower_case = {lower: name for name, lower in reversed(self._ids.items())}
            for theirs, ours in RENAMED.items():
                if ours in self._ids:
                    self._by_lower_case.setdefault(theirs, ours)
            self._ids_version = self.host.changes
        return self._ids

    def info(self, provider_id: str) -> ProviderInfo | None:
        """Return a provider's row, found case-insensitively; None for an unknown provider."""
        self._known_ids()
        return self._row(self._by_lower_case.get(provider_id.lower(), provider_id))

    def infos(self) -> Iterator[ProviderInfo]:
        """Yield the rows of all providers."""
        for provider_id in self.ids():
            if (info := self._row(provider_id)) is not None:
                yield info

    def outlines(self) -> Iterator[ProviderInfo]:
        """Yield the rows of all providers as in the plugin index: id, key variables and default, but no models.

        For a provider that the index does not describe, its plugin is imported and the complete row returned.
        """
        direct = {each.name for each in self.host.registrations(_TABLES)}
        for provider_id in self.ids():
            records = self.host.registering(_TABLES, provider_id)
            if self.layers(provider_id) or provider_id in direct or len(records) != 1:
                outline = self._row(provider_id)
            else:
                described = next(each for each in records[0].registers[_TABLES] if each["name"] == provider_id)
                outline = _outline(described)
            if outline is not None:
                yield outline

    def layers(self, provider_id: str) -> Sequence[ProviderConfig]:
        """Return the overrides of a plugin's row, lowest precedence first: models.json, then run-time registrations.

        Does not check whether models.json has changed.
        """
        if provider_id not in self._layers:
            layers = [self._configs[provider_id]] if provider_id in self._configs else []
            for added in self._added.get(provider_id, ()):
                with suppress(Wrong):  # it changes a row that was removed from models.json or unregistered
                    layers.append(self._configured(provider_id, added, layers))
            self._layers[provider_id] = layers
        return self._layers[provider_id]

    def add(self, provider_id: str, config: Mapping[str, Any] | ProviderInfo) -> Callable[[], None]:
        """Add or change a provider; return a function that undoes this.

        Later registrations override earlier ones; they can be undone in any order.

        Raises:
            UserError: The configuration is invalid.
        """
        self._refresh()
        try:
            self._configured(provider_id, config, self.layers(provider_id))
        except Wrong as wrong:
            place = "".join(f"[{step!r}]" for step in wrong.path)
            raise UserError(f"Cannot register provider {provider_id!r}: {place and f'{place}: '}{wrong}.") from None
        registration = evolve(config) if isinstance(config, ProviderInfo) else dict(config)
        self._added.setdefault(provider_id, []).append(registration)
        self._forget(provider_id)

        def remove() -> None:
            left = [each for each in self._added.pop(provider_id, ()) if each is not registration]
            if left:
                self._added[provider_id] = left
            self._forget(provider_id)

        return remove

    def _forget(self, provider_id: str) -> None:
        self._ids = None
        self._layers.pop(provider_id, None)
        self._discovered.pop(provider_id, None)

    def _configured(
        self, provider_id: str, config: Mapping[str, Any] | ProviderInfo, below: Sequence[ProviderConfig]
    ) -> ProviderConfig:
        if isinstance(config, ProviderInfo):
            return ProviderConfig(info=self._discovered.get(provider_id, config))
        return provider_config(provider_id, config, below[-1].info if below else self._installed(provider_id))

    def _refresh(self) -> None:
        """Read models.json again if it has changed, and drop the rows that were discovered with the old version."""
        if not self._file.is_current():
            self._discovered.clear()
            self._read_file()

    def _read_file(self) -> None:
        self._configs = self._file.read(self._base_row)
        self._layers.clear()
        self._ids = None

    def _base_row(self, name: str) -> ProviderInfo | None:
        """Return the row that a provider of models.json overrides, found case-insensitively."""
        known = self._installed(name)
        if known is None:
            direct = (each.name for each in self.host.registrations(_TABLES))
            existing = next(
                (each for each in (*self.host.registered_names(_TABLES), *direct) if each.lower() == name.lower()),
                None,
            )
            known = self._installed(existing or RENAMED.get(name.lower(), ""))
        return known

    def _row(self, provider_id: str) -> ProviderInfo | None:
        layers = self.layers(provider_id)
        return layers[-1].info if layers else self._installed(provider_id)

    def _installed(self, provider_id: str) -> ProviderInfo | None:
        return self._discovered.get(provider_id) or self._registered(provider_id)

    def _registered(self, provider_id: str) -> ProviderInfo | None:
        found = self.host.find(_TABLES, provider_id)
        if found is None:
            return None
        row: ProviderInfo = found.thing if isinstance(found.thing, ProviderInfo) else found.thing.info
        record = self.host.records.get(found.plugin) if self._fetched is not None else None
        if self._fetched is None or record is None:
            return row
        return self._fetched.row(row, record.name, record.version)

    def virtual(self, model: Model) -> Registered | None:
        """Return the registration of a ``VirtualModel``; None if no plugin registers it now."""
        found = self.host.find(_TABLES, model.provider) if model.is_virtual else None
        if found is None or isinstance(found.thing, ProviderInfo) or found.thing.id != model.id:
            return None
        return found

    # Discovered models

    def discoverable(self, provider_ids: Iterable[str] | None = None) -> Iterator[ProviderInfo]:
        """Yield the discoverable rows (``is_discoverable``) of the given providers, or of all providers if None."""
        selected = None if provider_ids is None else set(provider_ids)
        keyless = [each.id for each in self.outlines() if each.keyless and (selected is None or each.id in selected)]
        for provider_id in keyless:
            row = self._row(provider_id)
            if row is not None and self.is_discoverable(row):
                yield row

    def is_discoverable(self, info: ProviderInfo) -> bool:
        """Return whether a provider needs no key and lists no models, so that its server must be asked for them."""
        if not info.keyless:
            return False
        known = self._registered(info.id)
        if known is None and info.id not in self._discovered:
            known = info
        return known is None or not known.all_models

    def custom_model(self, info: ProviderInfo, model_id: str, relative: Model | None = None) -> Model:
        """Return a model for an id that is not listed, with the overrides that the user has configured for it.

        Args:
            info: The provider.
            model_id: The id.
            relative: The listed model that it is like in all but its name.
        """
        model = info.custom_model(model_id)
        if relative is not None:
            model = evolve(relative, id=model_id, name=model_id, extra=without_retirement(relative))
        if (retirement := info.retirements.get(model_id)) is not None:
            model = evolve(model, extra={**model.extra, RETIREMENT: retirement})
        for layer in self.layers(info.id):
            override = layer.overrides.get(model_id)
            model = override(model) if override is not None else model
        return model

    def store_discovered(self, rows: Iterable[ProviderInfo]) -> None:
        """Use these rows instead of the plugins' own; models.json also overrides these rows."""
        self._discovered.update({row.id: row for row in rows})
        self._read_file()

    # Stream functions

    def has_api(self, api: str) -> bool:
        """Return whether an API has a stream function, without importing a plugin."""
        if self._added_stream(api) is not None or self.host.registering(_PROVIDERS, api) or api == VIRTUAL_API:
            return True
        return any(each.name == api for each in self.host.registrations(_PROVIDERS))

    def add_stream(self, api: str, stream: StreamFunction) -> Callable[[], None]:
        """Use a function for an API, in preference to plugins' functions; return a function that unregisters it."""
        registration = (api, stream)
        self._streams.append(registration)

        def remove() -> None:
            self._streams = [each for each in self._streams if each is not registration]

        return remove

    def plugin_provider(self, api: str) -> Provider | None:
        """Return the provider that a plugin registered for an API; None if there is none."""
        found = self.host.find(_PROVIDERS, api)
        return found.thing if found is not None else None

    def stream_of(self, model: Model) -> StreamFunction:
        """Return the stream function for a model's API.

        Raises:
            NoModel: No plugin implements the API, or the model is virtual.
        """
        if model.is_virtual:
            raise NoModel(f"{model.reference} is a virtual model, which only the requests of a session can use")
        added = self._added_stream(model.api)
        if added is not None:
            return added
        found = self.host.find(_PROVIDERS, model.api)
        if found is None:
            raise NoModel(
                f"No installed plugin implements the API {model.api!r}, which {model.reference} needs."
                " Install one that does, or choose another model with --model PROVIDER/ID"
            )
        stream: StreamFunction = found.thing.stream
        if self.host.is_default(found.plugin):
            return stream
        from pi_core.models.first_event import named_while_waiting

        return named_while_waiting(stream, found.plugin)

    def _added_stream(self, api: str) -> StreamFunction | None:
        return next((stream for registered_api, stream in reversed(self._streams) if registered_api == api), None)


def _outline(described: Mapping[str, Any]) -> ProviderInfo:
    return ProviderInfo(
        id=described["name"],
        name=described["name"],
        api="",
        key_variables=tuple(described["key_variables"]),
        keyless=described["keyless"],
        default_model=described["default_model"],
        only_by_name=described["only_by_name"],
    )
