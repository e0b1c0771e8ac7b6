"""Restores the model and thinking level of a stored session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import THINKING_LEVELS, PiError

if TYPE_CHECKING:
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_hookspecs import Model, ThinkingLevel

__all__ = ["append_initial_settings", "report_interruption", "restored_level", "restored_model"]


def restored_model(session: SessionManager, models: ModelRegistry) -> Model | None:
    """Return the model that answered last in a session; None when there was none, or when it cannot answer now.

    The session gets a notice of a model that cannot be restored.
    """
    chosen = session.build_session_context().model
    if chosen is None:
        return None
    name = f"{chosen.provider}/{chosen.model_id}"
    try:
        model = models.exact(chosen.provider, chosen.model_id)
        models.check(model)
    except PiError as error:
        session.notice(f"Could not restore model {name}. {error}")
        return None
    return model


def restored_level(session: SessionManager) -> ThinkingLevel | None:
    """Return the last thinking level of a session; None if it has none."""
    context = session.build_session_context()
    if not context.has_thinking_level:
        return None
    return next((each for each in THINKING_LEVELS if each == context.thinking_level), None)


def append_initial_settings(session: SessionManager, model: Model | None, level: ThinkingLevel) -> None:
    """Record the initial model and thinking level of a new session."""
    if session.get_leaf_entry() is None:
        if model is not None:
            session.append_model_change(model.provider, model.id)
        session.append_thinking_level_change(level)


def report_interruption(session: SessionManager) -> None:
    """Add a notice about tool calls that were interrupted when the program was killed."""
    calls = session.interrupted_tool_calls()
    if calls:
        names = ", ".join(call.name for call in calls)
        session.notice(
            f"The session ends in tool calls without results: {names}. They were interrupted and are not run again;"
            " what they did until then is not known. The model is told that there is no result."
        )
