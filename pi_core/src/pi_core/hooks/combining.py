"""Combines the answers of a hook's implementations by the rules that its specification declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import attrs

from pi_core.hooks.records import HookCall
from pi_hookspecs import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pi_core.hooks.records import Combine, CompiledHook, HookImplementation
    from pi_hookspecs import Answers

    Invoke: TypeAlias = Callable[[HookCall, HookImplementation, Any], Coroutine[Any, Any, Any]]

__all__ = ["combine_by"]


def combine_by(answers: Answers, invoke: Invoke) -> Combine:
    """Return a function of hook, event and context that calls the implementations and returns the combined answer.

    Args:
        answers: The rules of the hook.
        invoke: Calls one implementation and returns its answer, or None.
    """
    if answers.whole is Rule.NOTIFY:
        return _notifying(invoke)
    if answers.whole is Rule.FIRST:
        return _first(invoke)
    if answers.whole is Rule.PIPE:
        return _piping(invoke)
    return _by_field(invoke)


def _notifying(invoke: Invoke) -> Combine:
    async def notify(hook: CompiledHook, event: Any, ctx: Any) -> None:
        call = HookCall(hook, ctx)
        for implementation in hook.implementations:
            await invoke(call, implementation, event)

    return notify


def _first(invoke: Invoke) -> Combine:
    async def first(hook: CompiledHook, event: Any, ctx: Any) -> Any:
        call = HookCall(hook, ctx)
        for implementation in hook.implementations:
            answer = await invoke(call, implementation, event)
            if answer is not None and not getattr(answer, "abstains", False):
                return answer
        return None

    return first


def _piping(invoke: Invoke) -> Combine:
    async def pipe(hook: CompiledHook, event: Any, ctx: Any) -> Any:
        call = HookCall(hook, ctx)
        into, answered = cast("str", hook.answers.into), False
        for implementation in hook.implementations:
            answer = await invoke(call, implementation, event)
            if answer is not None:
                answered = True
                event = (
                    event.changed_by(answer) if hasattr(event, "changed_by") else attrs.evolve(event, **{into: answer})
                )
        return getattr(event, into) if answered else None

    return pipe


def _by_field(invoke: Invoke) -> Combine:
    async def by_field(hook: CompiledHook, event: Any, ctx: Any) -> Any:
        call = HookCall(hook, ctx)
        merged: dict[str, Any] = {}
        for implementation in hook.implementations:
            answer = await invoke(call, implementation, event)
            if answer is None:
                continue
            given = [(name, rule, getattr(answer, name)) for name, rule in hook.answers.fields.items()]
            if any(rule is Rule.VETO and value for _, rule, value in given):
                return answer
            for name, rule, value in given:
                if value is not None:
                    owned = _of_plugin(value, implementation.plugin) if rule is Rule.COLLECT else value
                    event = _merge(merged, event, name, rule, owned)
        return hook.answer_type()(**merged) if merged else None

    return by_field


def _merge(merged: dict[str, Any], event: Any, name: str, rule: Rule, value: Any) -> Any:
    """Merge a field of an answer into the combined answer; return the event for the next implementation."""
    if rule is Rule.PIPE:
        merged[name] = value
        return attrs.evolve(event, **{name: value}) if hasattr(event, name) else event
    if rule is Rule.COLLECT:
        merged[name] = (*merged.get(name, ()), *value)
    elif rule is Rule.FIRST:
        merged.setdefault(name, value)
    return event


def _of_plugin(values: Any, plugin: str) -> list[Any]:
    """Return collected values, with messages and entries of plugins attributed to their plugin."""
    return [attrs.evolve(each, plugin=plugin) if hasattr(each, "custom_type") else each for each in values]
