"""``Mode.prepare``: what a front end does before its session is made, and what happens if it fails."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_cli.report import warn
from pi_core.hooks.containment import Contained
from pi_hookspecs import StartFacts, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pi_cli.options import Options
    from pi_core import PluginHost
    from pi_hookspecs import Mode

__all__ = ["prepared", "start_facts"]


def start_facts(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> StartFacts:
    """Return what is known before there is a session."""
    return StartFacts(
        cwd=cwd,
        agent_dir=host.settings.agent_dir,
        settings=host.settings,
        theme=options.use_theme or host.settings.get_str("theme", None),
        session_name=options.name,
        environ=environ,
        flags=options.flags,
    )


@contextmanager
def prepared(modes: Iterator[Mode], facts: StartFacts) -> Iterator[Mode]:
    """Return the first mode that can be prepared; its context is always exited at the end of the block.

    Raises:
        UserError: No mode can be prepared.
    """
    mode, context = _entered(modes, facts)
    try:
        yield mode
    finally:
        with Contained(partial(_report_end, mode)):
            context.__exit__(*sys.exc_info())  # what it returns is ignored: no exception is kept from propagating


def _entered(modes: Iterator[Mode], facts: StartFacts) -> tuple[Mode, AbstractContextManager[Any]]:
    mode = next(modes)
    while mode.prepare is not None:
        failures: list[BaseException] = []
        with Contained(failures.append):
            context = mode.prepare(facts)
            context.__enter__()
            return mode, context
        mode = _instead(mode, failures[0], modes)
    return mode, nullcontext()


def _instead(mode: Mode, error: BaseException, modes: Iterator[Mode]) -> Mode:
    """Return the next mode, after a warning that gives the reason.

    Raises:
        UserError: No mode is left.
    """
    from pi_core.host.guarded import error_line

    reason = str(error) if isinstance(error, UserError) else error_line(error)
    problem = f"Mode {mode.name!r} cannot be used here: {reason}"
    other = next(modes, None)
    if other is None:
        raise UserError(problem) from error
    warn(f"{problem}. Mode {other.name!r} is started instead")
    return other


def _report_end(mode: Mode, error: BaseException) -> None:
    from pi_core.host.guarded import error_line

    warn(f"Mode {mode.name!r} failed to end: {error_line(error)}")
