"""Resolves a name that the user wrote to a model, and chooses the model if the user wrote none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.models.patterns import ModelMatch, is_glob, ranked, searched, split_level
from pi_hookspecs import NoModel, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_core.models.auth import ModelAuth
    from pi_core.models.tables import ModelTables
    from pi_core.settings import Settings
    from pi_hookspecs import Model, ProviderInfo, ThinkingLevel

__all__ = ["ModelResolver"]

_WELL_KNOWN = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
_MAX_SIMILAR = 20
"""If there are more similar models than this, an error message suggests none of them."""

_MAX_NAMES = 4
"""Maximum number of variables or models in an error message."""


class ModelResolver:
    """Finds models by name, and chooses a default.

    Args:
        tables: The providers and their models.
        keys: Knows which providers have a key.
        settings: Read for ``defaultProvider`` and ``defaultModel``.
        warn: Called with each warning for the user.
    """

    def __init__(self, tables: ModelTables, keys: ModelAuth, settings: Settings, warn: Callable[[str], None]) -> None:
        self._tables = tables
        self._keys = keys
        self._settings = settings
        self._warn = warn

    def provider(self, provider_id: str) -> ProviderInfo:
        """Return a provider's row.

        Raises:
            UnknownName: No plugin and no configuration defines the provider.
        """
        info = self._tables.info(provider_id)
        if info is None:
            broken = "models.json, which may define it, has errors"
            hint = broken if self._tables.problems else "pi plugins lists what is installed"
            raise UnknownName("provider", provider_id, () if self._tables.problems else self._tables.ids(), hint)
        return info

    def ready(self) -> dict[str, bool]:
        """Return the ids of the usable providers, each with whether it has a default model.

        Providers whose models are used only by name (``only_by_name``) are left out.
        """
        return self._usable(self._keys.is_configured)

    def _usable(self, can_be_used: Callable[[ProviderInfo], bool]) -> dict[str, bool]:
        return {
            each.id: each.default_model is not None
            for each in self._tables.outlines()
            if not each.only_by_name and can_be_used(each)
        }

    # By name

    def find(self, reference: str, provider: str | None = None) -> ModelMatch:
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
        if provider is not None:
            info = self.provider(provider)
            return self._find_at(info, _strip_provider(info, reference))
        named = self.requested_provider(reference)
        pattern, level = split_level(reference)
        readings: dict[str, ThinkingLevel | None] = {reference: None, pattern: level}  # an id may end in ":high" itself
        for text, asked in readings.items():
            if named is not None and (model := named.model(text.partition("/")[2])) is not None:
                return ModelMatch(model, asked)
        for text, asked in readings.items():
            if (model := self._exact_id(text, named)) is not None:
                return ModelMatch(model, asked)
        if named is not None:
            return self._find_at(named, reference.partition("/")[2])
        for text, asked in readings.items():
            if (model := self._best_match(text)) is not None:
                return ModelMatch(model, asked)
        raise self._unknown_model(pattern)

    def requested_provider(self, reference: str) -> ProviderInfo | None:
        """Return the provider at the beginning of a ``provider/id``; None if it begins with no known provider."""
        prefix, slash, _ = reference.partition("/")
        return self._tables.info(prefix) if slash else None

    def _find_at(self, info: ProviderInfo, reference: str) -> ModelMatch:
        """Return a provider's model by id or by a part of the id, else a custom model with an unlisted id."""
        pattern, level = split_level(reference)
        for text, asked in {reference: None, pattern: level}.items():
            if info.model(text) is None and text in info.retirements:  # it is not a part of another model's id
                return ModelMatch(self.exact(info, text), asked)
            if found := ranked(text, info.models):
                return ModelMatch(found[0], asked)
        if not pattern or is_glob(pattern):
            raise UnknownName(
                "model", f"{info.id}/{reference}", (), f"pi --list-models {info.id}/ lists those of {info.id}"
            )
        return ModelMatch(self.exact(info, pattern), level)

    def _exact_id(self, model_id: str, named: ProviderInfo | None) -> Model | None:
        """Return the model with exactly this id.

        A gateway lists ids such as ``anthropic/claude``, which look like a model of provider ``anthropic`` (``named``).
        Providers with a key are searched first; if ``named`` has a key, gateways without a key are not searched.
        """
        ready = self.ready()
        found = _models_with_id(map(self.provider, ready), model_id)
        if not found and (named is None or named.id not in ready):
            found = _models_with_id((info for info in self._tables.infos() if info.id not in ready), model_id)
        return self._pick(found, model_id)

    def _best_match(self, pattern: str) -> Model | None:
        """Return the best match of a pattern; models of providers with a key come first."""
        ready = self.ready()
        found = ranked(pattern, (model for each in ready for model in self.provider(each).models))
        if found:
            return self._pick([each for each in found if each.id.lower() == found[0].id.lower()], pattern)
        others = (info for info in self._tables.infos() if info.id not in ready)
        found = ranked(pattern, (model for info in others for model in info.models))
        best = {model.provider: model for model in reversed(found)}  # the first match of each provider
        return self._pick([model for model in found if best[model.provider] is model], pattern)

    def _pick(self, found: Sequence[Model], reference: str) -> Model | None:
        """Return the match of the default provider, or the only match; None for no matches.

        Raises:
            UserError: Several providers match and none of them is the default.
        """
        if len(found) <= 1:
            return found[0] if found else None
        preferred = self._settings.get_str("defaultProvider", None)
        chosen = next((model for model in found if model.provider == preferred), None)
        if chosen is not None:
            return chosen
        infos = [self.provider(model.provider) for model in found]
        names = self._format_names(found)
        if any(self._keys.is_configured(info) for info in infos):
            advice = f'Specify one, as in --model {names[0]}, or set "defaultProvider"'
        else:
            advice = f"None of these has a key. Set one ({self._variables(infos)}), or name a model in full"
        raise UserError(f"Model {reference!r} may mean {' or '.join(names)}. {advice}.")

    def _format_names(self, models: Sequence[Model]) -> list[str]:
        """Return model names for an error message: well-known providers first, at most ``_MAX_NAMES``."""
        rank = {model.provider: _rank(self.provider(model.provider)) for model in models}
        names = [model.reference for model in sorted(models, key=lambda model: rank[model.provider])]
        return (
            names if len(names) <= _MAX_NAMES else [*names[: _MAX_NAMES - 1], f"{len(names) - _MAX_NAMES + 1} others"]
        )

    def _unknown_model(self, reference: str) -> UnknownName:
        """Return the error for a name without a match; it suggests similar models."""
        if (info := self._tables.info(reference)) is not None:
            return UnknownName(
                "model", reference, (), f"It is a provider: --provider {info.id}, or --model {info.id}/ID"
            )
        models = [model for info in self._tables.infos() for model in info.models]
        prefix, slash, _ = reference.partition("/")
        hint = f"No plugin registers a provider {prefix!r}, and no" if slash else "No"
        hint += " model has this in its id or name"
        if self._tables.problems:
            missing = f"No plugin registers a provider {prefix!r}" if slash else "No model has this in its id or name"
            return UnknownName("model", reference, (), f"{missing}; models.json, which may define it, has errors")
        usable = {model.reference for each in self.ready() for model in self.provider(each).models}
        first = [model for model in models if model.reference in usable]
        close = searched(reference, first) or searched(reference, models)
        if 0 < len(close) <= _MAX_SIMILAR:
            hint += f"; similar names are {', '.join(self._format_names(close))}"
        hint += ". pi --list-models [SEARCH] shows them, as does /model"
        error = UnknownName("model", reference, usable, hint)
        return error if error.nearest else UnknownName("model", reference, [each.reference for each in models], hint)

    def exact(self, info: ProviderInfo, model_id: str) -> Model:
        """Return a provider's model; an id that the provider does not list becomes a custom model, with a warning.

        There is no warning for a server that has not listed its models yet, because it may be starting and have this
        model.

        Raises:
            UserError: The model is not for conversations.
        """
        model: Model | None = info.model(model_id)
        if model is not None:
            return model
        other = next((each for each in info.all_models if each.id.lower() == model_id.lower()), None)
        if other is not None:
            kind = {"image": "an image model", "classifier": "a classifier"}[other.type or "image"]
            raise UserError(
                f"{other.reference} is {kind}, which cannot hold a conversation. See pi help models for its use."
            )
        relative = None
        if info.models or not self._tables.is_discoverable(info):
            from pi_core.models.families import nearest_of_family

            relative = nearest_of_family(model_id, info.models)
            warning = f'Model "{model_id}" not found for provider "{info.id}". Using custom model id.'
            if relative is not None:
                warning += f" Its limits, thinking levels and prices are taken to be those of {relative.id}."
            self._warn(warning)
        return self._tables.custom_model(info, model_id, relative)

    def has(self, provider_id: str, model_id: str) -> bool:
        """Return whether a stored id may be used; see ``ModelRegistry.has``."""
        info = self._tables.info(provider_id)
        if info is None or not info.all_models or self._tables.is_discoverable(info):
            return True
        if (model_id, provider_id) == self._defaults():
            return True
        return any(each.id.lower() == model_id.lower() for each in info.all_models)

    # Before a server is asked

    def names_provider(self, reference: str | None, provider: str | None) -> bool:
        """Return whether the provider is known without a search: it is given, part of the name, or the default."""
        return provider is not None or reference is None or self.requested_provider(reference) is not None

    def provider_to_discover(self, reference: str | None, provider: str | None) -> str | None:
        """Return the requested provider if its server must be asked whether it has the model; else None."""
        if reference is None:
            reference, provider = self._defaults(provider)
        name = reference or ""
        info = self._tables.info(provider) if provider is not None else self.requested_provider(name)
        if info is None or not self._tables.is_discoverable(info):
            return None
        return None if info.model(_strip_provider(info, name)) else info.id

    # Without a name

    def _defaults(self, provider_id: str | None = None) -> tuple[str | None, str | None]:
        """Return the settings' default model and provider; another requested provider replaces both."""
        default = self._settings.get_str("defaultModel", None)
        preferred = self._settings.get_str("defaultProvider", None)
        return (None, provider_id) if provider_id is not None and provider_id != preferred else (default, preferred)

    def choose(self, provider_id: str | None = None) -> ModelMatch:
        """Return the model to use if the user names no model, or only the provider.

        Raises:
            NoModel: No provider is configured; the message says what to set.
            UnknownName: No plugin knows the provider.
        """
        default, preferred = self._defaults(provider_id)
        if default is not None:
            return self.find(default, preferred)
        if preferred is not None:
            return ModelMatch(self._default_model(self.provider(preferred)))
        unsupported: list[ProviderInfo] = []
        for can_be_used in (self._keys.has_key, self._keys.is_configured):  # credential sources are asked last
            for info in self._candidates(self._usable(can_be_used)):
                model = self._default_model(info)
                if self._tables.has_api(model.api):
                    return ModelMatch(model)
                unsupported.append(info)
        raise self._no_model(unsupported)

    def _candidates(self, ready: Mapping[str, bool]) -> Iterator[ProviderInfo]:
        """Yield the candidate providers: first with a default model, then other configured providers with any model."""
        yield from (self.provider(each) for each, has_default in ready.items() if has_default)
        for each, has_default in ready.items():
            if not has_default and self._tables.layers(each) and (info := self.provider(each)).models:
                yield info

    def _default_model(self, info: ProviderInfo) -> Model:
        """Return a provider's default model, else its first model.

        Raises:
            NoModel: The provider lists no models.
        """
        model_id = info.default_model or next((model.id for model in info.models), None)
        if model_id is None:
            why = f", and no server at {info.base_url} lists any" if info.keyless and info.base_url else ""
            message = f"Provider {info.id!r} lists no models{why}. Name one with --model {info.id}/ID."
            raise NoModel(message)
        return self.exact(info, model_id)

    def _no_model(self, unsupported: Iterable[ProviderInfo]) -> NoModel:
        """Return the error for no usable model; ``unsupported`` providers have a key, but no plugin for their API."""
        variables = self._variables(info for info in self._tables.infos() if self._tables.has_api(info.api))
        keys = (
            f"Sign in with pi auth login, or set a provider's key ({variables})"
            if variables
            else "Install a provider's plugin"
        )
        problem = next(
            (f"{info.id} has a key, but no installed plugin implements the API {info.api}." for info in unsupported),
            "No API key found for any model.",
        )
        return NoModel(
            f"{problem} {keys}, and choose with --model PROVIDER/ID (pi help keys has more)."
            " To try pi without a key or a network: --model offline/rules"
            " (a rule-based stand-in, not a language model)."
        )

    @staticmethod
    def _variables(infos: Iterable[ProviderInfo]) -> str:
        """Return the key variables of some providers for an error message, well-known ones first."""
        names = sorted({_variable_of(info) for info in infos if info.key_variables}, key=_rank_key)
        return ", ".join(names[:_MAX_NAMES])


def _strip_provider(info: ProviderInfo, reference: str) -> str:
    """Return a reference without a leading ``provider/``."""
    prefix = f"{info.id}/"
    return reference[len(prefix) :] if reference.lower().startswith(prefix.lower()) else reference


def _models_with_id(infos: Iterable[ProviderInfo], model_id: str) -> list[Model]:
    """Return the models that several providers list under one id."""
    return [model for info in infos if (model := info.model(model_id)) is not None]


def _variable_of(info: ProviderInfo) -> str:
    """Return the variable to name in a message; an API key's variable is preferred to a login token's."""
    return next((name for name in info.key_variables if name.endswith("_API_KEY")), info.key_variables[0])


def _rank(info: ProviderInfo) -> int:
    return _rank_key(_variable_of(info))[0] if info.key_variables else len(_WELL_KNOWN)


def _rank_key(variable: str) -> tuple[int, str]:
    return _WELL_KNOWN.index(variable) if variable in _WELL_KNOWN else len(_WELL_KNOWN), variable
