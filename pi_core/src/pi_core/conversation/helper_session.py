"""Creates the session of a helper, to which a plugin gives a task."""

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
"""Maximum nesting of helpers; otherwise a helper that starts itself through its tools would recurse endlessly."""


def create_helper(parent: Runtime, options: Mapping[str, Any], signal: AbortSignal | None) -> HelperSession:
    """Return a session in memory with its parent's plugins, models, settings, folder and model.

    Args:
        parent: The conversation whose plugin creates the helper.
        options: Options of ``create_agent_session``. They take precedence over the parent's values, but tools that are
            excluded in the parent are also excluded in the helper.
        signal: An abort signal that also aborts the helper.

    Raises:
        PiError: The helper would be nested too deeply, or ``signal`` is aborted.
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
