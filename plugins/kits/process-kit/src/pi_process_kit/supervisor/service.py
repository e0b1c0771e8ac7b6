"""The guardian and the supervisor: fork keepers on pi's requests, and end the trees of killed processes."""

from __future__ import annotations

import marshal
import os
import select
import signal
import socket
import time
from contextlib import suppress

from .confine import Rulesets
from .keeper import IGNORED, RELEASED, Keeper
from .tree import Tree, become_subreaper, continue_stopped, read_all, wake_on_child

__all__ = ["HEADER", "KEEPER_GRACE", "main"]

HEADER = 4
"""Bytes of a request's length, big endian; the descriptors come with them."""

KEEPER_GRACE = 2.0
"""Seconds that a keeper has to end its tree before it is killed, and the supervisor ends the tree."""

_DESCRIPTORS = 5


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


def _end_of(pi: int) -> int:
    """Return a descriptor that becomes readable when pi has ended; -1 where the system has none.

    The end of the socket shows it, too, but not while a process that pi forked still has a copy of pi's end.
    """
    with suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(pi)
        if os.getppid() == pi:
            return descriptor
        os.close(descriptor)  # pi has ended already, and its pid may be reused
    return -1


class _Supervisor:
    """Forks the keepers, and ends the tree of a killed one."""

    def __init__(self, requests: socket.socket, life: int, guardian: int) -> None:
        self._requests = requests
        self._life = life
        self._guardian = guardian
        self._tree = Tree()
        self._keepers: set[int] = set()
        self._rulesets = Rulesets()
        self._wake = wake_on_child()
        self._poll = select.poll()
        self._poll.register(requests.fileno(), select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        self._poll.register(guardian, select.POLLIN)
        if life >= 0:
            self._poll.register(life, select.POLLIN)
        self._serving = True
        self._due: float | None = None

    def run(self) -> None:
        """Serve until pi, or its end of the socket, is gone and so are the keepers; then end what is left.

        The end of the guardian ends everything at once: pi starts another one with its next command.
        """
        while self._reap_and_continue() or self._serving:
            for descriptor, _ in self._poll.poll(self._until_due()):
                if descriptor == self._guardian:
                    self._tree.end()
                    return
                if descriptor == self._wake:
                    read_all(self._wake)
                elif not self._serve(descriptor):
                    break
            if self._due is not None and time.monotonic() >= self._due:
                self._kill_late_keepers()
        self._tree.end()

    def _reap_and_continue(self) -> bool:
        """Collect children that ended, and continue keepers that were stopped; returns whether a keeper is left."""
        left = self._tree.reap()
        if any(pid in self._keepers and status for pid, status in self._tree.statuses.items()):
            self._tree.end(spare=[*self._keepers])  # a keeper was killed: its tree was reparented to us
        self._keepers -= self._tree.statuses.keys()
        self._tree.statuses.clear()
        continue_stopped(self._keepers)
        return left and bool(self._keepers)

    def _serve(self, descriptor: int) -> bool:
        """Carry out the next request; False when pi is gone."""
        request = _receive(self._requests) if descriptor != self._life else None
        if request is not None:
            body, descriptors = request
            if descriptors:
                self._keepers.add(self._fork_keeper(body, descriptors))
            else:
                self._kill_keepers({marshal.loads(body)})  # noqa: S302 - from pi itself
            return True
        self._poll.unregister(descriptor)
        if self._serving and descriptor == self._life:
            self._poll.unregister(self._requests.fileno())
        self._serving = False
        self._requests.close()
        self._due = time.monotonic() + KEEPER_GRACE
        return False

    def _until_due(self) -> float | None:
        return None if self._due is None else max(self._due - time.monotonic(), 0) * 1000

    def _kill_late_keepers(self) -> None:
        """End the keepers that are still there, except those that were released."""
        self._due = None
        self._kill_keepers({pid for pid in self._keepers if not _is_released(pid)})

    def _kill_keepers(self, pids: set[int]) -> None:
        """Kill the keepers among these processes, and end their process trees.

        A keeper that is traced is reported as ended only when its tracer, which may be below it, has ended.
        """
        pids &= self._keepers
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        if pids:
            self._tree.end(spare=[*(self._keepers - pids)])

    def _fork_keeper(self, body: bytes, descriptors: list[int]) -> int:
        request = marshal.loads(body)  # noqa: S302 - from pi itself
        self._rulesets.prepare(request[0])
        pid = os.fork()
        if pid:
            for descriptor in descriptors:
                os.close(descriptor)
            return pid
        code = 1
        try:
            self._requests.close()
            os.close(self._wake)
            become_subreaper(b"pi-keeper")
            control, out, error, drain, *stdin = descriptors
            os.set_blocking(drain, False)
            keeper = Keeper(socket.socket(fileno=control), drain, self._life, self._rulesets)
            keeper.run(request, out, error, *stdin)
            code = 0
        finally:
            os._exit(code)


def _is_released(keeper: int) -> bool:
    with suppress(OSError), open(f"/proc/{keeper}/comm", "rb") as file:
        return file.read().rstrip() == RELEASED
    return False


def main(pi: int) -> None:
    """Serve pi, the process of that number, until it or its end of the socket on descriptor 0 is gone.

    Then end the remaining processes. This process is the guardian; its child serves.
    """
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    become_subreaper(b"pi-guardian")
    requests = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    # What pi has inherited, as a lock or a pipe that another process reads to its end, is not passed to its commands.
    os.closerange(3, requests.fileno())
    os.closerange(requests.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    life, wake = _end_of(pi), wake_on_child()
    our_end, own_end = os.pipe()
    supervisor = os.fork()
    if supervisor == 0:
        code = 1
        try:
            os.close(wake)
            os.close(own_end)
            become_subreaper(b"pi-supervisor")
            _Supervisor(requests, life, our_end).run()
            code = 0
        finally:
            os._exit(code)
    requests.close()
    _guard(supervisor, wake)


def _guard(supervisor: int, wake: int) -> None:
    """Wait for the end of the supervisor, then end its remaining processes, if it was killed."""
    tree, poll = Tree(), select.poll()
    poll.register(wake, select.POLLIN)
    while tree.reap() and supervisor not in tree.statuses:
        continue_stopped([supervisor])
        poll.poll()
        read_all(wake)
    tree.end()
