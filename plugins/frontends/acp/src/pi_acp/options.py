"""The options of a session that the editor displays and changes: model, thinking level, automatic compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_acp.peer import INVALID_PARAMS, RpcError
from pi_core import require_local
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_core import Session

__all__ = ["change_option", "config_options"]


def config_options(session: Session, *, switches: bool) -> list[dict[str, Any]]:
    """Return all options with their values.

    Args:
        session: The session.
        switches: Whether the editor supports boolean options.
    """
    level, levels = session.thinking_level, session.get_available_thinking_levels()
    options = [
        _select("model", "Model", session.model.reference if session.model is not None else "", _models(session)),
        _select("thought_level", "Thinking", level, {each: each for each in (*levels, level)}),
    ]
    if switches:
        options.append(
            {
                "type": "boolean",
                "id": "auto_compaction",
                "name": "Automatic compaction",
                "currentValue": session.auto_compaction_enabled,
            }
        )
    return options


async def change_option(session: Session, name: str, value: Any) -> None:
    """Change an option.

    Raises:
        RpcError: The option does not exist, or the value is invalid.
    """
    try:
        if name == "model" and isinstance(value, str):
            await session.set_model(require_local(session, "Choosing a model by its name").models.find(value))
        elif name == "thought_level" and value in session.get_available_thinking_levels():
            await session.set_thinking_level(value)
        elif name == "auto_compaction" and isinstance(value, bool):
            session.set_auto_compaction_enabled(value)
        else:
            raise RpcError(INVALID_PARAMS, f"Invalid params: the option {name!r} cannot be {value!r:.200}")
    except PiError as error:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from error


def _models(session: Session) -> dict[str, str]:
    models = [*session.get_available_models(), *([session.model] if session.model is not None else [])]
    return {each.reference: each.name or each.reference for each in models}


def _select(name: str, title: str, value: str, options: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "select",
        "id": name,
        "name": title,
        "category": name,
        "currentValue": value,
        "options": [{"value": each, "name": label} for each, label in options.items()],
    }
