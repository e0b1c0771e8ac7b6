"""What two libraries say of models, in the shape of models.json; needs nothing but the standard library.

The original pi's library is the npm package ``@earendil-works/pi-ai`` (MIT). Its tarball has a JSON file per provider.
LiteLLM is the distribution ``litellm`` (MIT outside of its folder ``enterprise``). Its wheel has a JSON file that says
of many models when their vendor ends them.
"""

from __future__ import annotations

import json
import re
import tarfile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["RETIREMENT_DATA", "convert_original", "number", "read_library", "retirements_in", "without"]

Plain = dict[str, Any]

_ABOUT = "package/package.json"
_DATA = "package/dist/providers/data/"
_MAX_BYTES = 20_000_000
"""Size of a provider's file; the largest has 300 KB."""

_USUAL_RESIZE = {"maxWidth": 2000, "maxHeight": 2000, "maxBytes": 4718592, "jpegQuality": 80}
"""Said of nearly every model, and what pi does with pictures anyway."""


RETIREMENT_DATA = "litellm/model_prices_and_context_window_backup.json"
"""The file in the wheel of LiteLLM."""

_MODES = ("chat", "responses")
_DATE = r"\d{4}-\d\d-\d\d"
_ID = r"[\w.:/@+ -]{1,120}"

_PROVIDERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "anthropic": ("", ("anthropic",)),
    "azure": ("azure/", ("azure-openai-responses",)),
    "baseten": ("baseten/", ("baseten",)),
    "bedrock": ("", ("amazon-bedrock",)),
    "bedrock_converse": ("", ("amazon-bedrock",)),
    "cerebras": ("cerebras/", ("cerebras",)),
    "deepseek": ("deepseek/", ("deepseek",)),
    "fireworks_ai": ("fireworks_ai/", ("fireworks",)),
    "gemini": ("gemini/", ("google",)),
    "github_copilot": ("github_copilot/", ("github-copilot",)),
    "groq": ("groq/", ("groq",)),
    "mistral": ("mistral/", ("mistral",)),
    "moonshot": ("moonshot/", ("moonshotai", "moonshotai-cn")),
    "openai": ("", ("openai",)),
    "together_ai": ("together_ai/", ("together",)),
    "vertex_ai-language-models": ("vertex_ai/", ("google-vertex",)),
    "xai": ("xai/", ("xai",)),
}
"""LiteLLM's providers: what its names of their models begin with, and which providers of pi serve these models."""


class Library(NamedTuple):
    """What is read of the package.

    Attributes:
        version: Its version.
        providers: The file of each provider: models by id, in groups.
    """

    version: str
    providers: dict[str, Plain]


def read_library(tarball: Path) -> Library:
    """Read the package.

    Raises:
        ValueError: A file is not JSON, or too large.
        tarfile.TarError: It is not a tarball.
        OSError: It cannot be read.
    """
    version, providers = "", {}
    with tarfile.open(tarball) as archive:
        for member in archive:
            is_provider = member.name.startswith(_DATA) and not member.name.startswith(f"{_DATA}.")  # as .manifest.json
            if not (is_provider or member.name == _ABOUT) or (file := archive.extractfile(member)) is None:
                continue
            if member.size > _MAX_BYTES:
                raise ValueError(f"{member.name} has more than {_MAX_BYTES} bytes")
            if is_provider:
                providers[member.name.removeprefix(_DATA).removesuffix(".json")] = json.load(file)
            else:
                version = str(json.load(file).get("version", ""))
    return Library(version, providers)


def convert_original(source: Mapping[str, Any]) -> Plain:
    """Return a model in the shape of models.json, without what is the default there."""
    model = {key: source[key] for key in ("id", "name", "api", "baseUrl", "headers", "promptCache") if key in source}
    model["name"] = " ".join(source["name"].split())
    if source["reasoning"]:
        model["reasoning"] = True
        if levels := source.get("thinkingLevelMap"):
            model["thinkingLevelMap"] = dict(levels)
    if "image" in source["input"]:
        model["input"] = ["text", "image"]
    tiers = [_rounded(tier) for tier in source["cost"].get("tiers", ())]
    if cost := {key: rate for key, rate in _rounded(source["cost"]).items() if rate}:
        model["cost"] = {**cost, "tiers": tiers} if tiers else cost
    model |= {key: source[key] for key in ("contextWindow", "maxTokens")}
    if limits := _limits(source.get("inputLimits", {})):
        model["inputLimits"] = limits
    if compat := source.get("compat"):
        model["compat"] = dict(compat)
    return model


def _rounded(prices: Mapping[str, Any]) -> Plain:
    """Return the numbers of a price list without noise."""
    return {key: number(value) for key, value in prices.items() if key != "tiers"}


def _limits(limits: Mapping[str, Any]) -> Plain:
    """Return a model's limits of pictures and requests without those that every model has."""
    images = without(limits.get("images", {}), {"resize": _USUAL_RESIZE})
    return {key: value for key, value in {**limits, "images": images}.items() if value}


def retirements_in(data: Any) -> dict[str, dict[str, dict[str, str]]]:
    """Return when vendors end models for conversations, by pi's provider and the model's id, from LiteLLM's file.

    Each is ``{"date": ..., "successor": ...}``, the latter where the vendor names a model to use instead. Names that a
    model has in one region only are left out.

    Raises:
        ValueError: It is not LiteLLM's file.
    """
    if not isinstance(data, dict):
        raise ValueError("it is not an object of models")  # noqa: TRY004 - a wrong file, not a wrong argument
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name, each in data.items():
        if (
            not isinstance(each, dict)
            or each.get("mode") not in _MODES
            or each.get("litellm_provider") not in _PROVIDERS
        ):
            continue
        prefix, providers = _PROVIDERS[each["litellm_provider"]]
        model_id, date = name.removeprefix(prefix), _text(each.get("deprecation_date"), _DATE)
        if date is None or model_id.startswith(("ft:", "bedrock/")) or (prefix == "azure/" and "/" in model_id):
            continue
        successor = _text(each.get("successor_model"), _ID)
        retirement = {"date": date, **({"successor": successor.removeprefix(prefix)} if successor else {})}
        for provider in providers:
            found.setdefault(provider, {})[model_id] = retirement
    return found


def _text(value: object, form: str) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(form, value) else None


def number(value: float) -> float:
    """Return a price as JSON shows it best: no noise of binary fractions, no ``.0``."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def without(data: Mapping[str, Any], known: Mapping[str, Any]) -> Plain:
    """Return what is not known already."""
    return {key: value for key, value in data.items() if not (key in known and known[key] == value)}
