"""Providers and models from three places joined: plugins' tables, models.json over them, and what is added at run time.

Only the tables of providers that somebody asks for are read; a plugin is imported when one of its providers is.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.models.models_file import ProviderConfig, provider_config
from pi_hookspecs import NoModel, ProviderInfo, UserError
from pi_hookspecs.model_json import Wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.models.models_file import ModelsFile
    from pi_hookspecs import Model, Provider, StreamFunction

__all__ = ["ModelTables"]

_TABLES = "register_models"
_SPEAKERS = "register_providers"


class ModelTables:
    """The rows of all providers, and who speaks their APIs.

    Args:
        host: Where plugins register tables and providers.
        file: The user's models.json.
    """

    def __init__(self, host: PluginHost, file: ModelsFile) -> None:
        self.host = host
        self._file = file
        self._added: dict[str, list[Mapping[str, Any] | ProviderInfo]] = {}
        self._speakers: list[tuple[str, StreamFunction]] = []
        self._found: dict[str, ProviderInfo] = {}
        self._configs: Mapping[str, ProviderConfig] = {}
        self._layers: dict[str, list[ProviderConfig]] = {}
        self._ids: dict[str, str] | None = None
        self._alike: dict[str, str] = {}
        self._ids_at = -1

    @property
    def problems(self) -> Sequence[str]:
        """What is wrong with models.json as it is now."""
        self._refresh()
        lines = [
            f"{self._file.path}, line {line}: no installed plugin speaks {api!r}. Models of {name!r} that need it fail."
            for (name, api), line in self._file.apis.items()
            if not self.speaks(api)
        ]
        return [*self._file.problems, *lines]

    # Providers

    def ids(self) -> list[str]:
        """Return the ids of all providers: the plugins', sorted, then those of models.json in the order of the file.

        What was added at run time comes last.
        """
        return [*self._known_ids()]

    def _known_ids(self) -> dict[str, str]:
        """Return the ids of all providers with their lower case; kept until what they come from changes."""
        self._refresh()
        if self._ids is None or self._ids_at != self.host.changes:
            by_hand = (each.name for each in self.host.registrations(_TABLES))
            installed = sorted({*self.host.registered_names(_TABLES), *by_hand})
            self._ids = {name: name.lower() for name in (*installed, *self._configs, *self._added)}
            self._alike = {lower: name for name, lower in reversed(self._ids.items())}
            self._ids_at = self.host.changes
        return self._ids

    def info(self, provider_id: str) -> ProviderInfo | None:
        """Return a provider's row, upper and lower case alike; None when there is none."""
        self._known_ids()
        return self._row(self._alike.get(provider_id.lower(), provider_id))

    def infos(self) -> Iterator[ProviderInfo]:
        """Go through the rows of all providers."""
        for provider_id in self.ids():
            if (info := self._row(provider_id)) is not None:
                yield info

    def outlines(self) -> Iterator[ProviderInfo]:
        """Go through the rows of all providers as the plugin index has them: id, keys and default, but no models.

        What the index does not tell is told by the whole row, and its plugin imported for it.
        """
        hand = {each.name for each in self.host.registrations(_TABLES)}
        for provider_id in self.ids():
            records = self.host.registering(_TABLES, provider_id)
            if self.layers(provider_id) or provider_id in hand or len(records) != 1:
                outline = self._row(provider_id)
            else:
                described = next(each for each in records[0].registers[_TABLES] if each["name"] == provider_id)
                outline = _outline(described)
            if outline is not None:
                yield outline

    def layers(self, provider_id: str) -> Sequence[ProviderConfig]:
        """Return what lies over a plugin's row: models.json, then what was added at run time, the latest on top.

        As last looked up.
        """
        if provider_id not in self._layers:
            layers = [self._configs[provider_id]] if provider_id in self._configs else []
            for added in self._added.get(provider_id, ()):
                with suppress(Wrong):  # it lay over a row that models.json has no more, or that was taken back
                    layers.append(self._configured(provider_id, added, layers))
            self._layers[provider_id] = layers
        return self._layers[provider_id]

    def add(self, provider_id: str, config: Mapping[str, Any] | ProviderInfo) -> Callable[[], None]:
        """Add a provider, or change one, for as long as this object lives; returns how to take that back.

        It lies over what others added before, who may take theirs back first.

        Raises:
            UserError: The configuration is not as it must be.
        """
        self._refresh()
        try:
            self._configured(provider_id, config, self.layers(provider_id))
        except Wrong as wrong:
            place = "".join(f"[{step!r}]" for step in wrong.path)
            raise UserError(f"Cannot register provider {provider_id!r}: {place and f'{place}: '}{wrong}.") from None
        mine = evolve(config) if isinstance(config, ProviderInfo) else dict(config)
        self._added.setdefault(provider_id, []).append(mine)
        self._forget(provider_id)

        def remove() -> None:
            left = [each for each in self._added.pop(provider_id, ()) if each is not mine]
            if left:
                self._added[provider_id] = left
            self._forget(provider_id)

        return remove

    def _forget(self, provider_id: str) -> None:
        self._ids = None
        self._layers.pop(provider_id, None)
        self._found.pop(provider_id, None)

    def _configured(
        self, provider_id: str, config: Mapping[str, Any] | ProviderInfo, below: Sequence[ProviderConfig]
    ) -> ProviderConfig:
        if isinstance(config, ProviderInfo):
            return ProviderConfig(info=self._found.get(provider_id, config))
        return provider_config(provider_id, config, below[-1].info if below else self._installed(provider_id))

    def _refresh(self) -> None:
        """Look whether models.json is another now; what was found out with the old one may be wrong then."""
        if not self._file.is_current():
            self._found.clear()
            self._read_file()

    def _read_file(self) -> None:
        self._configs = self._file.read(self._below)
        self._layers.clear()
        self._ids = None

    def _below(self, name: str) -> ProviderInfo | None:
        """Return the row that a provider of models.json lies over, upper and lower case alike."""
        known = self._installed(name)
        if known is None:
            by_hand = (each.name for each in self.host.registrations(_TABLES))
            alike = next(
                (each for each in (*self.host.registered_names(_TABLES), *by_hand) if each.lower() == name.lower()),
                None,
            )
            known = self._installed(alike) if alike is not None else None
        return known

    def _row(self, provider_id: str) -> ProviderInfo | None:
        layers = self.layers(provider_id)
        return layers[-1].info if layers else self._installed(provider_id)

    def _installed(self, provider_id: str) -> ProviderInfo | None:
        return self._found.get(provider_id) or self._registered(provider_id)

    def _registered(self, provider_id: str) -> ProviderInfo | None:
        found = self.host.find(_TABLES, provider_id)
        return found.thing if found is not None else None

    # What servers say of themselves

    def unlisted(self, provider_ids: Iterable[str] | None = None) -> Iterator[ProviderInfo]:
        """Go through the rows of providers, of all when None, whose servers may be asked (``is_unlisted``)."""
        wanted = None if provider_ids is None else set(provider_ids)
        keyless = [each.id for each in self.outlines() if each.keyless and (wanted is None or each.id in wanted)]
        for provider_id in keyless:
            row = self._row(provider_id)
            if row is not None and self.is_unlisted(row):
                yield row

    def is_unlisted(self, info: ProviderInfo) -> bool:
        """Return whether a provider needs no key, and no plugin lists its models, nor who else added the provider."""
        if not info.keyless:
            return False
        known = self._registered(info.id)
        if known is None and info.id not in self._found:
            known = info
        return known is None or not known.models

    def custom_model(self, info: ProviderInfo, model_id: str) -> Model:
        """Return a model for an id that nobody lists, with the overrides that the user has for it all the same."""
        model = info.custom_model(model_id)
        for layer in self.layers(info.id):
            override = layer.overrides.get(model_id)
            model = override(model) if override is not None else model
        return model

    def keep(self, rows: Iterable[ProviderInfo]) -> None:
        """Take rows in place of what plugins registered; models.json lies over them, too."""
        self._found.update({row.id: row for row in rows})
        self._read_file()

    # Who speaks their APIs

    def speaks(self, api: str) -> bool:
        """Whether somebody answers for an API; imports nobody to find out."""
        if self._speaker(api) is not None or self.host.registering(_SPEAKERS, api):
            return True
        return any(each.name == api for each in self.host.registrations(_SPEAKERS))

    def add_stream(self, api: str, stream: StreamFunction) -> Callable[[], None]:
        """Let somebody answer for an API, before all plugins; returns how to take that back."""
        mine = (api, stream)
        self._speakers.append(mine)

        def remove() -> None:
            self._speakers = [each for each in self._speakers if each is not mine]

        return remove

    def speaker(self, api: str) -> Provider | None:
        """Return the plugin's provider that answers for an API; None where no plugin does."""
        found = self.host.find(_SPEAKERS, api)
        return found.thing if found is not None else None

    def stream_of(self, model: Model) -> StreamFunction:
        """Return the ``stream`` of whoever speaks a model's API.

        Raises:
            NoModel: Nobody does.
        """
        added = self._speaker(model.api)
        if added is not None:
            return added
        provider = self.speaker(model.api)
        if provider is None:
            raise NoModel(
                f"No installed plugin speaks {model.api!r}, which {model.reference} needs."
                " Install one that does, or choose another model with --model PROVIDER/ID"
            )
        return provider.stream

    def _speaker(self, api: str) -> StreamFunction | None:
        return next((stream for spoken, stream in reversed(self._speakers) if spoken == api), None)


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
