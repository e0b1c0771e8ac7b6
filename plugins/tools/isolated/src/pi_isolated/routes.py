"""Virtual models of programs: the program is asked which model answers each request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from pi_core import to_wire
from pi_hookspecs import THINKING_LEVELS, PiError, VirtualModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import PiContext, Route, RouteRequest
    from pi_isolated.plugin import Member

__all__ = ["of_other_providers", "virtual_model"]

_LIMITS = {"contextWindow": "context_window", "maxTokens": "max_tokens"}


def virtual_model(member: Member, described: Mapping[str, Any]) -> VirtualModel:
    """Return a virtual model that a program describes; its function asks the program.

    Raises:
        PiError: Its provider or its limits cannot be used.
    """
    provider, model_id = described.get("provider"), str(described["id"])
    if not isinstance(provider, str) or not provider:
        raise PiError(f"the virtual model {model_id!r} has the provider {provider!r:.80}, which is not text")
    limits = {ours: described[theirs] for theirs, ours in _LIMITS.items() if described.get(theirs)}
    wrong = next((each for each in limits.values() if type(each) is not int or each < 1), None)
    if wrong is not None:
        raise PiError(f"the virtual model {model_id!r} has the limit {wrong!r:.80}, which is not a number of tokens")

    async def route(request: RouteRequest, ctx: PiContext) -> Route:
        message = {"type": "route", "provider": provider, "model": model_id, "request": _written(request)}
        asked = asyncio.ensure_future(member.request(message, ctx))
        forget = request.signal.on_abort(asked.cancel) if request.signal is not None else None
        try:
            return _chosen(await asked)
        finally:
            if forget is not None:
                forget()

    return VirtualModel(
        provider=provider,
        id=model_id,
        name=str(described.get("name") or model_id),
        route=route,
        thinking_levels=tuple(described.get("thinkingLevels") or ("off",)),
        input=tuple(described.get("input") or ("text", "image")),
        **limits,
    )


def of_other_providers(
    described: Mapping[str, Mapping[str, Any]], ctx: PiContext, report: Callable[[str], None]
) -> dict[str, Mapping[str, Any]]:
    """Return the virtual models that take no provider's models away; the others are reported."""
    taken = {each.provider for each in ctx.models.get_models() if not each.is_virtual}
    for name, each in described.items():
        if each.get("provider") in taken:
            report(
                f"the virtual model {name!r} is left out: provider {each.get('provider')!r} has models, which it would"
                " hide. Give it a provider of its own"
            )
    return {name: each for name, each in described.items() if each.get("provider") not in taken}


def _written(request: RouteRequest) -> dict[str, Any]:
    written: dict[str, Any] = {
        "model": to_wire(request.model),
        "thinkingLevel": request.thinking_level,
        "reason": request.reason,
        "messages": [to_wire(each) for each in request.messages],
    }
    if request.previous is not None:
        model, level = request.previous
        written["previous"] = {"model": to_wire(model), "thinkingLevel": level}
    if request.failed is not None:
        written["failed"] = to_wire(request.failed)
    return written


def _chosen(answer: Any) -> Route:
    """Return the model and the level of an answer.

    Raises:
        PiError: It names no model, or no such level.
    """
    model, level = (answer.get("model"), answer.get("thinkingLevel")) if isinstance(answer, dict) else (None, None)
    if not isinstance(model, str) or level not in (None, *THINKING_LEVELS):
        raise PiError(f"a route is {{'model': 'provider/id', 'thinkingLevel': level}}, not {answer!r:.80}")
    return cast("Route", (model, level))
