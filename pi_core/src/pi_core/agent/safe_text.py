"""Puts what came from a plugin into words: its errors and values may themselves fail, or not end, when they are shown.

``Interrupted``, which ends what does not end, is no ``Exception``; so everything but Ctrl-C is caught here.
"""

from __future__ import annotations

import os
import reprlib
from typing import TYPE_CHECKING, Any

import attr
import attrs
import pluggy

import pi_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["described", "is_library", "message_of", "place_of", "said", "shown", "stack_of"]

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 60

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - plain text, as code objects have it
_LIBRARIES = (
    "<",  # <frozen importlib>, <attrs generated>
    _OWN,
    *(os.path.dirname(str(package.__file__)) + os.sep for package in (pi_hookspecs, attr, attrs, pluggy)),  # noqa: PTH120
)
"""Beginnings of the files that a plugin's mistake passes through on its way: what they find wrong, the plugin said."""


def shown(value: object) -> str:
    """Return a short ``repr``, whatever the value is."""
    try:
        text = _repr.repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a plugin's __repr__ may raise anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else text[:197] + "..."  # noqa: PLR2004 - a line or two


def said(error: BaseException) -> str:
    """Return an error as ``Type: message``."""
    name = type(error).__name__
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a plugin's __str__ may raise anything
        text = "(its message cannot be shown)"
    return f"{name}: {text}" if text else name


def described(error: BaseException, function: object = None) -> tuple[str, str]:
    """Return what a report says of an error that a plugin's function raised: a line with its place, and a traceback."""
    line = said(error) + place_of(error, getattr(function, "__module__", None))
    return line, stack_of(error)


def place_of(error: BaseException, module: object = None) -> str:
    """Return where in a plugin's own code an error arose, as `` (in FILE, line N)``; an empty text where nowhere.

    Args:
        error: What was raised.
        module: Name of a module of the plugin: the innermost line of its package counts. Without it, or where the
            package does not occur, the innermost line that is neither Python's nor pi's does.
    """
    if isinstance(error, SyntaxError) and error.lineno is not None and not (error.filename or "<").startswith("<"):
        return f" (in {error.filename}, line {error.lineno})"
    package = str(module).partition(".")[0]
    places = [each for each in _entries(error) if not is_library(each.tb_frame.f_code.co_filename)]
    own = [each for each in places if _package_of(each) == package]
    for each in (own or places)[-1:]:
        return f" (in {each.tb_frame.f_code.co_filename}, line {each.tb_lineno})"
    return ""


def message_of(error: BaseException) -> str:
    """Return what an error says, for the model; with its type where the message alone would say too little."""
    if not isinstance(error, Exception) or isinstance(error, KeyError):  # SystemExit: 3, KeyError: 'path'
        return said(error)
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - as in said
        return said(error)


def stack_of(error: BaseException) -> str:
    """Return the traceback of an error, for the log, from where it leaves pi's own code."""
    import traceback  # only a failure needs it

    try:
        foreign = (each for each in _entries(error) if not each.tb_frame.f_code.co_filename.startswith(_OWN))
        start = next(foreign, error.__traceback__)
        return "".join(traceback.format_exception(type(error), error, start))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - as in said
        return said(error)


def _entries(error: BaseException) -> Iterator[TracebackType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _package_of(entry: TracebackType) -> str:
    name: Any = entry.tb_frame.f_globals.get("__name__")
    return str(name).partition(".")[0]


def is_library(file: str) -> bool:
    """Whether a file belongs to Python or to pi's core and contract: the plugin's mistake is not there."""
    standard = file.startswith(os.path.dirname(os.__file__)) and "site-packages" not in file  # noqa: PTH120
    return standard or file.startswith(_LIBRARIES)
