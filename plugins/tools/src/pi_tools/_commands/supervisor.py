"""The process that makes sure nothing outlives pi (Linux). Runs apart, on the standard library alone.

```text
pi ──socket── supervisor            one per pi, started with its first command; the subreaper of last resort
  └─socket──── keeper               one per command, forked (0.5 ms); the subreaper of that command's tree
                 └─ the command     a session of its own; whatever it starts stays below its keeper
```
Every descendant of a command, ``setsid`` or not, stays below its keeper, because orphans go to the
nearest subreaper. A keeper's socket leads to pi: a byte on it is a wish, its end is the end of pi, however
it died. So nothing has to be found by name, group or session, and nothing depends on pi's last words. A
keeper that is killed leaves its tree to the supervisor, which ends it.

Wishes: ``k`` end the tree, ``d`` read and forget the tree's output, ``r`` let the tree live when the
socket ends. Answers, one per line: ``S pid keeper`` started, ``F stage errno`` not started, ``X status left``
the command ended with this wait status, and ``left`` is 1 if something of it still runs.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import socket
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HEADER", "children_of", "descendants", "main"]

HEADER = 4
"""Bytes of a request's length, big endian; the descriptors come with them."""

_DESCRIPTORS = 4
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_STOP_ROUNDS = 50
_IGNORED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)


def children_of() -> dict[int, list[int]]:
    """Return all processes by parent, from ``/proc``."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(name))
    return children


def descendants(root: int) -> list[int]:
    """Return every process below this one, without it."""
    children, found = children_of(), [root]
    for pid in found:
        found += children.get(pid, ())
    return found[1:]


def _become(name: bytes) -> None:
    """Take a name of its own, so that a command that ends all pythons does not end its keeper, and orphans."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    libc.prctl(_PR_SET_NAME, name, 0, 0, 0)


def _wake_on_child() -> int:
    """Return a descriptor that becomes readable whenever a child ends."""
    readable, writable = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def _read_all(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass


class _Tree:
    """The children of this process: reaped as they end, ended with all that they started when asked."""

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}

    def reap(self) -> bool:
        """Collect who ended; returns whether anybody is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.statuses[pid] = status

    def end(self, spare: Sequence[int] = ()) -> None:
        """End everything below, except what is below the spared children."""
        self._stop(spare)
        pause = 0.0005
        while self.reap():
            victims = self._victims(spare)
            if not victims:
                return
            for pid in victims:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(pause)
            pause = min(pause * 2, 0.1)

    def _stop(self, spare: Sequence[int]) -> None:
        """Stop all before any is killed: who is stopped starts nobody, so a bomb of forks is caught."""
        stopped: set[int] = set()
        for _ in range(_STOP_ROUNDS):
            fresh = [pid for pid in self._victims(spare) if pid not in stopped]
            if not fresh:
                return
            for pid in fresh:
                with suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            stopped.update(fresh)

    def _victims(self, spare: Sequence[int]) -> list[int]:
        children = children_of()
        found = [pid for pid in children.get(os.getpid(), ()) if pid not in spare]
        for pid in found:
            found += children.get(pid, ())
        return found


class _Keeper:
    """One command, from its start until nothing of it is left."""

    def __init__(self, control: socket.socket, drain: int, pi: int) -> None:
        self._control = control
        self._drain = drain
        self._pi = pi
        self._tree = _Tree()
        self._released = False
        self._wake = _wake_on_child()
        self._poll = select.poll()

    def run(self, request: tuple[list[bytes], bytes, dict[bytes, bytes]], out: int, error: int) -> None:
        stage, number, pid = _start(request, out, error)
        os.close(out)
        os.close(error)
        if number:
            self._say(f"F {stage} {number}\n")
            return
        self._say(f"S {pid} {os.getpid()}\n")
        self._poll.register(self._control.fileno(), select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        if self._pi >= 0:
            self._poll.register(self._pi, select.POLLIN)
        self._watch(pid)

    def _watch(self, pid: int) -> None:
        told = False
        while True:
            left = self._tree.reap()
            if not told and pid in self._tree.statuses:
                told = True
                self._say(f"X {self._tree.statuses[pid]} {int(left)}\n")
            if not left:
                return
            for descriptor, _ in self._poll.poll():
                if descriptor == self._wake:
                    _read_all(descriptor)
                elif descriptor == self._drain:
                    self._forget_output()
                elif descriptor == self._pi:
                    self._poll.unregister(self._pi)
                    self._without_pi()
                else:
                    self._obey()

    def _obey(self) -> None:
        try:
            wishes = self._control.recv(64)
        except OSError:
            wishes = b""
        if b"r" in wishes:
            self._released = True
        if b"d" in wishes:
            self._poll.register(self._drain, select.POLLIN)
        if b"k" in wishes:
            self._tree.end()
        if not wishes:
            self._poll.unregister(self._control.fileno())
            self._without_pi()

    def _without_pi(self) -> None:
        if not self._released:
            self._tree.end()

    def _forget_output(self) -> None:
        try:
            more = os.read(self._drain, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        if not more:
            self._poll.unregister(self._drain)

    def _say(self, text: str) -> None:
        with suppress(OSError):
            self._control.sendall(text.encode())


def _start(request: tuple[list[bytes], bytes, dict[bytes, bytes]], out: int, error: int) -> tuple[str, int, int]:
    """Fork and run the program; returns where and with which errno it failed, or no errno and the pid."""
    readable, writable = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        stage = "setup"
        try:
            argv, cwd, env = request
            os.setsid()
            null = os.open("/dev/null", os.O_RDONLY)
            for source, target in ((null, 0), (out, 1), (error, 2)):
                os.dup2(source, target)
            stage = "chdir"
            os.chdir(cwd)
            for number in (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
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


def _receive(requests: socket.socket) -> tuple[bytes, list[int]] | None:
    """Return the next request and its descriptors; None at the end of pi."""
    try:
        head, descriptors, *_ = socket.recv_fds(requests, HEADER, _DESCRIPTORS)
        while head and len(head) < HEADER:
            more = requests.recv(HEADER - len(head))
            head = head + more if more else b""
        if not head:
            return None
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # noqa: FBT003 - the signature is os's
        missing, parts = int.from_bytes(head, "big"), []
        while missing:
            part = requests.recv(min(missing, 1 << 20))
            if not part:
                return None
            parts.append(part)
            missing -= len(part)
    except OSError:
        return None
    return b"".join(parts), descriptors


def _fork_keeper(requests: socket.socket, wake: int, pi: int, body: bytes, descriptors: list[int]) -> int:
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        return pid
    code = 1
    try:
        requests.close()
        os.close(wake)
        _become(b"pi-keeper")
        control, out, error, drain = descriptors
        os.set_blocking(drain, False)
        _Keeper(socket.socket(fileno=control), drain, pi).run(marshal.loads(body), out, error)  # noqa: S302 - from pi itself
        code = 0
    finally:
        os._exit(code)


def _end_of(pi: int) -> int:
    """Return a descriptor that becomes readable when pi has ended; -1 where the system has none.

    The socket tells it too, but not while a process that pi forked still holds a copy of its end.
    """
    with suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(pi)
        if os.getppid() == pi:
            return descriptor
        os.close(descriptor)  # pi has ended already, and its number may be another's
    return -1


def main(pi: int) -> None:
    """Serve pi, the process of that number, until it or its end of the socket on descriptor 0 is gone.

    Then end what is left.
    """
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    _become(b"pi-supervisor")
    requests = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    # What pi has inherited, as a lock or a pipe somebody waits at the end of, is not for its commands to hold.
    os.closerange(3, requests.fileno())
    os.closerange(requests.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    wake, tree, keepers = _wake_on_child(), _Tree(), set[int]()
    poll = select.poll()
    poll.register(requests.fileno(), select.POLLIN)
    poll.register(wake, select.POLLIN)
    life = _end_of(pi)
    if life >= 0:
        poll.register(life, select.POLLIN)
    serving = True
    while True:
        left = tree.reap()
        if any(pid in keepers and status for pid, status in tree.statuses.items()):
            tree.end(spare=[*keepers])  # a keeper was killed: what it kept has come to us
        keepers -= tree.statuses.keys()
        tree.statuses.clear()
        if not serving and not (left and keepers):
            break
        for descriptor, _ in poll.poll():
            if descriptor == wake:
                _read_all(wake)
                continue
            request = _receive(requests) if descriptor != life else None
            if request is not None:
                keepers.add(_fork_keeper(requests, wake, life, *request))
                continue
            poll.unregister(descriptor)
            if serving and descriptor == life:
                poll.unregister(requests.fileno())
            serving = False
            requests.close()
            break
    tree.end()
