"""How a host of Chat Completions is told to think: a dozen formats for one wish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import thinking_budget
from pi_provider_openai._shared import thinking_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_openai._shared import Thinking

__all__ = ["completions_thinking", "thinking_fields"]

_ANSWER = 1024
"""Tokens that thinking leaves for the answer."""


def completions_thinking(model: Model, options: StreamOptions, compat: Mapping[str, Any]) -> Thinking:
    """Return what is wished for; ``effort`` is None for "off" where the model cannot be turned off."""
    return thinking_of(model, options, compat["reasoningEffortMap"])


def thinking_fields(model: Model, options: StreamOptions, compat: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the fields of the request that say how to think; none for a model that does not reason.

    Args:
        model: Who is asked.
        options: Their ``reasoning`` and ``thinking_budgets``.
        compat: Every flag of the host.
        limit: Tokens that thinking and answer may take together.
    """
    if not model.reasoning:
        return {}
    wish = _Wish(model, options, compat, limit)
    fields = _FORMATS.get(compat["thinkingFormat"], _openai)(wish)
    name = compat["thinkingTokenBudgetField"]
    if name is None and compat["supportsThinkingTokenBudget"]:
        name = "thinking_token_budget"
    if name and wish.budget:
        fields[name] = wish.budget
    return fields


class _Wish:
    """What is wished for, as the formats ask for it."""

    def __init__(self, model: Model, options: StreamOptions, compat: Mapping[str, Any], limit: int) -> None:
        thinking = completions_thinking(model, options, compat)
        self.compat = compat
        self.on = thinking.level is not None
        self.word = thinking.effort
        """The host's word for the level, or for "off"; None where it cannot be turned off."""
        self.own_word = (model.thinking_level_map or {}).get(thinking.level or "off")
        """The same where the model's own map has it."""
        budget = thinking_budget(thinking.level, options.thinking_budgets) if thinking.level else 0
        self.budget = min(budget, max(0, limit - _ANSWER))

    def effort(self) -> dict[str, Any]:
        """Return ``reasoning_effort`` where the host knows it and the model is to think."""
        return {"reasoning_effort": self.word} if self.on and self.compat["supportsReasoningEffort"] else {}


def _openai(wish: _Wish) -> dict[str, Any]:
    if wish.on:
        return wish.effort()
    known = wish.own_word is not None and wish.compat["supportsReasoningEffort"]
    return {"reasoning_effort": wish.own_word} if known else {}


def _zai(wish: _Wish) -> dict[str, Any]:
    thinking = {"type": "enabled", "clear_thinking": False} if wish.on else {"type": "disabled"}
    return {"thinking": thinking, **wish.effort()}


def _qwen(wish: _Wish) -> dict[str, Any]:
    return {"enable_thinking": wish.on, **wish.effort()}


def _qwen_chat_template(wish: _Wish) -> dict[str, Any]:
    return {"chat_template_kwargs": {"enable_thinking": wish.on, "preserve_thinking": True}}


def _chat_template(wish: _Wish) -> dict[str, Any]:
    values = _template_values(wish, wish.compat["chatTemplateKwargs"])
    return {"chat_template_kwargs": values} if values else {}


def _baseten(wish: _Wish) -> dict[str, Any]:
    values = _template_values(wish, wish.compat["chatTemplateArgs"])
    fields: dict[str, Any] = {"chat_template_args": values} if values else {}
    return {**fields, **_openai(wish)}


def _deepseek(wish: _Wish) -> dict[str, Any]:
    if wish.on:
        return {"thinking": {"type": "enabled"}, **wish.effort()}
    return {"thinking": {"type": "disabled"}} if wish.word is not None else {}


def _openrouter(wish: _Wish) -> dict[str, Any]:
    return {"reasoning": {"effort": wish.word}} if wish.word is not None else {}


def _ant_ling(wish: _Wish) -> dict[str, Any]:
    return {"reasoning": {"effort": wish.own_word}} if wish.on and wish.own_word is not None else {}


def _together(wish: _Wish) -> dict[str, Any]:
    return {"reasoning": {"enabled": wish.on}, **wish.effort()}


def _string(wish: _Wish) -> dict[str, Any]:
    return {"thinking": wish.word} if wish.word is not None else {}


_FORMATS: dict[str, Callable[[_Wish], dict[str, Any]]] = {
    "openai": _openai,
    "zai": _zai,
    "qwen": _qwen,
    "qwen-chat-template": _qwen_chat_template,
    "chat-template": _chat_template,
    "baseten": _baseten,
    "deepseek": _deepseek,
    "openrouter": _openrouter,
    "ant-ling": _ant_ling,
    "together": _together,
    "string-thinking": _string,
}


def _template_values(wish: _Wish, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server's chat template is given; ``{"$var": NAME}`` stands for what is wished for.

    The variables are ``thinking.enabled``, ``thinking.budget`` (tokens) and ``thinking.effort``; with ``omitWhenOff``
    a value is left out where the model is not to think.
    """
    given: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(value, dict):
            given[name] = value
        elif wish.on or not value.get("omitWhenOff"):
            known = {"thinking.enabled": wish.on, "thinking.budget": wish.budget or None}
            word = wish.word if wish.on else wish.own_word
            if (found := known.get(value.get("$var", ""), word)) is not None:
                given[name] = found
    return given
