"""Makes the session of a helper, to which a plugin gives a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.conversation.runtime import Runtime
    from pi_core.plugin_api.port_values import HelperSession
    from pi_hookspecs import AbortSignal

__all__ = ["create_helper"]

MAX_DEPTH = 4
"""How deep helpers may be nested; one that starts itself through its tools would otherwise recurse without limit."""


def create_helper(parent: Runtime, options: Mapping[str, Any], signal: AbortSignal | None) -> HelperSession:
    """Return a session in memory with its parent's plugins, models, settings, folder and model.

    Args:
        parent: The conversation whose plugin asks.
        options: Those of ``create_agent_session``; they take precedence over what the parent has, except that tools
            which are excluded there are excluded here, too.
        signal: Aborts the helper, too.

    Raises:
        PiError: It would be nested too deep, or ``signal`` is aborted.
    """
    from pi_core.session import SessionManager

    front_end, state = parent.front_end, parent.agent.state
    if front_end.depth >= MAX_DEPTH:
        raise PiError(
            f"Helpers may be {MAX_DEPTH} deep, and this one would be deeper. Give it no tools that make helpers."
        )
    if signal is not None and signal.aborted:
        raise PiError(signal.reason or "Operation aborted")
    cwd = options.get("cwd", parent.cwd)
    inherited: dict[str, Any] = {
        "cwd": cwd,
        "host": parent.host,
        "settings": parent.settings,
        "model_registry": parent.models,
        "model": state.model,
        "thinking_level": state.thinking_level,
        "ui": front_end.ui if front_end.has_ui else None,
        "mode": front_end.mode,
        "flags": front_end.flags,
        "deps": front_end.deps,
    }
    if "session_manager" not in options:
        inherited["session_manager"] = SessionManager.in_memory(cwd)
    excluded = (*parent.toolbox.excluded, *options.get("exclude_tools", ()))  # what the user excluded stays excluded
    helper: Any = parent.create_session(**{**inherited, **options, "exclude_tools": excluded})
    helper.runtime.front_end.depth = front_end.depth + 1
    if signal is not None:
        signal.on_abort(lambda: helper.parts.lifecycle.request_abort(signal.reason or "Operation aborted"))
    session: HelperSession = helper
    return session
