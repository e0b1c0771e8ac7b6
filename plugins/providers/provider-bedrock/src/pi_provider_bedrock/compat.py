"""Features of the model families behind Converse, by model id, with overrides from ``model.compat``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from pi_hookspecs.models import Model

__all__ = ["Compat"]

_UNCACHED = re.compile(r"claude-(?:instant|v\d|3-(?:opus|sonnet|haiku)|3-5-sonnet)")
"""Claude models without prompt caching."""

_STRUCTURED = re.compile(r"claude-(?:opus-4-[56]|sonnet-4-[56]|haiku-4-5)")
"""Claude models with structured output."""

_ADAPTIVE = re.compile(r"(?:opus-4-[678]|opus-5|sonnet-4-6|sonnet-5|fable-5)")
"""Claude models that think by effort, with ``_SEPARATORS`` unified."""

_SEPARATORS = re.compile(r"[\s_.:]+")

_GOVERNMENT = re.compile(r"us-gov\.|arn:aws-us-gov:")
"""Prefixes of model and profile ids in government regions."""


@frozen(kw_only=True)
class Compat:
    """Features of a model; each with its name in ``model.compat``.

    Attributes:
        claude: ``isClaude``: thinking can be requested, and is sent back with its signature.
        cache: ``supportsPromptCaching``: cache points.
        long_cache: ``supportsLongCacheRetention``: cache points that live an hour.
        adaptive: ``forceAdaptiveThinking``: thinking by effort, not by budget; derived from id and name.
        temperature: ``supportsTemperature``.
        structured_output: ``supportsStructuredOutput``: answers are constrained to the requested schema.
        display: ``supportsThinkingDisplay``: ``display`` can be requested; government regions reject it.
    """

    claude: bool = False
    cache: bool = False
    long_cache: bool = True
    adaptive: bool = False
    temperature: bool = True
    structured_output: bool = False
    display: bool = True

    @classmethod
    def of(cls, model: Model) -> Compat:
        """Return the switches of the model: those derived from its id and name, then its own.

        The ARN of an application's inference profile names no model; the name in models.json may.
        """
        own: dict[str, Any] = model.compat or {}
        named = f"{model.id} {model.name}".lower()
        adaptive = any(_ADAPTIVE.search(each) for each in (named, _SEPARATORS.sub("-", named)))
        claude = bool(own.get("isClaude", adaptive or "claude" in named))
        known: dict[str, Any] = {
            "claude": claude,
            "cache": claude and not _UNCACHED.search(named),
            "structured_output": bool(_STRUCTURED.search(named)),
            "adaptive": adaptive,
            "display": not _is_government(model),
        }
        known |= {name: own[flag] for flag, name in _NAMES.items() if own.get(flag) is not None}
        return cls(**known)


def _is_government(model: Model) -> bool:
    regions = (os.environ.get("AWS_REGION"), os.environ.get("AWS_DEFAULT_REGION"))
    region = next(filter(None, regions), "")
    return bool(_GOVERNMENT.match(model.id)) or region.startswith("us-gov-") or ".us-gov-" in model.base_url


_NAMES = {
    "supportsPromptCaching": "cache",
    "supportsLongCacheRetention": "long_cache",
    "forceAdaptiveThinking": "adaptive",
    "supportsTemperature": "temperature",
    "supportsStructuredOutput": "structured_output",
    "supportsThinkingDisplay": "display",
}
