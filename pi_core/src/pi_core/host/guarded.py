"""Runs a plugin's own synchronous code: bounded in time, its prints kept off stdout, its errors told in words."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from pi_core._interrupt import Interrupted, limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["guarded", "told"]

LOAD_SECONDS = 30.0
"""How long a plugin may take to be imported or to answer a registration hook; ``hooks.timeout`` changes it."""


@contextmanager
def guarded(report: Callable[[str], None], what: str, seconds: float = LOAD_SECONDS) -> Iterator[None]:
    """Report whatever the block raises, ``SystemExit`` included, and go on after it."""
    try:
        with limited(seconds, what), redirect_stdout(sys.stderr):
            yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        report(told(error))


def told(error: BaseException) -> str:
    """Say an error in one line, with the place in the plugin's own code where one can be told."""
    if isinstance(error, Interrupted):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or "importlib" in place.tb_frame.f_code.co_filename or isinstance(error, SyntaxError):
        return text
    return f"{text} (in {place.tb_frame.f_code.co_filename}, line {place.tb_lineno})"
