"""No-op members of a user interface for features that only terminals have, so that plugins can call them anywhere.

A front end that has these features defines the members itself; these no-ops are used for all other front ends.
"""

from __future__ import annotations

from typing import Any

from pi_hookspecs import UserError

__all__ = ["noop_member"]

_THEME = "theme"


def noop_member(name: str) -> Any:
    """Return the no-op for a member that the front end does not have.

    Raises:
        AttributeError: No user interface has such a member.
    """
    if name == _THEME:
        return None
    if name not in _NOOP_MEMBERS:
        message = f"a user interface has no attribute {name!r}"
        raise AttributeError(message)
    return _NOOP_MEMBERS[name]


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _no_text() -> str:
    return ""


def _not_expanded() -> bool:
    return False


def _no_themes() -> tuple[()]:
    return ()


def _refuse_theme(theme: object) -> None:
    raise UserError(f"Theme {theme!r} cannot be shown: this front end has no themes")


_NOOP_MEMBERS = {
    "get_editor_text": _no_text,
    "get_tools_expanded": _not_expanded,
    "get_all_themes": _no_themes,
    "get_theme": _nothing,
    "get_editor_component": _nothing,
    "set_theme": _refuse_theme,
    **dict.fromkeys(
        (
            "paste_to_editor",
            "redraw",
            "set_hidden_thinking_label",
            "set_tools_expanded",
            "set_working_indicator",
            "set_working_message",
            "set_working_visible",
        ),
        _nothing,
    ),
}
