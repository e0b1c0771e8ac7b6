"""Parses the JSON of providers and models (the format of models.json), and finds the line of an error.

Plugins read such files with ``load_models``; this module is for code that reads the format from elsewhere, as core
reads the user's own models.json.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from attrs import evolve

from pi_hookspecs.models import THINKING_LEVELS, Model, ModelCost, PriceTier, ProviderInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pi_hookspecs.models import ModelType

__all__ = [
    "Wrong",
    "field_of",
    "headers_of",
    "line_of",
    "models_of",
    "override_of",
    "provider_of",
    "repeated_keys",
    "retirement_of",
    "retirements_of",
]

_T = TypeVar("_T")
_D = TypeVar("_D")

_VARIABLE = r"\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})"
_RATES = {"input": "input", "output": "output", "cacheRead": "cache_read", "cacheWrite": "cache_write"}
_TYPES: tuple[ModelType, ...] = ("image", "classifier")
_MODEL_FIELDS = frozenset(
    (
        *("id", "name", "api", "provider", "baseUrl", "reasoning", "input", "cost", "contextWindow", "maxTokens"),
        *("headers", "compat", "thinkingLevelMap", "promptCache", "type"),
    )
)
_INPUT_LIMITS: dict[str, Any] = {
    "maxRequestBytes": int,
    "images": {
        "maxPerRequest": int,
        "maxPerMessage": int,
        "resize": {"maxWidth": int, "maxHeight": int, "maxBytes": int, "jpegQuality": int},
    },
}
"""What pi reads of ``inputLimits``."""

_DATE = r"\d{4}-\d\d-\d\d"
_ID = r"[\w.:/@+ -]{1,120}"

_REPLACED: tuple[tuple[str, str, type[Any]], ...] = (
    ("name", "name", str),
    ("api", "api", str),
    ("baseUrl", "base_url", str),
    ("reasoning", "reasoning", bool),
)
_KINDS: dict[type, str] = {str: "a string", bool: "true or false", dict: "an object", list: "a list"}


class Wrong(Exception):
    """Something in the file is invalid; ``path`` leads to it, as keys and indexes."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path

    def below(self, *path: str | int) -> Wrong:
        """Return the same error with the path extended at its front."""
        return Wrong(str(self), *path, *self.path)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line, counted from 1, of the value at a path of keys and indexes, or of the last element that exists.

    Args:
        text: Valid JSON. The last of repeated keys counts, as in the parsed value.
        path: Keys of objects and indexes of lists, from the outside in.
    """
    found = at = _skip(text, 0)
    for step in path:
        places = [(start, value) for name, start, value in _members(text, at) if name == step]
        if not places:
            break
        found, at = places[-1]
    return _line(text, found)


def repeated_keys(text: str, path: Sequence[str | int]) -> list[tuple[str, int]]:
    """Return the repeated keys of the object at the end of a path, each with the line of its last occurrence.

    Args:
        text: Valid JSON.
        path: Keys of objects and indexes of lists, from the outside in.
    """
    at = _skip(text, 0)
    for step in path:
        at = next((value for name, _, value in _members(text, at) if name == step), len(text))
    places = [(name, start) for name, start, _ in _members(text, at) if isinstance(name, str)]
    names = [name for name, _ in places]
    return [(name, _line(text, start)) for name, start in dict(places).items() if names.count(name) > 1]


def _members(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield the members of the object or list at an offset: key or index, its offset, and the offset of its value."""
    decode = json.JSONDecoder().raw_decode
    opened, at, index = text[at : at + 1], _skip(text, at + 1), 0
    while opened in ("{", "[") and text[at : at + 1] not in ("}", "]"):
        name, start = index, at
        if opened == "{":
            name, at = decode(text, at)
            at = _skip(text, at, ":")
        yield name, start, at
        at, index = _skip(text, decode(text, at)[1], ","), index + 1


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int, sign: str = "") -> int:
    while at < len(text) and text[at] in " \t\r\n\ufeff" + sign:
        at += 1
    return at


def provider_of(
    name: str, data: Any, read_later: Callable[[str, Callable[[str, Any], Any]], Callable[[], Any]]
) -> ProviderInfo:
    """Return the provider that an object of ``providers`` describes.

    Args:
        name: Its key.
        data: The object.
        read_later: Returns the function that loads a part of another file, where ``models`` names one: it takes that
            name, and what reads the part from the provider's object there.

    Raises:
        Wrong: The object is invalid.
    """
    _object(data, f"provider {name!r}")
    models = data.get("models")
    file = models if isinstance(models, str) else None
    loaded = models_of(name, data) if file is None else ()
    api = field_of(data, "api", str, None) or (loaded[0].api if loaded else None)
    if api is None:
        raise Wrong(f"provider {name!r} has no api, the id of its API")
    return ProviderInfo(
        id=name,
        name=field_of(data, "name", str, name),
        api=api,
        base_url=field_of(data, "baseUrl", str, ""),
        base_url_from=field_of(data, "baseUrlFrom", str, ""),
        key_variables=_key_variables(data),
        keyless=field_of(data, "keyless", bool, default=False),
        default_model=field_of(data, "defaultModel", str, None),
        headers=headers_of(data),
        compat=field_of(data, "compat", dict, None),
        models=loaded if file is None else read_later(file, models_of),
        retirements=retirements_of(name, data) if file is None else read_later(file, retirements_of),
    )


def _key_variables(data: Mapping[str, Any]) -> tuple[str, ...]:
    names = field_of(data, "keyVariables", list, [])
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise Wrong(f"{name!r:.60} is not a valid name of an environment variable", "keyVariables", index)
    key = field_of(data, "apiKey", str, None)
    if key is None:
        return tuple(names)
    match = re.fullmatch(_VARIABLE, key)
    if match is None:  # the value may be a key, so it is not in the message
        raise Wrong('apiKey must be the name of an environment variable, as "$ACME_API_KEY"', "apiKey")
    return (match["bare"] or match["braced"], *names)


def retirements_of(name: str, data: Any) -> dict[str, dict[str, str]]:
    """Return when the vendor ends models that are not listed, from an object of ``providers``: by model id.

    Raises:
        Wrong: The object is invalid.
    """
    _object(data, f"provider {name!r}")
    found = {}
    for model_id, each in field_of(data, "retirements", dict, {}).items():
        try:
            found[model_id] = retirement_of(each)
        except Wrong as wrong:
            raise wrong.below("retirements", model_id) from None
    return found


def retirement_of(data: Any) -> dict[str, str]:
    """Return when a vendor ends a model: ``date``, and ``successor`` if the vendor names one.

    Raises:
        Wrong: The object is invalid.
    """
    _object(data, "a retirement")
    for key, form, right in (("date", _DATE, "a date such as 2026-10-23"), ("successor", _ID, "the id of a model")):
        value = data.get(key)
        if not (key != "date" and value is None) and not (isinstance(value, str) and re.fullmatch(form, value)):
            raise Wrong(f"{key} is {value!r:.60}; it must be {right}", key)
    return {key: data[key] for key in ("date", "successor") if data.get(key) is not None}


class _Inherited(NamedTuple):
    """Defaults that a provider's models inherit."""

    provider: str
    api: str | None
    base_url: str | None
    headers: dict[str, str]
    compat: dict[str, Any]


def models_of(name: str, data: Any) -> tuple[Model, ...]:
    """Return the models in an object of ``providers``, each with what it inherits from its provider.

    Raises:
        Wrong: The object is invalid.
    """
    _object(data, f"provider {name!r}")
    api, base_url = field_of(data, "api", str, None), field_of(data, "baseUrl", str, None)
    shared = _Inherited(name, api, base_url, headers_of(data) or {}, field_of(data, "compat", dict, {}))
    made = []
    for index, model in enumerate(field_of(data, "models", list, [])):
        try:
            made.append(_model(model, shared))
        except Wrong as wrong:
            raise wrong.below("models", index) from None
    return tuple(made)


def _model(data: Any, shared: _Inherited) -> Model:
    _object(data, "a model")
    model_id = field_of(data, "id", str, "")
    if not model_id:
        raise Wrong("a model needs an id")
    api = field_of(data, "api", str, shared.api)
    base_url = field_of(data, "baseUrl", str, shared.base_url)
    if api is None or base_url is None:
        lacking = "api" if api is None else "baseUrl"
        raise Wrong(f"model {model_id!r} has no {lacking}, and neither has provider {shared.provider!r}")
    return Model(
        id=model_id,
        name=field_of(data, "name", str, model_id),
        api=api,
        provider=shared.provider,
        base_url=base_url,
        reasoning=field_of(data, "reasoning", bool, default=False),
        input=_input(data),
        cost=_cost(data),
        context_window=_tokens(data, "contextWindow", 128_000),
        max_tokens=_tokens(data, "maxTokens", 16_384),
        headers={**shared.headers, **(headers_of(data) or {})} or None,
        compat={**shared.compat, **field_of(data, "compat", dict, {})} or None,
        thinking_level_map=_levels(data),
        type=_type(data),
        prompt_cache=_prompt_cache(data),
        extra=_extra(data),
    )


def _extra(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that only plugins and parts of pi read; ``inputLimits`` and ``retirement`` are checked."""
    _check_limits(data, {"inputLimits": _INPUT_LIMITS})
    if data.get("retirement") is not None:
        try:
            retirement_of(data["retirement"])
        except Wrong as wrong:
            raise wrong.below("retirement") from None
    return {key: data[key] for key in data.keys() - _MODEL_FIELDS}


def _check_limits(data: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for key, kind in known.items():
        if kind is not int:
            inner = field_of(data, key, dict, {})
            try:
                _check_limits(inner, kind)
            except Wrong as wrong:
                raise wrong.below(key) from None
        elif (value := data.get(key)) is not None and (type(value) is not int or value <= 0):
            raise Wrong(f"{key} is {value!r:.60}; it must be a whole number above 0", key)


def override_of(data: Any) -> Callable[[Model], Model]:
    """Return a function that applies an object of ``modelOverrides`` to a model: the fields it has are replaced.

    ``cost``, ``compat`` and ``headers`` are merged key by key, as are fields that pi does not know.

    Raises:
        Wrong: The object is invalid.
    """
    _object(data, "an override")
    changes: dict[str, Any] = {}
    for key, name, kind in _REPLACED:
        if (value := field_of(data, key, kind, None)) is not None:
            changes[name] = value
    if data.get("input") is not None:
        changes["input"] = _input(data)
    if data.get("type") is not None:
        changes["type"] = _type(data)
    for key, name in (("contextWindow", "context_window"), ("maxTokens", "max_tokens")):
        if data.get(key) is not None:
            changes[name] = _tokens(data, key, 0)
    if data.get("promptCache") is not None:
        changes["prompt_cache"] = _prompt_cache(data)
    levels, headers, compat = _levels(data), headers_of(data), field_of(data, "compat", dict, {})
    cost, extra = field_of(data, "cost", dict, {}), _extra(data)
    _cost(data)

    def override(model: Model) -> Model:
        return evolve(
            model,
            **changes,
            cost=_with_rates(model.cost, cost),
            headers={**(model.headers or {}), **(headers or {})} or None,
            compat={**(model.compat or {}), **compat} or None,
            thinking_level_map={**(model.thinking_level_map or {}), **(levels or {})} or None,
            extra={**model.extra, **extra},
        )

    return override


def _with_rates(cost: ModelCost, data: Mapping[str, Any]) -> ModelCost:
    rates = {name: getattr(cost, name) for name in (*_RATES.values(), "image")} | _rates(data) | _image_rate(data)
    under = {key: rates[name] for key, name in _RATES.items()}
    tiers = _tiers({**under, **data}) if data.get("tiers") is not None else cost.tiers
    return ModelCost(**rates, tiers=tiers)


def _input(data: Mapping[str, Any]) -> Any:
    kinds = field_of(data, "input", list, ["text"])
    for index, kind in enumerate(kinds):
        if kind not in ("text", "image"):
            raise Wrong(f'{kind!r:.60} is not a kind of input; use "text" or "image"', "input", index)
    return tuple(kinds)


def _prompt_cache(data: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the seconds by retention; None for no object, and for an empty one, with which an override removes it."""
    lifetimes = field_of(data, "promptCache", dict, {})
    for retention, seconds in lifetimes.items():
        if retention not in ("short", "long"):
            raise Wrong(f'{retention!r:.60} is not a cache retention; use "short" or "long"', "promptCache", retention)
        if type(seconds) is not int or seconds <= 0:
            raise Wrong(f"{retention} must be a whole number of seconds above 0", "promptCache", retention)
    return dict(lifetimes) or None


def _cost(data: Mapping[str, Any]) -> ModelCost:
    cost = field_of(data, "cost", dict, None)
    if cost is None:
        return ModelCost()
    try:
        return ModelCost(**_rates(cost), **_image_rate(cost), tiers=_tiers(cost))
    except Wrong as wrong:
        raise wrong.below("cost") from None


def _tiers(cost: Mapping[str, Any]) -> tuple[PriceTier, ...]:
    made = []
    for index, tier in enumerate(field_of(cost, "tiers", list, [])):
        try:
            _object(tier, "a tier")
            made.append(PriceTier(input_tokens_above=_tokens(tier, "inputTokensAbove", 0), **_tier_rates(cost, tier)))
        except Wrong as wrong:
            raise wrong.below("tiers", index) from None
    return tuple(made)


def _tier_rates(cost: Mapping[str, Any], tier: Mapping[str, Any]) -> dict[str, float]:
    """Return a tier's rates; missing ones are taken from the base cost."""
    return {"input": 0.0, "output": 0.0, **_rates(cost), **_rates(tier)}


def _rates(data: Mapping[str, Any]) -> dict[str, float]:
    rates = {}
    for key, name in _RATES.items():
        value = data.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise Wrong(f"{key} is {value!r:.60}; it must be US dollars per million tokens", key)
        rates[name] = float(value)
    return rates


def _image_rate(data: Mapping[str, Any]) -> dict[str, float]:
    value = data.get("image")
    if value is None:
        return {}
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise Wrong(f"image is {value!r:.60}; it must be US dollars per image", "image")
    return {"image": float(value)}


def _type(data: Mapping[str, Any]) -> ModelType | None:
    value = data.get("type")
    if value is None or value == "chat":
        return None
    if value not in _TYPES:
        raise Wrong(f"{value!r:.60} is not a model type; use chat, {' or '.join(_TYPES)}", "type")
    return cast("ModelType", value)


def _tokens(data: Mapping[str, Any], key: str, default: int) -> int:
    value = data.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or value <= 0:
        raise Wrong(f"{key} is {value!r:.60}; it must be a number of tokens above 0", key)
    return int(value)


def headers_of(data: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the headers of a provider or a model; None if it has none.

    Raises:
        Wrong: They are not an object of strings. The message has no header value: it may be a key.
    """
    headers = data.get("headers")
    if headers is None:
        return None
    if not isinstance(headers, dict):
        raise Wrong("headers must be an object of strings", "headers")
    for name, value in headers.items():
        if not isinstance(value, str):
            raise Wrong(f"the header {name!r:.60} must be a string", "headers", name)
    return headers


def _levels(data: Mapping[str, Any]) -> dict[str, str | None] | None:
    levels = field_of(data, "thinkingLevelMap", dict, None)
    for level, value in (levels or {}).items():
        if level not in THINKING_LEVELS:
            raise Wrong(
                f"{level!r} is not a thinking level; use one of {', '.join(THINKING_LEVELS)}", "thinkingLevelMap", level
            )
        if not isinstance(value, str | None):
            raise Wrong(f"{level} is {value!r:.60}; it must be a string or null", "thinkingLevelMap", level)
    return levels


def field_of(data: Mapping[str, Any], key: str, kind: type[_T], default: _D) -> _T | _D:
    """Return a field of one type; a default where it is missing or null.

    Raises:
        Wrong: It is of another type.
    """
    value = data.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise Wrong(f"{key} is {value!r:.60}; it must be {_KINDS[kind]}", key)
    return value


def _object(data: Any, what: str) -> None:
    if not isinstance(data, dict):
        raise Wrong(f"{what} is {data!r:.60}; it must be an object")
