"""Trial loading of a plugin in a separate process, to find out whether it ends that process."""

from __future__ import annotations

import signal
import subprocess
import sys
from secrets import token_hex
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["crash_of"]

_PROGRAM = """
import os, sys
mark, value, *sys.path[:] = sys.argv[1:]
stdout = os.dup(1)
from importlib.metadata import EntryPoint
from pathlib import Path
from pi_core.host.extensions.loading import load
from pi_core.host import PluginHost
from pi_core.settings import Settings
host = PluginHost(Settings.in_memory({}, os.devnull), installed=False)
try:
    is_file = value.endswith(".py")
    host.add(load(Path(value), "plugin") if is_file else EntryPoint("plugin", value, "pi").load(), "plugin")
except BaseException:
    pass
os.write(stdout, mark.encode())
os._exit(0)
"""


def crash_of(value: str, paths: Sequence[str], seconds: float) -> str | None:
    """Return how loading a plugin ended the other process, such as ``exit code 5``; None if it did not.

    An exception is ignored, because pi reports it when it loads the plugin itself.

    Args:
        value: The plugin: ``module`` or ``module:attribute`` as in entry points, or the path of a Python file.
        paths: The import path.
        seconds: The deadline.
    """
    mark = token_hex()
    with TemporaryFile() as output:  # reading a pipe would wait for every process that the plugin started
        process = subprocess.Popen(  # noqa: S603 - the installed plugin that is about to be loaded
            [sys.executable, "-P", "-c", _PROGRAM, mark, value, *paths],
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
