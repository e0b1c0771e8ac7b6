"""A conversation and its parts: prompts from their text until they settle, hooks, plugins, the session's tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:
    from pi_core.conversation.session import AgentSession

__all__ = ["AgentSession"]

__getattr__ = lazy_exports(__name__, {"session": "AgentSession"})  # some of its modules are used before a session
