"""Redaction in a session: always of what is stored, and of provider requests if the user wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core import map_texts

if TYPE_CHECKING:
    from pi_hookspecs import (
        BeforeProviderRequestEvent,
        PiContext,
        SessionBeforeAppendEvent,
        SessionBeforeAppendResult,
        ToolCallEvent,
        ToolCallResult,
    )
    from pi_redact.redactor import Redactor

__all__ = ["Hooks"]


class Hooks:
    """One session's handlers.

    Args:
        redactor: Replaces the secrets.
        provider: Whether the provider gets marks instead of secrets.
    """

    def __init__(self, redactor: Redactor, *, provider: bool) -> None:
        self._redactor = redactor
        self._provider = provider

    def session_before_append(
        self, event: SessionBeforeAppendEvent, ctx: PiContext
    ) -> SessionBeforeAppendResult | None:
        """Redact what is stored."""
        from pi_hookspecs import SessionBeforeAppendResult

        self.learn(ctx)
        entries = map_texts(event.entries, self._redactor.redact)
        return None if entries is event.entries else SessionBeforeAppendResult(entries=entries)

    def before_provider_request(self, event: BeforeProviderRequestEvent, ctx: PiContext) -> Any:
        """Redact what the provider receives."""
        if not self._provider:
            return None
        self.learn(ctx)
        payload = map_texts(event.payload, self._redactor.redact)
        return None if payload is event.payload else payload

    def tool_call(self, event: ToolCallEvent, _ctx: PiContext) -> ToolCallResult | None:
        """Restore the secrets that the model knows only by their marks."""
        from pi_hookspecs import ToolCallResult

        if not self._provider:
            return None
        arguments = map_texts(event.input, self._redactor.restore)
        return None if arguments is event.input else ToolCallResult(input=arguments)

    def learn(self, ctx: PiContext) -> None:
        """Learn the secrets that pi currently knows."""
        self._redactor.know((each.source, each.value) for each in ctx.secrets.known())
