"""Starts programs so that they end with pi, however it ends: supervised children with pipes, deadlines and no orphans.

Everything public is importable from here, and loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # what a type checker sees; ``_HOMES`` says the same at run time, a test compares them
    from pi_process_kit._child import *
    from pi_process_kit._confined import *
    from pi_process_kit._engine import *
    from pi_process_kit._errors import *
    from pi_process_kit._pi import *
    from pi_process_kit._prepare import *
    from pi_process_kit._processes import *
    from pi_process_kit._pump import *

_HOMES = {
    "_child": "Child start_child",
    "_confined": "confined confined_calls confinement_abi",
    "_engine": "Engine LocalEngine StopTasks",
    "_errors": "ProcessFailure",
    "_pi": "PiAnswer PiEnd pi_events run_pi",
    "_prepare": "prepare with_folder",
    "_processes": "KILL_WAIT Process Starter starter",
    "_pump": "Pump output_pipe",
}

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
