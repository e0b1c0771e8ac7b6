"""``Mode.prepare``: what a front end does before its session is made, and what happens if it fails."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pi_cli._report import warn
from pi_hookspecs import StartFacts, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pi_cli._options import Options
    from pi_core.host import PluginHost
    from pi_hookspecs import Mode

__all__ = ["prepared", "start_facts"]


def start_facts(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> StartFacts:
    """Return what is known before there is a session."""
    return StartFacts(
        cwd=cwd,
        agent_dir=host.settings.agent_dir,
        settings=host.settings,
        theme=host.settings.get_str("theme", None),
        session_name=options.name,
        environ=environ,
        flags=options.flags,
    )


@contextmanager
def prepared(modes: Iterator[Mode], facts: StartFacts) -> Iterator[Mode]:
    """Return the first mode that can be prepared; its context is left at the end of the block, whatever happens there.

    Raises:
        UserError: None can.
    """
    mode: Mode | None = next(modes)
    while mode is not None and mode.prepare is not None:
        try:
            context: AbstractContextManager[Any] = mode.prepare(facts)
            context.__enter__()
        except Exception as error:  # noqa: BLE001 - the code of a plugin
            mode = _instead(mode, error, modes)
            continue
        try:
            yield mode
        finally:
            _leave(mode, context)
        return
    assert mode is not None  # ``_instead`` raises when there is no other  # noqa: S101
    yield mode


def _instead(mode: Mode, error: Exception, modes: Iterator[Mode]) -> Mode:
    from pi_core.host.guarded import error_line

    reason = str(error) if isinstance(error, UserError) else error_line(error)
    problem = f"Mode {mode.name!r} cannot be used here: {reason}"
    other = next(modes, None)
    if other is None:
        raise UserError(problem) from error
    warn(f"{problem}. Mode {other.name!r} is started instead")
    return other


def _leave(mode: Mode, context: AbstractContextManager[Any]) -> None:
    """Leave the context of a mode with the exception that is being handled, which goes on in any case."""
    from pi_core.host.guarded import error_line

    try:
        context.__exit__(*sys.exc_info())
    except Exception as error:  # noqa: BLE001 - the code of a plugin
        warn(f"Mode {mode.name!r} failed to end: {error_line(error)}")
