"""Keeps a session's first request until there is a second one to compare with it.

Many processes send one request and exit; they need neither its hashes nor the modules that compute them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pi_cache_lint.loss import CENT, dollars_of
from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_hookspecs import (
        AgentMessage,
        BeforeAgentStartEvent,
        BeforeProviderRequestEvent,
        ContextEvent,
        ModelUsageEvent,
        PiAPI,
        PiContext,
        SessionEntry,
        ToolInfo,
    )

    Tools = tuple[Sequence[ToolInfo], Sequence[str]]

__all__ = ["ENTRY", "Moment", "Observed", "can_wait", "own_entries", "tools_of"]

ENTRY = "cache-lint"
"""The type of the entries, which have a ``break`` or a ``chain``."""


class Moment:
    """The state of the session when a request was answered.

    Args:
        event: The request.
        ctx: The session.
        observed: What plugins changed in the request.

    Attributes:
        session: The session's id.
        started: When the request was made, in seconds since 1970.
        leaf: The latest entry.
        level: The thinking level.
        prompt: The system prompt before it became a part of the payload.
        parts: What it was built of.
        changes: What plugins changed before the payload was made, by hook.
        payload_changes: What they changed in the payload.
        messages: The messages before they became a part of the payload; None if they are not known.
        tools: All tools, and the names of the active ones; None if they have not changed since.
    """

    def __init__(self, event: ModelUsageEvent, ctx: PiContext, observed: Observed) -> None:
        self.session = ctx.session.id
        self.started = time.time() - event.duration_ms / 1000
        self.leaf = ctx.session.leaf_id
        self.level = ctx.thinking_level
        self.prompt = ctx.system_prompt
        self.parts = ctx.prompt_parts
        self.changes = dict(observed.changes)
        self.payload_changes = observed.payloads.pop(event.request_id, ())
        self.messages = observed.messages
        self.tools: Tools | None = None


class Observed:
    """Records what plugins change in requests, from the second request on.

    Args:
        pi: Observes the hooks that change requests.
    """

    def __init__(self, pi: PiAPI) -> None:
        self.changes: dict[str, tuple[tuple[str, str], ...]] = {}
        self.messages: Sequence[AgentMessage] | None = None
        self.payloads: dict[str, tuple[tuple[str, str], ...]] = {}

        def context(event: ContextEvent) -> None:
            self.changes["context"] = event.changes
            self.messages = event.messages

        def before_agent_start(event: BeforeAgentStartEvent) -> None:
            self.changes["before_agent_start"] = event.changes

        def before_provider_request(event: BeforeProviderRequestEvent) -> None:
            self.payloads[event.request_id] = event.changes

        for function in (context, before_agent_start, before_provider_request):
            pi.on(function.__name__, hookimpl(observe=True)(function))


def tools_of(pi: PiAPI) -> Tools:
    """Return the current tools."""
    return pi.get_all_tools(), pi.get_active_tools()


def own_entries(branch: Iterable[SessionEntry]) -> Iterator[SessionEntry]:
    """Yield the entries of this plugin; a branch of a session does not parse any but those of plugins for that."""
    of_type = getattr(branch, "of_type", None)
    customs = of_type("custom") if of_type is not None else (each for each in branch if each.type == "custom")
    return (each for each in customs if getattr(each, "custom_type", None) == ENTRY)  # the class need not be imported


def can_wait(event: ModelUsageEvent, ctx: PiContext) -> bool:
    """Return whether a first request can be left alone until there is a second one.

    It cannot if the session stores the chain of an earlier request, or if the chain of this one is worth storing.
    """
    if any(True for _ in own_entries(ctx.session.branch())):
        return False
    usage = event.usage
    sent = usage.input + usage.cache_read + usage.cache_write
    return ctx.session.reference is None or dollars_of(sent, event.model) < CENT
