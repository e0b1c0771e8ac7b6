"""A session inside a session: a helper that a plugin gives a task to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import AbortSignal

__all__ = ["create_helper"]

DEEPEST = 4
"""How many helpers may be nested; one that starts itself through its tools would otherwise spend without end."""


def create_helper(parent: AgentSession, signal: AbortSignal | None, options: Mapping[str, Any]) -> AgentSession:
    """Return a session with its parent's plugins, models, settings, folder and model, kept in memory.

    Args:
        parent: The session of the plugin that makes it.
        signal: Aborts the helper, too.
        options: Those of ``create_agent_session``; they take precedence over what the parent has.

    Raises:
        PiError: It would be one too deep.
    """
    from pi_core.create import create_agent_session
    from pi_core.session import SessionManager

    if parent.depth >= DEEPEST:
        raise PiError(
            f"Helpers may be {DEEPEST} deep, and this one would be deeper. Give it no tools that make helpers."
        )
    cwd = options.get("cwd", parent.cwd)
    inherited: dict[str, Any] = {
        "cwd": cwd,
        "host": parent.host,
        "settings": parent.settings,
        "model_registry": parent.models,
        "model": parent.model,
        "thinking_level": parent.thinking_level,
        "ui": parent.ui if parent.has_ui else None,
        "mode": parent.mode,
        "flags": parent.flags,
        "deps": parent.deps,
    }
    if "session_manager" not in options:
        inherited["session_manager"] = SessionManager.in_memory(cwd)
    helper = create_agent_session(**{**inherited, **options})
    helper.depth = parent.depth + 1
    if signal is not None:
        signal.on_abort(lambda: helper.request_abort(signal.reason or "Operation aborted"))
        if signal.aborted:
            raise PiError(signal.reason or "Operation aborted")
    return helper
