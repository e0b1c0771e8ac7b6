"""Calls of a plugin's synchronous code: with a deadline, stdout redirected to stderr, and exceptions reported."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager, redirect_stdout
from types import ModuleType
from typing import TYPE_CHECKING

from pi_core.agent.safe_text import exception_location, format_exception
from pi_core.base.process.forks import exit_forked_children
from pi_core.hooks.containment import Contained
from pi_core.hooks.interrupt import Interrupted, limited
from pi_hookspecs import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOAD_SECONDS", "SHORTEST_TIMEOUT", "error_line", "guarded"]

LOAD_SECONDS = 30.0
"""Default deadline for importing a plugin and for a registration hook; ``hooks.timeout`` changes it."""

SHORTEST_TIMEOUT = 0.001
"""Minimum timeout in seconds; with a timeout of 0 no plugin could answer."""


@contextmanager
def guarded(report: Callable[[str], None], plugin: str, what: str, seconds: float = LOAD_SECONDS) -> Iterator[None]:
    """Report and suppress exceptions of a plugin's code in the block, ``SystemExit`` included."""

    def report_failure(error: BaseException) -> None:
        if isinstance(error, Interrupted):
            report(f"{error}. Disable it with --disable {plugin}, or give it more time with the setting hooks.timeout")
        else:
            report(error_line(error))

    with Contained(report_failure), exit_forked_children(plugin), limited(seconds, what), redirect_stdout(sys.stderr):
        yield


def error_line(error: BaseException) -> str:
    """Return an exception as one line, with file and line of the plugin's own code if it has a frame there."""
    text = f"{type(error).__name__}: {error.msg}" if isinstance(error, SyntaxError) else format_exception(error)
    return text + _suggestion(error) + exception_location(error)


def _suggestion(error: BaseException) -> str:
    """Return "Did you mean ...?" for a misspelt module name; else an empty text."""
    name = module = None
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        name, module = error.name, error.obj
    elif isinstance(error, ImportError):
        named = re.search(r"cannot import name '(\w+)'", error.msg or "")
        name, module = named and named[1], sys.modules.get(error.name or "")
    if not name or module is None:
        return ""
    nearest = UnknownName("name", name, [each for each in dir(module) if not each.startswith("_")]).nearest
    return f". Did you mean {' or '.join(nearest)}?" if nearest else ""
