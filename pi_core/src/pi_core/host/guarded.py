"""Runs a plugin's own synchronous code: bounded in time, its prints kept off stdout, its errors told in words."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from pi_core._plugin_text import said
from pi_core.hooks.interrupt import Interrupted, limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["guarded", "told"]

LOAD_SECONDS = 30.0
"""How long a plugin may take to be imported or to answer a registration hook; ``hooks.timeout`` changes it."""


@contextmanager
def guarded(report: Callable[[str], None], plugin: str, what: str, seconds: float = LOAD_SECONDS) -> Iterator[None]:
    """Report whatever a plugin's code in the block raises, ``SystemExit`` included, and go on after it."""
    try:
        with limited(seconds, what), redirect_stdout(sys.stderr):
            yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Interrupted as error:
        report(f"{error}. Disable it with --disable {plugin}, or let it have longer with the setting hooks.timeout")
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        report(told(error))


def told(error: BaseException) -> str:
    """Say an error in one line, with the place in the plugin's own code where one can be told."""
    place, found = error.__traceback__, ""
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        if not _is_library(file):
            found = f" (in {file}, line {place.tb_lineno})"
        place = place.tb_next
    if isinstance(error, SyntaxError) and error.filename is not None and error.lineno is not None:
        return f"{type(error).__name__}: {error.msg} (in {error.filename}, line {error.lineno})"
    return said(error) + found


def _is_library(file: str) -> bool:
    """Whether a file belongs to Python or to the host: nobody looks for a plugin's mistake there."""
    standard = file.startswith((os.path.dirname(os.__file__), "<frozen ")) and "site-packages" not in file  # noqa: PTH120
    return standard or file.startswith(_OWN)


_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - plain text, as code objects have it
