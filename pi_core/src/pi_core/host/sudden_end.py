"""Names the plugin that ends the process without a word: by ``os._exit``, or by a crash in C.

``os._exit`` is replaced by a function that writes down whose code calls it. A crash is written by ``faulthandler`` into
a file that is open from the start on. The next start reads both. What was stored before is in the session's file.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from pi_core.agent.safe_text import is_library
from pi_core.base.frames import frames_outwards
from pi_core.base.paths import make_cache
from pi_core.base.process.signals import is_running
from pi_core.host.owners import CodeOwners

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from pi_core.host import PluginHost

__all__ = ["naming_sudden_ends", "sudden_ends"]

_PREFIX = "ended-"
_FRAME = r'^  File "(.+)", line (\d+) in (.+)$'
_FATAL = r"^Fatal Python error: (.+)$|^Windows fatal exception: (.+)$"
_LONGEST = 100_000


@contextmanager
def naming_sudden_ends(host: PluginHost) -> Iterator[None]:
    """Write down which plugin ends this process in the block; nothing if only pi's own plugins are loaded."""
    file = _opened(host) if not all(map(host.is_default, _plugins(host))) else None
    if file is None:
        yield
        return
    import faulthandler

    owners, leave, process = CodeOwners(host), os._exit, os.getpid()

    def named_exit(status: int) -> NoReturn:
        import sys

        if os.getpid() == process:  # else a child ends itself, as it should
            from pi_core.base.process.stray_output import give_terminal_back

            message = _exit_message(owners, sys._getframe(1), status)  # noqa: SLF001 - the documented way to the stack
            with suppress(OSError, ValueError):
                file.write(message or "")
                file.flush()
            if message is not None:
                give_terminal_back()
                with suppress(OSError):
                    os.write(2, f"Error: {message}\n".encode(errors="replace"))
        leave(status)

    was_enabled = faulthandler.is_enabled()  # by the user, with PYTHONFAULTHANDLER
    if not was_enabled:
        faulthandler.enable(file)
    os._exit = named_exit
    try:
        yield
    finally:
        os._exit = leave
        if not was_enabled:
            faulthandler.disable()
        with suppress(OSError):
            file.close()
            Path(file.name).unlink()


def sudden_ends(host: PluginHost) -> list[tuple[str, str]]:
    """Return plugin and message for each process that a plugin has ended since the last call, and forget them."""
    found = []
    folder = host.settings.agent_dir / "cache"
    with suppress(OSError):
        for path in [*folder.glob(f"{_PREFIX}*")]:
            pid = path.name.removeprefix(_PREFIX)
            if pid.isdecimal() and not is_running(int(pid)):
                text = path.read_text("utf-8", "replace")[:_LONGEST]
                path.unlink()
                if text:
                    found.append(_told(host, text))
    return found


def _plugins(host: PluginHost) -> list[str]:
    return [*host.__dict__.get("records", {}), *host.added()]


def _opened(host: PluginHost) -> TextIO | None:
    folder = host.settings.agent_dir / "cache"
    try:
        make_cache(folder)
        return (folder / f"{_PREFIX}{os.getpid()}").open("w", encoding="utf-8")
    except OSError:
        return None


def _exit_message(owners: CodeOwners, frame: FrameType | None, status: object) -> str | None:
    found = owners.innermost(frames_outwards(frame))
    if found is None:
        return None
    plugin, at = found
    return f"Plugin {plugin!r} ended pi: it called os._exit({status!r}) in {at.f_code.co_filename}, line {at.f_lineno}"


def _told(host: PluginHost, text: str) -> tuple[str, str]:
    """Return plugin and message for what a process left."""
    named = re.match(r"Plugin '(.+)' ended pi: ", text)
    if named is not None:
        return named[1], f"the last pi was ended: {text.partition(': ')[2]}. What was stored before is kept"
    fatal = re.search(_FATAL, text, re.MULTILINE)
    why = next(filter(None, fatal.groups()), "a crash") if fatal is not None else "a crash"
    crashed = (text.partition("Current thread ")[2] or text).partition("\n\n")[0]  # others were only running
    for file, line, function in re.findall(_FRAME, crashed, re.MULTILINE):
        if not is_library(file):
            plugin = _plugin_of_file(host, file)
            return plugin, f"the last pi ended by a crash ({why}) in {function} ({file}, line {line})"
    return "(unknown)", f"the last pi ended by a crash ({why})"


def _plugin_of_file(host: PluginHost, file: str) -> str:
    parts = Path(file).parts
    for name, record in host.records.items():
        module = record.value.partition(":")[0].partition(".")[0]
        if module in parts or f"{module}.py" in parts:
            return name
    return Path(file).parent.name if Path(file).stem == "__init__" else Path(file).stem
