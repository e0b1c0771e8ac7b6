"""Records and restores the model, the thinking level and the active tools of a stored session."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import THINKING_LEVELS, ModelChoice, PiError, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_hookspecs import Model, ThinkingLevel

__all__ = [
    "append_initial_settings",
    "append_selection",
    "append_tools",
    "restore_interrupted",
    "restored_level",
    "restored_model",
    "restored_selection",
    "restored_tools",
]

FINISHED_CALL = "finished_call"
LOADED_TOOLS = "loaded_tools"
"""``customType`` of entries that record the active tools from there on.

``{"names": [...], "active": [...], "inactive": [...]}``: the deferred tools that are active; the tools that a plugin, a
command or a program selected, if one did; and the program's own tools among the others.
"""


def restored_model(
    session: SessionManager, models: ModelRegistry, otherwise: Callable[[], Model | None]
) -> Model | None:
    """Return the model of a session: the selected virtual model, else the model that was selected or answered last.

    If it cannot answer now, or its provider has it no more, the session gets a notice that names the model that is used
    instead: that of the last successful answer, else ``otherwise``.

    Args:
        session: The session.
        models: Finds models by their stored names.
        otherwise: Returns the model to use if those of the session cannot be used.

    Returns:
        None if the session names no model, or if there is none to use.
    """
    chosen = session.build_session_context().model
    if chosen is None:
        return None
    selected = session.selected_model() or chosen
    virtual = _virtual(selected, models) if selected != chosen else None
    model, problem = (virtual, "") if virtual is not None else _usable(chosen, models)
    if model is not None and model.is_virtual:
        from pi_core.conversation.routing import with_limits_in_use

        return with_limits_in_use(model, models, session.last_answer())
    if model is None:
        lost = f"Could not restore model {chosen.provider}/{chosen.model_id}."
        model = _model_of_last_answer(session, models, chosen) or otherwise()
        session.notice(f"{lost} {problem}" if model is None else f"{lost} Using {model.reference}. {problem}")
    elif selected != chosen and models.get_model(selected.provider, selected.model_id) is None:
        name = f"{selected.provider}/{selected.model_id}"
        session.notice(
            f"No plugin registers the model {name} any more. Continuing with {model.reference}, which answered last."
        )
    return model


def _virtual(choice: ModelChoice, models: ModelRegistry) -> Model | None:
    """Return a virtual model; None for any other."""
    model = models.get_model(choice.provider, choice.model_id)
    return model if model is not None and model.is_virtual else None


def _usable(choice: ModelChoice, models: ModelRegistry) -> tuple[Model | None, str]:
    """Return a model that can answer now, else None and why it cannot."""
    if not models.has(choice.provider, choice.model_id):
        return None, f"Provider {choice.provider} has no such model; --model {choice.provider}/ID names another one."
    try:
        model = models.exact(choice.provider, choice.model_id)
        models.check(model)
    except PiError as error:
        return None, str(error)
    return model, ""


def _model_of_last_answer(session: SessionManager, models: ModelRegistry, failed: ModelChoice) -> Model | None:
    answer = session.last_answer()
    if answer is None or (answer.provider, answer.model) == (failed.provider, failed.model_id):
        return None
    return _usable(ModelChoice(provider=answer.provider, model_id=answer.model), models)[0]


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


def append_selection(session: SessionManager, models: ModelRegistry, model: Model | None) -> None:
    """Record that a program continues a session with another model, where its answers would not show that.

    They show the model that answered, which is not the selected one before or after this if either is virtual.
    """
    selected = session.selected_model() if model is not None else None
    if model is None or selected is None or f"{selected.provider}/{selected.model_id}" == model.reference:
        return
    if model.is_virtual or _virtual(selected, models) is not None:
        session.append_model_change(model.provider, model.id)


def append_tools(
    session: SessionManager, loaded: Sequence[str], active: Sequence[str] | None, inactive: Sequence[str] = ()
) -> None:
    """Record on the branch which tools are active from here on; ``active`` is None if no tools were selected."""
    selected = {} if active is None else {"active": list(active), "inactive": list(inactive)}
    session.append_custom_entry(LOADED_TOOLS, {"names": list(loaded), **selected})


def restored_tools(session: SessionManager) -> tuple[str, ...]:
    """Return the deferred tools that are active at the end of the branch; empty if no valid entry names them."""
    return _names(_recorded_tools(session).get("names")) or ()


def restored_selection(session: SessionManager) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the tools that are selected at the end of the branch, None if none were, and those that were not."""
    recorded = _recorded_tools(session)
    return _names(recorded.get("active")), _names(recorded.get("inactive")) or ()


def _recorded_tools(session: SessionManager) -> dict[str, Any]:
    data = None
    for entry in session.get_branch().of_type("custom"):
        if getattr(entry, "custom_type", None) == LOADED_TOOLS:
            data = getattr(entry, "data", None)
    return data if isinstance(data, dict) else {}


def _names(value: Any) -> tuple[str, ...] | None:
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list) else None


def restore_interrupted(session: SessionManager) -> bool:
    """Append the stored results of calls that were interrupted when the program was killed; return whether there are.

    A tool whose result must not be lost while other calls of the same answer still run stores it as an entry
    ``finished_call``. A notice names the calls without one.
    """
    calls = session.interrupted_tool_calls()
    if not calls:
        return False
    stored = _finished_calls(session)
    restored = [stored[call.id] for call in calls if call.id in stored]
    for message in restored:
        session.append_message(message)
    lost = ", ".join(call.name for call in calls if call.id not in stored)
    if lost:
        session.notice(
            f"The session ends with tool calls that have no results: {lost}. They were interrupted and are not run "
            f"again;"
            " what they did before that is unknown. The model is told that there is no result."
        )
    return bool(restored)


def _finished_calls(session: SessionManager) -> dict[str, ToolResultMessage]:
    """Return the results in the entries ``finished_call`` of the branch, by the id of their call."""
    from pi_core.wire import from_wire

    found: dict[str, ToolResultMessage] = {}
    for entry in session.get_branch().of_type("custom"):
        data = getattr(entry, "data", None)
        if getattr(entry, "custom_type", None) == FINISHED_CALL and isinstance(data, dict):
            with suppress(PiError):  # another program may have written it
                message = from_wire({**data, "role": "toolResult"}, ToolResultMessage)
                found[message.tool_call_id] = message
    return found
