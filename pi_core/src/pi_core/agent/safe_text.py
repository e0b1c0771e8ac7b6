"""Formats exceptions and values that come from plugins, whose ``__str__`` and ``__repr__`` may raise or never return.

``Interrupted``, which ends a call that never returns, is not an ``Exception``; therefore everything except
``KeyboardInterrupt`` is caught here.
"""

from __future__ import annotations

import os
import reprlib
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

import attr
import attrs
import pluggy

import pi_hookspecs
from pi_hookspecs.secrets import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

__all__ = [
    "REDACTED",
    "SHORTEST_SECRET",
    "checked_answer",
    "exception_location",
    "exception_message",
    "format_exception",
    "format_traceback",
    "function_location",
    "is_interrupt",
    "is_library",
    "redacted",
    "safe_repr",
    "secret_sources",
    "summary_and_traceback",
    "without_secrets",
]

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 60

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - plain text, as code objects have it
_LIBRARIES = (
    "<",  # <frozen importlib>, <attrs generated>
    _OWN,
    *(os.path.dirname(str(package.__file__)) + os.sep for package in (pi_hookspecs, attr, attrs, pluggy)),  # noqa: PTH120
)
"""Path prefixes of files whose stack frames are skipped: errors raised there are mistakes of the calling plugin."""


class SecretSource(Protocol):
    """Knows secrets, such as the keys of a session."""

    def known_secrets(self) -> dict[str, str]:
        """Return the secrets, each with the name of where it is from."""
        ...


secret_sources: WeakSet[SecretSource] = WeakSet()
"""The sources of this process; what pi reports about failures contains none of their secrets."""

REDACTED = "[redacted]"
SHORTEST_SECRET = 6
"""Minimum length of a known secret; shorter values would match ordinary words."""


def redacted(text: str) -> str:
    """Return what is reported about a failure without known secrets: an exception often repeats what it was given."""
    known = {value for name, value in os.environ.items() if is_secret_name(name)}
    for each in [*secret_sources]:
        known.update(each.known_secrets())
    return without_secrets(text, known)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text with each of these secrets redacted that is long enough, and everything else unchanged."""
    for secret in sorted(secrets, key=len, reverse=True):  # one may be the beginning of another
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, REDACTED)
    return text


def safe_repr(value: object) -> str:
    """Return the ``repr`` of a value, at most 200 characters; ``<ClassName>`` if its ``__repr__`` raises."""
    try:
        text = _repr.repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a plugin's __repr__ may raise anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else text[:197] + "..."  # noqa: PLR2004 - a line or two


def checked_answer(answer: Any, *types: type, check: Callable[[Any], str | None] | None = None) -> Any:
    """Return the answer of a plugin's function.

    Args:
        answer: What the function returned.
        types: What it may return; ``type(None)`` among them.
        check: Returns what is wrong with an answer of these types; None if nothing is.

    Raises:
        TypeError: The answer is of another type; the message says what was returned and what is expected.
        ValueError: The answer has a part that cannot be used.
    """
    if not isinstance(answer, types):
        expected = " or ".join("None" if each is type(None) else each.__name__ for each in types)
        if hasattr(answer, "__await__"):
            getattr(answer, "close", bool)()
            raise TypeError(f"it is async, and must be a plain function that returns {expected}")
        raise TypeError(f"it returned {safe_repr(answer)}, which is not of type {expected}")
    problem = check(answer) if check is not None else None
    if problem is not None:
        raise ValueError(problem)
    return answer


def format_exception(error: BaseException) -> str:
    """Return an exception as ``Type: message``; Python's errors of no memory have no message of their own."""
    name = type(error).__name__
    try:
        text = str(error) or ("there was not enough memory" if isinstance(error, MemoryError) else "")
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a plugin's __str__ may raise anything
        text = "(its message cannot be shown)"
    return f"{name}: {redacted(text)}" if text else name


def summary_and_traceback(error: BaseException, function: object = None) -> tuple[str, str]:
    """Return ``Type: message (in FILE, line N)`` and the traceback of an exception that a plugin's function raised.

    An exception that ``arose_elsewhere`` has a message for users, without a type of ours. Without a frame of the
    plugin, as for a wrong answer, the place is that of the function.
    """
    is_told = getattr(error, "arose_elsewhere", False) is True
    place = exception_location(error, getattr(function, "__module__", None))
    if not place and not is_told:
        place = function_location(function)
    return (exception_message(error) if is_told else format_exception(error)) + place, format_traceback(error)


def function_location(function: object) -> str:
    """Return where a function of a plugin is defined, as `` (in FILE, line N)``; empty if that is not known."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or is_library(code.co_filename):
        return ""
    return f" (in {code.co_filename}, line {code.co_firstlineno})"


def exception_location(error: BaseException, module: object = None) -> str:
    """Return where in a plugin's code an exception arose, as `` (in FILE, line N)``; empty if no frame is in its code.

    Args:
        error: The exception.
        module: Name of a module of the plugin: the innermost frame of that package is reported. Without it, or if the
            package has no frame, the innermost frame outside Python's standard library and pi is reported.
    """
    if getattr(error, "arose_elsewhere", False):  # in another process: its message has the place
        return ""
    if isinstance(error, SyntaxError) and error.lineno is not None and not (error.filename or "<").startswith("<"):
        return f" (in {error.filename}, line {error.lineno})"
    package = str(module).partition(".")[0]
    frames = [each for each in _traceback_entries(error) if not is_library(each.tb_frame.f_code.co_filename)]
    own = [each for each in frames if _package_of(each) == package]
    for each in (own or frames)[-1:]:
        return f" (in {each.tb_frame.f_code.co_filename}, line {each.tb_lineno})"
    return ""


def exception_message(error: BaseException) -> str:
    """Return the message of an exception for the model, with its type if the message alone says too little."""
    if not isinstance(error, Exception) or isinstance(error, KeyError):  # SystemExit: 3, KeyError: 'path'
        return format_exception(error)
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - as in format_exception
        return format_exception(error)


def format_traceback(error: BaseException) -> str:
    """Return the traceback of an exception for the log, without pi's frames at its beginning."""
    import traceback  # only needed after a failure

    try:
        entries = _traceback_entries(error)
        foreign = (each for each in entries if not each.tb_frame.f_code.co_filename.startswith(_OWN))
        start = next(foreign, error.__traceback__)
        return redacted("".join(traceback.format_exception(type(error), error, start)))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - as in format_exception
        return format_exception(error)


def _traceback_entries(error: BaseException) -> Iterator[TracebackType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _package_of(entry: TracebackType) -> str:
    name: Any = entry.tb_frame.f_globals.get("__name__")
    return str(name).partition(".")[0]


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an exception is the ``KeyboardInterrupt`` of a signal, which ends the run wherever it arises.

    One that a plugin raises itself, with ``raise``, is a failure of the plugin like any other. They differ in the last
    instruction of the innermost frame.
    """
    if not isinstance(error, KeyboardInterrupt):
        return False
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None or is_library(entry.tb_frame.f_code.co_filename):  # of ``asyncio``, or of our signal handlers
        return True
    from opcode import opmap

    return entry.tb_frame.f_code.co_code[entry.tb_lasti] != opmap["RAISE_VARARGS"]


def is_library(file: str) -> bool:
    """Whether a file belongs to Python, to pi's core or contract, or to a library they use, and not to a plugin."""
    standard = file.startswith(os.path.dirname(os.__file__)) and "site-packages" not in file  # noqa: PTH120
    return standard or file.startswith(_LIBRARIES)
