"""The keeper: supervises one command from its start until no descendant is left."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress

from .confine import enter
from .tree import Tree, name_process, read_all, wake_on_child

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from .confine import Rulesets

__all__ = ["IGNORED", "RELEASED", "Keeper"]

RELEASED = b"pi-kept"
"""The process name of a keeper that has read ``r``, by which the supervisor recognises it."""

IGNORED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)
"""Signals that guardian, supervisor and keepers ignore; the command does not."""


class Keeper:
    """Supervises one command from its start until no descendant is left."""

    def __init__(self, control: socket.socket, drain: int, pi: int, rulesets: Rulesets) -> None:
        self._control = control
        self._drain = drain
        self._pi = pi
        self._rulesets = rulesets
        self._tree = Tree()
        self._released = False
        self._wake = wake_on_child()
        self._poll = select.poll()

    def run(
        self, request: tuple[list[bytes], bytes, dict[bytes, bytes]], out: int, error: int, stdin: int | None = None
    ) -> None:
        """Start the program and return when it and all that it started have ended."""
        stdin = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC) if stdin is None else stdin
        stage, number, pid = _start(request, stdin, out, error, self._rulesets)
        os.close(stdin)
        os.close(out)
        os.close(error)
        if number:
            self._send(f"F {stage} {number}\n")
            return
        self._send(f"S {pid} {os.getpid()}\n")
        self._poll.register(self._control.fileno(), select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        if self._pi >= 0:
            self._poll.register(self._pi, select.POLLIN)
        self._watch(pid)

    def _watch(self, pid: int) -> None:
        reported = False
        while True:
            left = self._tree.reap()
            if not reported and pid in self._tree.statuses:
                reported = True
                self._send(f"X {self._tree.statuses[pid]} {int(left)}\n")
            if not left:
                return
            for descriptor, _ in self._poll.poll():
                if descriptor == self._wake:
                    read_all(descriptor)
                elif descriptor == self._drain:
                    self._discard_output()
                elif descriptor == self._pi:
                    self._poll.unregister(self._pi)
                    self._on_pi_gone()
                else:
                    self._handle_requests()

    def _handle_requests(self) -> None:
        try:
            requests = self._control.recv(64)
        except OSError:
            requests = b""
        if b"r" in requests:
            self._released = True
            name_process(RELEASED)
        if b"d" in requests:
            self._poll.register(self._drain, select.POLLIN)
        if b"k" in requests:
            self._tree.end()
        if not requests:
            self._poll.unregister(self._control.fileno())
            self._on_pi_gone()

    def _on_pi_gone(self) -> None:
        if not self._released:
            self._tree.end()

    def _discard_output(self) -> None:
        try:
            more = os.read(self._drain, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        if not more:
            self._poll.unregister(self._drain)

    def _send(self, text: str) -> None:
        with suppress(OSError):
            self._control.sendall(text.encode())


def _start(
    request: tuple[list[bytes], bytes, dict[bytes, bytes]], stdin: int, out: int, error: int, rulesets: Rulesets
) -> tuple[str, int, int]:
    """Fork and run the program; returns where and with which errno it failed, or no errno and the pid."""
    readable, writable = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        stage = "setup"
        try:
            argv, cwd, env = request
            os.setsid()
            for source, target in ((stdin, 0), (out, 1), (error, 2)):
                os.dup2(source, target)
            stage = "chdir"
            os.chdir(cwd)
            for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            stage = "confine"
            argv = enter(argv, rulesets)
            stage = "exec"
            os.execve(argv[0], argv, env)  # noqa: S606 - the command's shell, or ripgrep
        except OSError as failure:
            os.write(writable, f"{stage} {failure.errno}".encode())
        finally:
            os._exit(127)
    os.close(writable)
    report = os.read(readable, 64).decode().split()
    os.close(readable)
    return (report[0], int(report[1]), pid) if report else ("", 0, pid)
