"""Puts what came from a plugin into words: its errors and values may themselves fail when they are shown."""

from __future__ import annotations

import reprlib

__all__ = ["message_of", "said", "shown", "stack_of"]

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 60


def shown(value: object) -> str:
    """Return a short ``repr``, whatever the value is."""
    try:
        text = _repr.repr(value)
    except Exception:  # noqa: BLE001 - a plugin's __repr__ may raise anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else text[:197] + "..."  # noqa: PLR2004 - a line or two


def said(error: BaseException) -> str:
    """Return an error as ``Type: message``."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a plugin's __str__ may raise anything
        text = "(its message cannot be shown)"
    return f"{name}: {text}" if text else name


def message_of(error: BaseException) -> str:
    """Return what an error says, for the model; with its type where the message alone would say too little."""
    if not isinstance(error, Exception) or isinstance(error, KeyError):  # SystemExit: 3, KeyError: 'path'
        return said(error)
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - as in said
        return said(error)


def stack_of(error: BaseException) -> str:
    """Return the traceback of an error, for the log."""
    import traceback  # only a failure needs it

    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - as in said
        return said(error)
