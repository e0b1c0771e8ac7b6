"""Counts the tokens of messages that plugins add in the two hooks that can; other hooks have no extra cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pi_core.hooks.records import HookCall, HookImplementation

    Invoke = Callable[[HookCall, HookImplementation, Any], Coroutine[Any, Any, Any]]

__all__ = ["ADDING", "counting_messages"]

ADDING = frozenset({"before_agent_start", "context"})
"""Hooks whose answers contain messages for the model."""


def counting_messages(invoke: Invoke, tokens: Callable[[Any], int]) -> Invoke:
    """Return a function that calls implementations by ``invoke`` and counts the ``tokens`` of messages they add."""

    async def count(call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        answer = await invoke(call, implementation, event)
        if answer is not None and answer.messages:
            known = {id(each) for each in getattr(event, "messages", ())}
            added = (tokens(each) for each in answer.messages if id(each) not in known)
            implementation.counter.message_tokens += sum(added)
        return answer

    return count
