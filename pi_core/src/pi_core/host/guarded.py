"""Runs a plugin's own synchronous code: bounded in time, its prints kept off stdout, its errors put in words."""

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

__all__ = ["guarded", "told"]

LOAD_SECONDS = 30.0
"""How long a plugin may take to be imported or to answer a registration hook; ``hooks.timeout`` changes it."""


@contextmanager
def guarded(report: Callable[[str], None], plugin: str, what: str, seconds: float = LOAD_SECONDS) -> Iterator[None]:
    """Report whatever a plugin's code in the block raises, ``SystemExit`` included, and go on after it."""

    def report_failure(error: BaseException) -> None:
        if isinstance(error, Interrupted):
            report(f"{error}. Disable it with --disable {plugin}, or let it have longer with the setting hooks.timeout")
        else:
            report(told(error))

    with Contained(report_failure), exit_forked_children(), limited(seconds, what), redirect_stdout(sys.stderr):
        yield


def told(error: BaseException) -> str:
    """Return an error as one line, with the place in the plugin's own code where there is one."""
    text = f"{type(error).__name__}: {error.msg}" if isinstance(error, SyntaxError) else format_exception(error)
    return text + _nearest(error) + exception_location(error)


def _nearest(error: BaseException) -> str:
    """Return a question about the name that was meant, where one of a module is misspelt; else an empty text."""
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
