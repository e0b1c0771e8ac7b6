"""Reserves stdout for answers and events: other writes to its descriptor go to stderr.

Redirecting Python's streams around a plugin's code is not enough: ``os.write(1, ...)``, ``sys.__stdout__`` and child
processes of a plugin bypass that, at import and later.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO, cast

from pi_core.base.process.streams import copy_of, is_open

if TYPE_CHECKING:
    from pi_cli.options import Options

__all__ = ["keep_stdout", "release_stdout", "reserves_stdout"]

_STDOUT = 1
_STDERR = 2


def reserves_stdout(options: Options) -> bool:
    """Whether the command line alone reserves stdout for pi; otherwise a subcommand or a front end may need it."""
    return options.print_only or options.mode in ("text", "print", "json", "rpc")


def keep_stdout(*, when: bool) -> None:
    """Move ``sys.stdout`` to a copy of its descriptor, and replace the descriptor by stderr; idempotent.

    Args:
        when: Whether to do it.
    """
    out = sys.__stdout__
    if not when or out is None or sys.stdout is not out or not is_open(_STDOUT):
        return  # it is on a copy already, or is not a stream of the process
    out.flush()
    mine = os.dup(_STDOUT)
    ours = open(mine, "w", buffering=1 if out.line_buffering else -1, encoding=out.encoding, errors=out.errors)  # noqa: PTH123, SIM115 - a descriptor, for as long as the process lives
    elsewhere = copy_of(_STDERR, os.O_WRONLY)
    os.dup2(elsewhere, _STDOUT)
    os.close(elsewhere)
    sys.stdout = cast("TextIO", ours)


def release_stdout() -> None:
    """Undo ``keep_stdout``: the descriptor is stdout again, for plugins that write the command's output."""
    ours, out = sys.stdout, sys.__stdout__
    if out is None or ours is out or not is_open(_STDOUT):
        return
    ours.flush()
    os.dup2(ours.fileno(), _STDOUT)
    sys.stdout = out
    ours.close()
