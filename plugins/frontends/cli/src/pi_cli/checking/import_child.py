"""Imports a plugin's modules in a separate process, and writes the effects to a file.

The process has already imported ``pi_hookspecs``, like pi. An audit hook records opened files, started programs and
connections; threads, environment, signal handlers, paths and streams are compared before and after.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from pi_core.host.watch import NETWORK, PROCESSES, WRITES

__all__ = ["main"]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _AuditRecorder:
    """An audit hook, which cannot be removed; it records only while ``is_recording`` is true."""

    def __init__(self) -> None:
        self.is_recording = False
        self.events: list[list[str]] = []

    def record(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_recording:
            return
        kind = _kind(event, arguments)
        if kind is not None:
            self.is_recording = False  # what follows may itself raise audit events
            self.events.append([kind, _what(arguments)])
            self.is_recording = True


def _kind(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event in PROCESSES:
        return "process"
    if event in NETWORK:
        return "socket"
    if event in WRITES:
        return None if _is_bytecode(arguments) else "write"
    if event == "open" and not _is_bytecode(arguments):
        flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0  # noqa: PLR2004 - path, mode, flags
        return "write" if flags & _WRITING else None
    return None


def _is_bytecode(arguments: tuple[Any, ...]) -> bool:
    return any("__pycache__" in str(each) or ".pyc" in str(each) for each in arguments[:2])


def _what(arguments: tuple[Any, ...]) -> str:
    first = arguments[0] if arguments else ""
    return str(first if isinstance(first, str | bytes | int) else arguments[-1])[:200]


def _state() -> dict[str, Any]:
    return {
        "thread": sorted(each.name for each in threading.enumerate()),
        "environment": sorted(os.environ.items()),
        "signal": [str(signal.getsignal(each)) for each in sorted(signal.valid_signals())],
        "sys.path": [*sys.path],
        "stream": [id(sys.stdin), id(sys.stdout), id(sys.stderr)],
        "folder": str(Path.cwd()),
    }


def _import_what_pi_has() -> None:
    """Import what pi imports before any plugin, and all names of ``pi_hookspecs``, so that they do not count."""
    import pi_core.host
    import pi_hookspecs

    del pi_core
    for name in pi_hookspecs.__all__:
        getattr(pi_hookspecs, name)


def main(request_file: str) -> None:
    """Import the modules named in a request; write ``ms``, ``events``, ``changed``, ``error`` to its answer file."""
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    _import_what_pi_has()
    sys.path[:] = [*request["first"], *sys.path, *request["paths"]]
    recorder, before, error = _AuditRecorder(), _state(), None
    sys.addaudithook(recorder.record)
    recorder.is_recording = True
    started = time.perf_counter()
    for module in request["modules"]:
        try:
            import_module(module)
        except BaseException as raised:  # noqa: BLE001 - SystemExit included
            error = f"{type(raised).__name__}: {raised}"
            break
    took = (time.perf_counter() - started) * 1000
    recorder.is_recording = False
    after = _state()
    changed = [name for name, value in before.items() if after[name] != value]
    answer = {"ms": took, "events": recorder.events, "changed": changed, "error": error}
    Path(request["answer"]).write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)  # threads that the plugin has started do not count


if __name__ == "__main__":
    main(sys.argv[1])
