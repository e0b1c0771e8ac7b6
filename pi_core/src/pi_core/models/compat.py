"""Checks the ``compat`` objects of models.json, because a value of the wrong type acts without a word.

Core passes the object on to the API's codec and knows only the types of the switches that are documented. A name that
it does not know may be one of a plugin, and has any value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs.model_json import Wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_compat", "check_compats"]

_SWITCH = re.compile(r"(?:supports|requires|send)[A-Z]\w*|zaiToolStream|forceAdaptiveThinking|allowEmptySignature")

_CHOICES = {
    "cacheControlFormat": ("anthropic",),
    "maxTokensField": ("max_completion_tokens", "max_tokens"),
    "promptCacheKeyMode": ("auto", "enabled", "disabled", "session", "long", "none"),
    "sessionAffinityFormat": ("openai", "openai-nosession", "openrouter"),
    "thinkingFormat": (
        *("openai", "openrouter", "deepseek", "together", "baseten", "zai", "qwen", "chat-template"),
        *("qwen-chat-template", "string-thinking", "ant-ling"),
    ),
    "thinkingTokenBudgetField": ("thinking_token_budget", "thinking_budget", "thinking_budget_tokens"),
}
_OBJECTS = ("chatTemplateArgs", "chatTemplateKwargs", "openRouterRouting", "reasoningEffortMap", "vercelGatewayRouting")
_NUMBERS = ("vllmPriority",)
_TEXTS = ("keyHeader", "sdkClient", "transport")


def check_compats(data: Mapping[str, Any]) -> None:
    """Check every ``compat`` in a provider's object: its own, those of its models and of its ``modelOverrides``.

    Raises:
        Wrong: A value has the wrong type; the message names it.
    """
    places: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    models, overrides = data.get("models"), data.get("modelOverrides")
    places += [(("models", index), model) for index, model in enumerate(models if isinstance(models, list) else ())]
    places += (
        [(("modelOverrides", key), each) for key, each in (overrides or {}).items()] if _is_object(overrides) else []
    )
    for path, each in places:
        if _is_object(each) and _is_object(each.get("compat")):
            try:
                check_compat(each["compat"])
            except Wrong as wrong:
                raise wrong.below(*path, "compat") from None


def check_compat(compat: Mapping[str, Any]) -> None:
    """Check one object; null is no value.

    Raises:
        Wrong: A value has the wrong type; the message names it.
    """
    for name, value in compat.items():
        wanted = None if value is None else _wanted(name, value)
        if wanted is not None:
            raise Wrong(f"compat.{name} is {value!r:.60}; it must be {wanted}", name)


def _wanted(name: str, value: Any) -> str | None:
    """Return what a value must be; None if it is right, or not known."""
    if name in _CHOICES:
        return None if value in _CHOICES[name] else f"one of {', '.join(_CHOICES[name])}"
    if name in _OBJECTS:
        return None if _is_object(value) else "an object"
    if name in _NUMBERS:
        return None if isinstance(value, int | float) and not isinstance(value, bool) else "a number"
    if name in _TEXTS:
        return None if isinstance(value, str) else "a string"
    if _SWITCH.fullmatch(name):
        return None if isinstance(value, bool) else "true or false"
    return None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)
