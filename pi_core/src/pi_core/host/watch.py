"""``plugins.watch``: compares what plugins do with files, programs and the network with what they declare.

An audit hook observes everything that this process opens, starts and connects to. Actions of pi on behalf of a plugin,
such as a request by ``ctx.complete``, are not attributed to the plugin, but programs that pi starts for a plugin are.
Nothing is prevented.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary, WeakSet, ref

from pi_core.base.frames import frames_outwards
from pi_core.hooks.acting import acting_plugin
from pi_core.hooks.running_call import current_call
from pi_core.host.grants import FILE
from pi_core.host.owners import CodeOwners, OwnersHost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.settings import Settings

__all__ = ["NETWORK", "OBSERVED", "PROCESSES", "WRITES", "Deed", "Watch", "deed_of", "is_stated"]

PROCESSES = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system"}
    | {"pty.spawn", "subprocess.Popen"}
)
WRITES = frozenset(
    {"os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate"}
    | {"os.utime", "shutil.copyfile", "shutil.move", "shutil.rmtree"}
)
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_CONNECTIONS = frozenset({"socket.bind", "socket.connect", "socket.sendto"})
NETWORK = _LOOKUPS | _CONNECTIONS
OBSERVED = PROCESSES | WRITES | NETWORK | {"open", "sqlite3.connect"}
"""The events that are translated; all others are ignored."""

_TWO_PATHS = frozenset({"os.link", "os.rename", "os.symlink", "shutil.copyfile", "shutil.move"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Deed(NamedTuple):
    """One action of code.

    Attributes:
        kind: ``files``, ``commands`` or ``network``, as in a plugin's grants.
        what: The path, the program, or ``host:port``.
        writes: Whether a file is changed.
        looked_up: Whether a host's address is looked up, which is followed by a connection to an address.
    """

    kind: str
    what: str
    writes: bool = False
    looked_up: bool = False


def deed_of(event: str, arguments: tuple[Any, ...]) -> Deed | None:
    """Return the action that an audit event reports; None for actions that plugins need not declare."""
    if event == "open":
        mode, flags = (*arguments[1:3], None, 0)[:2]
        writes = bool(flags & _WRITING) if isinstance(flags, int) else "r" not in str(mode)
        return _file(arguments[0], writes=writes)
    if event in WRITES:
        return _change(event, arguments)
    if event == "sqlite3.connect":
        return _file(arguments[0], writes=True) if arguments[0] != ":memory:" else None
    if event in PROCESSES:
        return Deed("commands", _program(event, arguments))
    if event in _LOOKUPS:
        return _lookup(arguments)
    return _connection(arguments[1]) if event in _CONNECTIONS else None


def _file(path: object, *, writes: bool) -> Deed | None:
    if not isinstance(path, str | bytes | os.PathLike):
        return None  # a file that is already open
    return Deed("files", os.path.abspath(os.fsdecode(path)), writes)  # noqa: PTH100 - no link is resolved


def _change(event: str, arguments: tuple[Any, ...]) -> Deed | None:
    folder = arguments[-1]
    if event != "os.truncate" and isinstance(folder, int) and folder >= 0:
        return None  # the path is relative to an open folder, whose opening was reported
    return _file(arguments[event in _TWO_PATHS], writes=True)


def _program(event: str, arguments: tuple[Any, ...]) -> str:
    if not arguments:
        return event.removeprefix("os.")
    if event == "os.system":
        return _text(arguments[0]).split(maxsplit=1)[0]
    if event == "subprocess.Popen":
        executable, command = arguments[0], arguments[1]
        if isinstance(command, list | tuple) and command:
            command = command[0]
        return _text(executable or command)
    return _text(arguments[1] if event in {"os.spawn", "pty.spawn"} and len(arguments) > 1 else arguments[0])


def _text(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        value = value[0]
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else str(value)


def _lookup(arguments: tuple[Any, ...]) -> Deed | None:
    host = arguments[0]
    if host is None:
        return None
    port = arguments[1] if len(arguments) > 1 else None
    return Deed("network", f"{_text(host)}:{_text(port)}" if port else _text(host), looked_up=True)


def _connection(address: object) -> Deed | None:
    if isinstance(address, tuple) and len(address) > 1 and isinstance(address[0], str):
        return Deed("network", f"{address[0]}:{address[1]}")
    return _file(address, writes=True) if address else None  # a socket in the file system


MOST_LINES = 200
"""Maximum number of lines that one plugin adds to the log in one process."""

_DOES = {"files": "opens {}", "commands": "starts {}", "network": "connects to {}"}
_thread = local()
"""``is_comparing`` is set while a thread compares and logs, to ignore its own files; ``plugin`` names its plugin."""


class WatchedHost(OwnersHost, Protocol):
    """The members of the plugin host that are used here."""

    settings: Settings

    def report(self, plugin: str, step: str, message: str) -> None:
        """Add a problem of a plugin."""
        ...


class Watch:
    """Observes what the plugins of one host do; reports and logs each undeclared action once.

    Args:
        host: The host whose plugins are observed. Until a session is connected, reports become problems of the host.
    """

    def __init__(self, host: WatchedHost) -> None:
        self._host = host
        self._log = host.settings.agent_dir / "packages" / "log.jsonl"
        self._owners = CodeOwners(host)
        self._seen: dict[str, set[tuple[str, str]]] = {}
        self._reported: set[tuple[str, str]] = set()
        self._looked_up: set[tuple[str, str]] = set()
        self._sessions: WeakKeyDictionary[Callable[[str, str, str], None], asyncio.AbstractEventLoop] = (
            WeakKeyDictionary()
        )
        self._loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        self._harmless: tuple[int, tuple[str, ...]] = (0, ())
        _listen(self)

    def connect(self, report: Callable[[str, str, str], None]) -> None:
        """Report to a session from now on. Call this in its event loop, whose threads are then attributed to plugins.

        Args:
            report: Called with plugin, step and message in that loop, as long as the session keeps a reference to it.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            self._loops.add(loop)
            loop.set_default_executor(_Attributed(self._plugin))
        self._sessions[report] = loop

    def _report(self, plugin: str, message: str) -> None:
        if not self._sessions:
            self._host.report(plugin, "watch", message)  # front ends print the problems at the start
        for report, loop in list(self._sessions.items()):
            with suppress(RuntimeError):  # a loop that has ended
                loop.call_soon_threadsafe(report, plugin, "watch", message)

    def on_audit_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Compare an audit event with the declarations; called by the code that runs, in its thread."""
        with suppress(Exception):  # it would be raised in the observed code
            deed = deed_of(event, arguments)
            if deed is not None and not self._is_harmless(deed):
                plugin = self._plugin(through_pi=deed.kind == "commands")
                if plugin is not None:
                    self._compare(plugin, deed)

    def _is_harmless(self, deed: Deed) -> bool:
        if deed.kind != "files":
            return False
        if deed.what.startswith("/dev/") or "__pycache__" in deed.what or ".pyc" in Path(deed.what).name:
            return True
        if deed.writes:
            return False
        if self._harmless[0] != len(sys.path):
            self._harmless = len(sys.path), _read_by_python()
        return deed.what.startswith(self._harmless[1])

    def _plugin(self, *, through_pi: bool = False) -> str | None:
        """Return the plugin whose code is running, by the innermost frame that belongs to a plugin or to pi.

        Args:
            through_pi: Whether pi's own frames count as frames of the plugin that called them.
        """
        for frame in frames_outwards(sys._getframe(1)):  # noqa: SLF001 - the documented way to the stack
            if frame.f_globals.get("__name__") != __name__:
                plugin = self._owners.plugin_of(frame)
                if plugin is not None and not self._owners.is_default(plugin):
                    return plugin
                if not through_pi and (plugin is not None or self._owners.is_kit(frame)):
                    return None
        plugin = getattr(_thread, "plugin", None) or acting_plugin()
        return None if self._owners.is_default(plugin) else plugin

    def _compare(self, plugin: str, deed: Deed) -> None:
        if deed.kind == "network":
            key = (plugin, deed.what.rpartition(":")[2])
            if deed.looked_up:
                self._looked_up.add(key)
            elif key in self._looked_up:
                return  # the name was compared when the address was looked up
        seen = self._seen.setdefault(plugin, set())
        if (deed.kind, deed.what) in seen or len(seen) >= MOST_LINES:
            return
        seen.add((deed.kind, deed.what))
        record = self._host.records.get(plugin)
        grants = record.grants if record is not None else None
        if is_stated(grants, deed):
            return
        call = current_call.get()
        hook = call.implementation.hook if call is not None and call.implementation.plugin == plugin else None
        self._write(plugin, deed, hook, grants)
        if (plugin, deed.kind) not in self._reported:
            self._reported.add((plugin, deed.kind))
            self._report(plugin, _message(deed, hook, grants))

    def _write(self, plugin: str, deed: Deed, hook: str | None, grants: Mapping[str, Any] | None) -> None:
        row = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": "watch",
            "plugin": plugin,
            "kind": deed.kind,
            "what": deed.what,
            "hook": hook,
            "stated": grants.get(deed.kind, []) if grants is not None else None,
        }
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


class _Attributed(ThreadPoolExecutor):
    """The threads of an event loop; their actions are attributed to the plugin that submitted the work."""

    def __init__(self, plugin: Callable[[], str | None]) -> None:
        super().__init__(thread_name_prefix="asyncio")
        self._plugin = plugin

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        plugin = self._plugin()

        def run() -> Any:
            _thread.plugin = plugin
            try:
                return fn(*args, **kwargs)
            finally:
                _thread.plugin = None

        return super().submit(run)


def is_stated(grants: Mapping[str, Any] | None, deed: Deed) -> bool:
    """Whether grants name an action by patterns: a path or a folder above it, a program, or a host."""
    stated = (grants or {}).get(deed.kind, False)
    if isinstance(stated, bool):
        return stated
    return any(_matches(each, deed) for each in stated)


def _matches(pattern: str, deed: Deed) -> bool:
    what = deed.what
    if deed.kind == "files":
        path = os.path.abspath(os.path.expanduser(pattern))  # noqa: PTH100, PTH111 - a pattern
        return what == path or what.startswith(path.rstrip(os.sep) + os.sep) or fnmatchcase(what, path)
    if deed.kind == "commands":
        return fnmatchcase(what, pattern) or fnmatchcase(Path(what).name, pattern)
    return fnmatchcase(what.lower(), pattern.lower()) or fnmatchcase(what.rpartition(":")[0].lower(), pattern.lower())


def _message(deed: Deed, hook: str | None, grants: Mapping[str, Any] | None) -> str:
    where = f" in {hook}" if hook is not None else ""
    why = f"and it declares nothing: it has no {FILE}" if grants is None else f"which grants.{deed.kind} in its {FILE}"
    end = "" if grants is None else " does not name"
    return f"{_DOES[deed.kind].format(repr(deed.what))}{where}, {why}{end}. packages/log.jsonl lists all of this kind"


def _listen(watch: Watch) -> None:
    """Pass audit events to a watch while it exists; the audit hook itself stays until the process ends."""
    found = ref(watch)

    def audit_hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in OBSERVED and not hasattr(_thread, "is_comparing") and (target := found()) is not None:
            _thread.is_comparing = True
            try:
                target.on_audit_event(event, arguments)
            finally:
                del _thread.is_comparing

    sys.addaudithook(audit_hook)


def _read_by_python() -> tuple[str, ...]:
    """Return the folders of Python and the system, which any code may read."""
    named = [each for each in sys.path if each and Path(each).is_dir() and not Path.cwd().is_relative_to(each)]
    folders = [*named, sys.prefix, sys.base_prefix, "/usr", "/proc/self", "/etc/ssl", "/lib"]
    return tuple(os.path.abspath(each).rstrip(os.sep) + os.sep for each in folders)  # noqa: PTH100
