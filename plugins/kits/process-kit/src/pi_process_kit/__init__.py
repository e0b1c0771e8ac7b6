"""Starts programs so that they end with pi, however it ends: supervised children with pipes, deadlines and no orphans.

Everything public is importable from here, and loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # for type checkers; a test checks that ``_HOMES`` agrees with these imports
    from pi_process_kit.attempt import *
    from pi_process_kit.child import *
    from pi_process_kit.confinement import *
    from pi_process_kit.engine import *
    from pi_process_kit.errors import *
    from pi_process_kit.pi import *
    from pi_process_kit.preparing import *
    from pi_process_kit.processes import *
    from pi_process_kit.pump import *

_HOMES = {
    "attempt": "run_shell write_files",
    "child": "Child start_child",
    "confinement": "confined confined_calls confinement_abi",
    "engine": "Engine LocalEngine StopTasks run_tasks",
    "errors": "ProcessFailure",
    "pi": "PiAnswer PiEnd pi_events run_pi",
    "preparing": "prepare with_folder",
    "processes": "KILL_WAIT Process Starter starter",
    "pump": "Pump output_pipe",
}

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
