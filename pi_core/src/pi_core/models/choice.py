"""Which model is meant by what the user wrote, and which one when the user wrote nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.models.patterns import ModelMatch, is_glob, ranked, similar, split_level
from pi_hookspecs import NoModel, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_core.models.auth import ModelAuth
    from pi_core.models.tables import ModelTables
    from pi_core.settings import Settings
    from pi_hookspecs import Model, ProviderInfo, ThinkingLevel

__all__ = ["ModelChoice"]

_KNOWN_FIRST = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
_CLOSE = 20
"""A word that has its letters, in order, in more models than that is close to none."""

_NAMED = 4
"""How many variables or models a message names."""


class ModelChoice:
    """Finds models by name, and chooses one.

    Args:
        tables: The providers.
        keys: Who has a key.
        settings: ``defaultProvider`` and ``defaultModel``.
        warn: Told what the user should know.
    """

    def __init__(self, tables: ModelTables, keys: ModelAuth, settings: Settings, warn: Callable[[str], None]) -> None:
        self._tables = tables
        self._keys = keys
        self._settings = settings
        self._warn = warn

    def provider(self, provider_id: str) -> ProviderInfo:
        """Return a provider's row.

        Raises:
            UnknownName: Nobody knows the provider.
        """
        info = self._tables.info(provider_id)
        if info is None:
            broken = "models.json, which may define it, has mistakes"
            hint = broken if self._tables.problems else "pi plugins lists what is installed"
            raise UnknownName("provider", provider_id, () if self._tables.problems else self._tables.ids(), hint)
        return info

    def ready(self) -> dict[str, bool]:
        """Return the ids of the providers that have a key or need none, and whether they have a default model.

        Those whose models are used only when they are named are not among them.
        """
        return self._those(self._keys.is_configured)

    def _those(self, can_be_used: Callable[[ProviderInfo], bool]) -> dict[str, bool]:
        return {
            each.id: each.default_model is not None
            for each in self._tables.outlines()
            if not each.only_by_name and can_be_used(each)
        }

    # By name

    def find(self, reference: str, provider: str | None = None) -> ModelMatch:
        """Return what ``provider/id``, an id, or a part of one means, with the ``:level`` behind it.

        Raises:
            UnknownName: No such provider, or no model that this could mean.
            UserError: Models of several providers have this name.
        """
        if provider is not None:
            info = self.provider(provider)
            return self._in(info, _below(info, reference))
        named = self.named(reference)
        pattern, level = split_level(reference)
        readings: dict[str, ThinkingLevel | None] = {reference: None, pattern: level}  # an id may end like a level
        for text, asked in readings.items():
            if named is not None and (model := named.model(text.partition("/")[2])) is not None:
                return ModelMatch(model, asked)
        for text, asked in readings.items():
            if (model := self._listed(text, named)) is not None:
                return ModelMatch(model, asked)
        if named is not None:
            return self._in(named, reference.partition("/")[2])
        for text, asked in readings.items():
            if (model := self._alike(text)) is not None:
                return ModelMatch(model, asked)
        raise self._unknown(pattern)

    def named(self, reference: str) -> ProviderInfo | None:
        """Return the provider that a ``provider/id`` begins with; None where it begins with none."""
        prefix, slash, _ = reference.partition("/")
        return self._tables.info(prefix) if slash else None

    def _in(self, info: ProviderInfo, reference: str) -> ModelMatch:
        """Return a provider's model: by id, by a part of it, else of an id that the table does not know."""
        pattern, level = split_level(reference)
        for text, asked in {reference: None, pattern: level}.items():
            if found := ranked(text, info.models):
                return ModelMatch(found[0], asked)
        if not pattern or is_glob(pattern):
            raise UnknownName(
                "model", f"{info.id}/{reference}", (), f"pi --list-models {info.id}/ lists those of {info.id}"
            )
        return ModelMatch(self.exact(info, pattern), level)

    def _listed(self, model_id: str, named: ProviderInfo | None) -> Model | None:
        """Return the model of exactly this id, which at a gateway may look like ``named``'s own.

        Providers with a key are looked at first. Whoever has the named provider's key means that provider, not a
        gateway that he cannot use.
        """
        ready = self.ready()
        found = _models_of(map(self.provider, ready), model_id)
        if not found and (named is None or named.id not in ready):
            found = _models_of((info for info in self._tables.infos() if info.id not in ready), model_id)
        return self._the_one(found, model_id)

    def _alike(self, pattern: str) -> Model | None:
        """Return the best of the models that a pattern fits, of providers with a key if there is one."""
        ready = self.ready()
        found = ranked(pattern, (model for each in ready for model in self.provider(each).models))
        if found:
            return self._the_one([each for each in found if each.id.lower() == found[0].id.lower()], pattern)
        others = (info for info in self._tables.infos() if info.id not in ready)
        found = ranked(pattern, (model for info in others for model in info.models))
        best = {model.provider: model for model in reversed(found)}  # of each provider the first
        return self._the_one([model for model in found if best[model.provider] is model], pattern)

    def _the_one(self, found: Sequence[Model], reference: str) -> Model | None:
        """Return one of the models that have a name, one per provider; None where there is none.

        Raises:
            UserError: Nothing tells which one is meant.
        """
        if len(found) <= 1:
            return found[0] if found else None
        preferred = self._settings.get_str("defaultProvider", None)
        chosen = next((model for model in found if model.provider == preferred), None)
        if chosen is not None:
            return chosen
        infos = [self.provider(model.provider) for model in found]
        names = self._named(found)
        if any(self._keys.is_configured(info) for info in infos):
            advice = f'Say which one, as in --model {names[0]}, or set "defaultProvider"'
        else:
            advice = f"None of these has a key. Set one ({self._variables(infos)}), or name a model in full"
        raise UserError(f"Model {reference!r} may mean {' or '.join(names)}. {advice}.")

    def _named(self, models: Sequence[Model]) -> list[str]:
        """Return the names of some models as a message has them: well-known providers first, and not too many."""
        fame = {model.provider: _fame_of(self.provider(model.provider)) for model in models}
        names = [model.reference for model in sorted(models, key=lambda model: fame[model.provider])]
        return names if len(names) <= _NAMED else [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} others"]

    def _unknown(self, reference: str) -> UnknownName:
        """Return the error for a name that fits nothing; it names models that look like it."""
        if (info := self._tables.info(reference)) is not None:
            return UnknownName(
                "model", reference, (), f"It is a provider: --provider {info.id}, or --model {info.id}/ID"
            )
        models = [model for info in self._tables.infos() for model in info.models]
        prefix, slash, _ = reference.partition("/")
        hint = f"No plugin knows a provider {prefix!r}, and no" if slash else "No"
        hint += " model has this in its id or name"
        if self._tables.problems:
            missing = f"No plugin knows a provider {prefix!r}" if slash else "No model has this in its id or name"
            return UnknownName("model", reference, (), f"{missing}; models.json, which may define it, has mistakes")
        close = similar(reference, models)
        if 0 < len(close) <= _CLOSE:
            hint += f"; close to it are {', '.join(self._named(close))}"
        hint += ". pi --list-models [SEARCH] shows what there is"
        return UnknownName("model", reference, [model.reference for model in models], hint)

    def exact(self, info: ProviderInfo, model_id: str) -> Model:
        """Return a provider's model; an id that its table does not know is used as it is, with a warning.

        A server that has not said which models it has, because it still loads or does not run, may well have this one.
        """
        model: Model | None = info.model(model_id)
        if model is not None:
            return model
        if info.models or not self._tables.is_unlisted(info):
            self._warn(f'Model "{model_id}" not found for provider "{info.id}". Using custom model id.')
        return self._tables.custom_model(info, model_id)

    # Whether a name says enough

    def is_placed(self, reference: str | None, provider: str | None) -> bool:
        """Return whether a name says at which provider the model is."""
        return provider is not None or reference is None or self.named(reference) is not None

    def unlisted(self, reference: str | None, provider: str | None) -> str | None:
        """Return the provider at which a model is meant, if only its server can tell whether it has that."""
        if reference is None:
            reference, provider = self._preferred(provider)
        name = reference or ""
        info = self._tables.info(provider) if provider is not None else self.named(name)
        if info is None or not self._tables.is_unlisted(info):
            return None
        return None if info.model(_below(info, name)) else info.id

    # Unasked

    def _preferred(self, provider_id: str | None = None) -> tuple[str | None, str | None]:
        """Return the settings' model and provider, as far as they count where the user named at most a provider."""
        default = self._settings.get_str("defaultModel", None)
        preferred = self._settings.get_str("defaultProvider", None)
        return (None, provider_id) if provider_id is not None and provider_id != preferred else (default, preferred)

    def choose(self, provider_id: str | None = None) -> ModelMatch:
        """Return the model to use when the user names none, or only the provider.

        Raises:
            NoModel: Nothing is configured; the message says what to set.
            UnknownName: No plugin knows the provider.
        """
        default, preferred = self._preferred(provider_id)
        if default is not None:
            return self.find(default, preferred)
        if preferred is not None:
            return ModelMatch(self._default_of(self.provider(preferred)))
        unspoken: list[ProviderInfo] = []
        for can_be_used in (self._keys.has_key, self._keys.is_configured):  # plugins with keys are asked last
            for info in self._candidates(self._those(can_be_used)):
                model = self._default_of(info)
                if self._tables.speaks(model.api):
                    return ModelMatch(model)
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
            why = f", and nothing at {info.base_url} tells of any" if info.keyless and info.base_url else ""
            message = f"Provider {info.id!r} lists no models{why}. Name one with --model {info.id}/ID."
            raise NoModel(message)
        return self.exact(info, model_id)

    def _no_model(self, unspoken: Iterable[ProviderInfo]) -> NoModel:
        """Return the error of a choice without candidates; ``unspoken`` have keys and nobody who speaks their API."""
        variables = self._variables(info for info in self._tables.infos() if self._tables.speaks(info.api))
        keys = (
            f"Sign in with pi auth login, or set a provider's key ({variables})"
            if variables
            else "Install a provider's plugin"
        )
        problem = next(
            (f"{info.id} has a key, but no installed plugin speaks {info.api}." for info in unspoken),
            "No API key found for any model.",
        )
        return NoModel(
            f"{problem} {keys}, and choose with --model PROVIDER/ID."
            " To try pi without a key or a network: --model offline/rules"
            " (a rule-based stand-in, not a language model)."
        )

    @staticmethod
    def _variables(infos: Iterable[ProviderInfo]) -> str:
        """Return the variables of some providers' keys as they read in a message, the well-known ones first."""
        names = sorted({_variable_of(info) for info in infos if info.key_variables}, key=_by_fame)
        return ", ".join(names[:_NAMED])


def _below(info: ProviderInfo, reference: str) -> str:
    """Return a reference without the provider's id in front."""
    prefix = f"{info.id}/"
    return reference[len(prefix) :] if reference.lower().startswith(prefix.lower()) else reference


def _models_of(infos: Iterable[ProviderInfo], model_id: str) -> list[Model]:
    """Return what several providers have under one id."""
    return [model for info in infos if (model := info.model(model_id)) is not None]


def _variable_of(info: ProviderInfo) -> str:
    """Return the variable to name: of several, the one for a key, not for a token of a login."""
    return next((name for name in info.key_variables if name.endswith("_API_KEY")), info.key_variables[0])


def _fame_of(info: ProviderInfo) -> int:
    return _by_fame(_variable_of(info))[0] if info.key_variables else len(_KNOWN_FIRST)


def _by_fame(variable: str) -> tuple[int, str]:
    return _KNOWN_FIRST.index(variable) if variable in _KNOWN_FIRST else len(_KNOWN_FIRST), variable
