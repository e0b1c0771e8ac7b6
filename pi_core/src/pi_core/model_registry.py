"""Which model is meant: the providers' tables joined, and the choice when the user names none (decision D25)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_hookspecs import MissingKey, NoModel, UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_hookspecs import Model, Provider, ProviderInfo, StreamFunction

__all__ = ["ModelRegistry"]


class ModelRegistry:
    """Models, providers and keys, as the installed plugins and the environment have them.

    Args:
        host: Where the tables and the providers are registered.
        settings: ``defaultProvider`` and ``defaultModel``.
        environ: Where keys are looked up; the process's environment when None.
    """

    def __init__(self, host: PluginHost, settings: Settings, environ: Mapping[str, str] | None = None) -> None:
        self._host = host
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self.warnings: list[str] = []
        """What the user should know about the choice of model."""

    def provider_ids(self) -> list[str]:
        """Return the ids of all known providers."""
        ids = {name for record in self._host.registering("register_models") for name in record.names("register_models")}
        return sorted(ids | {each.name for each in self._host.registrations("register_models")})

    def provider(self, provider_id: str) -> ProviderInfo:
        """Return a provider's row.

        Raises:
            UnknownName: No plugin knows the provider.
        """
        wanted = provider_id.lower()
        for known in self.provider_ids():
            if known.lower() == wanted and (found := self._host.find("register_models", known)) is not None:
                info: ProviderInfo = found.thing
                return info
        raise UnknownName("provider", provider_id, self.provider_ids(), "pi plugins lists what is installed")

    def find(self, reference: str, provider: str | None = None) -> Model:
        """Return the model that ``provider/id``, or an id, means (pi.md 12.3).

        An id that a known provider does not list is used as it is, with a warning.

        Raises:
            UnknownName: No such provider, or no model of this id at any provider.
        """
        if provider is not None:
            info = self.provider(provider)
            return self._of(info, reference.removeprefix(f"{info.id}/"))
        infos = [self.provider(each) for each in self.provider_ids()]
        prefix, slash, model_id = reference.partition("/")
        named = next((info for info in infos if slash and info.id.lower() == prefix.lower()), None)
        if named is not None and (model := named.model(model_id)) is not None:
            return model
        for info in infos:  # an id may itself look like a provider's, at a gateway
            if (model := info.model(reference)) is not None:
                return model
        if named is not None:
            return self._of(named, model_id)
        known = [model.reference for info in infos for model in info.models]
        raise UnknownName("model", reference, known, "name it as PROVIDER/ID")

    def choose(self, provider_id: str | None = None) -> Model:
        """Return the model to use when the user names none, or only the provider.

        Raises:
            NoModel: Nothing is configured; the message says what to set.
            UnknownName: No plugin knows the provider.
        """
        default = self._settings.get_str("defaultModel", None)
        preferred = self._settings.get_str("defaultProvider", None)
        if provider_id is not None and provider_id != preferred:
            return self._choose_from(self.provider(provider_id))
        if default is not None:
            return self.find(default, preferred)
        if preferred is not None:
            return self._choose_from(self.provider(preferred))
        infos = [self.provider(each) for each in self.provider_ids()]
        for info in infos:
            if info.default_model is not None and (info.keyless or self._key(info)):
                return self._of(info, info.default_model)
        variables = sorted({variable for info in infos for variable in info.key_variables})
        keys = f"Set a provider's key ({', '.join(variables[:4])})" if variables else "Install a provider's plugin"
        message = (
            f"No API key found for any model. {keys}, and choose with --model PROVIDER/ID."
            " To try pi without a key or a network: --model offline/rules"
            " (a rule-based stand-in, not a language model)."
        )
        raise NoModel(message)

    def _choose_from(self, info: ProviderInfo) -> Model:
        """Return a provider's default; one that is never chosen unasked is, once it is named, its first model."""
        model_id = info.default_model or next((model.id for model in info.models), None)
        if model_id is None:
            message = f"Provider {info.id!r} lists no models. Name one with --model {info.id}/ID."
            raise NoModel(message)
        return self._of(info, model_id)

    def stream_of(self, model: Model) -> StreamFunction:
        """Return the ``stream`` of the provider that speaks the model's API.

        Raises:
            UnknownName: No plugin answers for the API.
        """
        found = self._host.find("register_providers", model.api)
        if found is None:
            known = {
                name
                for record in self._host.registering("register_providers")
                for name in record.names("register_providers")
            }
            raise UnknownName("API", model.api, known, f"no plugin answers for it; {model.reference} needs one")
        provider: Provider = found.thing
        return provider.stream

    def api_key(self, provider_id: str) -> str | None:
        """Return a provider's key; None for a provider that needs none.

        Raises:
            MissingKey: The provider needs a key and has none; the message names what to set.
        """
        info = self.provider(provider_id)
        key = self._key(info)
        if key is None and not info.keyless:
            message = f"No API key found for {info.id}. Set {' or '.join(info.key_variables) or 'its key'}."
            raise MissingKey(message)
        return key

    def _key(self, info: ProviderInfo) -> str | None:
        return next((key for name in info.key_variables if (key := self._environ.get(name))), None)

    def _of(self, info: ProviderInfo, model_id: str) -> Model:
        model = info.model(model_id)
        if model is None:
            warning = f'Model "{model_id}" not found for provider "{info.id}". Using custom model id.'
            if warning not in self.warnings:
                self.warnings.append(warning)
            model = info.custom_model(model_id)
        return model
