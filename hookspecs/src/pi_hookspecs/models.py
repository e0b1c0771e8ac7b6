"""Models, and the providers that serve them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["THINKING_LEVELS", "Model", "ModelCost", "ModelType", "PriceTier", "ProviderInfo", "ThinkingLevel"]

ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Reasoning effort; ``xhigh`` and ``max`` only where the model maps them."""

THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
"""All levels, weakest first."""

VIRTUAL_API = "virtual"
"""API id of virtual models, which no provider implements: each of their requests goes to another model."""

ModelType: TypeAlias = Literal["image", "classifier"]
"""Purpose of a model that is not for conversations: ``image`` draws, ``classifier`` rates how well labels fit."""


@frozen(kw_only=True, eq=False, repr=False)
class PriceTier(Value):
    """Other rates for a whole request whose input is above ``input_tokens_above`` tokens."""

    input_tokens_above: int
    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0


@frozen(kw_only=True, eq=False, repr=False)
class ModelCost(Value):
    """US dollars per million tokens; ``image`` is US dollars per image, for models that are not billed by tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tiers: tuple[PriceTier, ...] = ()
    image: float | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Model(Value):
    """One model as one provider serves it.

    Attributes:
        id: The provider's name for it.
        api: Its API id, which a provider plugin implements.
        provider: The provider's id.
        reasoning: Whether it supports reasoning.
        input: The kinds of input it accepts.
        context_window: Tokens of input and output together.
        max_tokens: Maximum tokens of output.
        headers: Sent with every request; not in ``repr``, because they may contain a key.
        compat: Options of the API's codec; opaque to core.
        thinking_level_map: Level to the API's own value; None marks a level as unsupported.
        type: What it is for; None for a conversation. Others are not offered as models of a session:
            ``ctx.models.generate_image`` and ``ctx.models.classify`` use them.
        prompt_cache: Seconds for which the provider keeps a prompt in its cache, by retention (``short``, ``long``);
            None if that is not known.
    """

    id: str
    name: str
    api: str
    provider: str
    base_url: str = ""
    reasoning: bool = False
    input: tuple[Literal["text", "image"], ...] = ("text",)
    cost: ModelCost = Factory(ModelCost)
    context_window: int = 128_000
    max_tokens: int = 16_384
    headers: dict[str, str] | None = field(default=None, repr=False)
    compat: dict[str, Any] | None = None
    thinking_level_map: dict[str, str | None] | None = None
    prompt_cache: dict[str, int] | None = None
    type: ModelType | None = None
    extra: dict[str, Any] = Factory(dict)

    @property
    def reference(self) -> str:
        """``provider/id``, as ``--model`` accepts it."""
        return f"{self.provider}/{self.id}"

    @property
    def is_virtual(self) -> bool:
        """Whether its requests go to other models; see ``VirtualModel``."""
        return self.api == VIRTUAL_API


@frozen(kw_only=True, eq=False, repr=False)
class ProviderInfo(Value):
    """A provider and the models it serves, as ``register_models`` returns it.

    Attributes:
        id: The value for ``--provider``.
        name: Display name.
        api: API id of models without one, and of model ids that are not in the table.
        base_url_from: An address in which ``{NAME}`` is an environment variable, such as
            ``{GOOGLE_GEMINI_BASE_URL}/v1beta``. If all of these variables are set, it replaces ``base_url``,
            including in models with the same base URL; an address that the user or a program configures is kept.
        key_variables: Environment variables for the key; the first that is set is used.
        keyless: Whether it needs no key.
        default_model: Model id to select when the user names none; None means it is never selected automatically.
        only_by_name: Whether its models must be named, because lists and cycling leave them out: for test doubles.
        headers: Sent with requests for a model id that is not in the table; a listed model has its own headers.
        compat: As ``headers``, for ids that are not in the table.
        models: Its models. May be given as a function, which is called once, on first access: a run with another
            provider does not pay for hundreds of models. None, with ``keyless``: the plugin that implements ``api``
            asks the server at ``base_url`` (``ModelDiscovery``).
        retirements: When the vendor ends models that are not listed, by model id: ``{"date": "2026-10-23", "successor":
            ID}``, the second if the vendor names one. A listed model has this in ``extra["retirement"]``. May be given
            as a function, as ``models``.

    If ``models`` is a function, equality compares the function, so that a comparison loads no models.
    """

    id: str
    name: str
    api: str
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    keyless: bool = False
    default_model: str | None = None
    only_by_name: bool = False
    headers: dict[str, str] | None = field(default=None, repr=False)
    compat: dict[str, Any] | None = None
    base_url_from: str = ""
    _models: tuple[Model, ...] | Callable[[], tuple[Model, ...]] = field(default=(), repr=False, alias="models")
    _retirements: dict[str, dict[str, str]] | Callable[[], dict[str, dict[str, str]]] | None = field(
        default=None, repr=False, alias="retirements"
    )

    @cached_property
    def retirements(self) -> dict[str, dict[str, str]]:
        """When models that are not listed are retired; loaded on first access."""
        return (self._retirements() if callable(self._retirements) else self._retirements) or {}

    @cached_property
    def all_models(self) -> tuple[Model, ...]:
        """The provider's models of all types; loaded on first access."""
        return self._models() if callable(self._models) else self._models

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The provider's models for conversations; loaded on first access."""
        models = self.all_models
        return tuple(each for each in models if each.type is None) if any(each.type for each in models) else models

    def model(self, model_id: str) -> Model | None:
        """Return the model with this id, ignoring case; None if the table has none."""
        wanted = model_id.lower()
        return next((model for model in self.models if model.id.lower() == wanted), None)

    def custom_model(self, model_id: str) -> Model:
        """Return a model for an id that is not in the table."""
        return Model(
            id=model_id,
            name=model_id,
            api=self.api,
            provider=self.id,
            base_url=self.base_url,
            headers=self.headers,
            compat=self.compat,
        )
