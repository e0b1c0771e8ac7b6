"""Loads a plugin in a process of its own, to find out whether it ends that process."""

from __future__ import annotations

import signal
import subprocess
import sys
from secrets import token_hex
from tempfile import TemporaryFile

__all__ = ["how_it_died"]

_PROGRAM = """
import os, sys
mark, value, *sys.path[:] = sys.argv[1:]
stdout = os.dup(1)
from importlib.metadata import EntryPoint
from pi_core.host import PluginHost
from pi_core.settings import Settings
host = PluginHost(Settings.in_memory({}, os.devnull), installed=False)
try:
    host.add(EntryPoint("plugin", value, "pi").load(), "plugin")
except BaseException:
    pass
os.write(stdout, mark.encode())
os._exit(0)
"""


def how_it_died(value: str, seconds: float) -> str | None:
    """Return how a process that loads a plugin ends before it has done so, such as ``exit code 5``; else None.

    An exception is no such end: pi reports it when it loads the plugin itself.

    Args:
        value: What to load, in the words of an entry point: ``module`` or ``module:attribute``.
        seconds: How long it may take.
    """
    mark = token_hex()
    with TemporaryFile() as output:  # a pipe would be waited for until the last process that the plugin started ends
        process = subprocess.Popen(  # noqa: S603 - the installed plugin that is about to be loaded
            [sys.executable, "-P", "-c", _PROGRAM, mark, value, *sys.path],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"no end within {seconds:g} s"
        output.seek(0)
        if output.read().endswith(mark.encode()):
            return None
    return f"exit code {code}" if code >= 0 else _signal_name(-code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
