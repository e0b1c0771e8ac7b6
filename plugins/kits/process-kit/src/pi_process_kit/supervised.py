"""pi's side of the supervisor: a program below a keeper, and the sockets to both (Linux)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_process_kit.errors import ProcessFailure
from pi_process_kit.processes import Process

if TYPE_CHECKING:
    import socket
    import threading
    from collections.abc import Mapping, Sequence

__all__ = ["SupervisedStarter"]

_SEND_TIMEOUT = 10.0


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


class _Supervised(Process):
    """A program below a keeper, controlled through its socket; closing the socket ends the tree.

    Args:
        loop: The running event loop.
        control: The socket to the keeper.
        starter: The starter that started it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, control: socket.socket, starter: SupervisedStarter) -> None:
        super().__init__(loop)
        self._loop = loop
        self._starter = starter
        self._text = b""
        self._overdue: asyncio.TimerHandle | None = None
        self.started: asyncio.Future[None] = loop.create_future()
        control.setblocking(False)  # noqa: FBT003 - socket's own signature
        self._control = control.detach()  # a socket would warn when the loop ends before the command
        loop.add_reader(self._control, self._on_readable)

    def __del__(self) -> None:
        if self._control >= 0:
            os.close(self._control)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._control, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            self._take(line.decode().split())
        if not data and self._control >= 0:
            self._close()

    def _take(self, words: list[str]) -> None:
        match words:
            case ["S", pid, keeper]:
                self.pid, self.root = int(pid), int(keeper)
                if not self.started.done():
                    self.started.set_result(None)
            case ["F", stage, number]:
                error = OSError(int(number), os.strerror(int(number)), stage)
                if not self.started.done():
                    self.started.set_exception(error)
            case ["X", status, left]:
                self._finish(_exit_code(int(status)), left=left == "1")
                if left == "0":
                    self._close()
            case _:
                pass

    def _close(self) -> None:
        if self._control >= 0:
            self._loop.remove_reader(self._control)
            os.close(self._control)
            self._control = -1
        if self._overdue is not None:
            self._overdue.cancel()
        if not self.exited.done():
            _end_session_of(self.pid)  # the supervisor does this, and more, unless it was killed, too
        lost = ProcessFailure("The process that watched the command was killed, and the command was ended.")
        for future in (self.started, self.exited):
            if not future.done():
                future.set_exception(lost)
                future.exception()  # retrieved, because not every caller waits for both
        self._leave()

    def _request(self, request: bytes) -> None:
        if self._control >= 0:
            with suppress(OSError):
                os.write(self._control, request)

    def kill(self) -> None:
        from pi_process_kit.supervisor.service import KEEPER_GRACE

        self._request(b"k")
        self._starter.continue_stopped()
        if self._overdue is None and self._control >= 0:
            # The command may have been started by another event loop, which is closed.
            self._overdue = asyncio.get_running_loop().call_later(KEEPER_GRACE, self._kill_keeper)

    def _kill_keeper(self) -> None:
        """End a keeper that did not end its tree in time, as when the command traces it."""
        if self._control >= 0:
            asyncio.get_running_loop().run_in_executor(None, self._starter.kill_keeper, self.root)

    def drain(self) -> None:
        self._request(b"d")

    def left(self) -> list[str]:
        from pi_process_kit.supervisor.tree import descendants

        return [f"{pid} {line}" for pid in descendants(self.root) if (line := _command_line(pid))]

    def release(self) -> None:
        self._request(b"r")


def _loader_environment() -> dict[str, str]:
    """Return the variables that the interpreter may need to find its library, without others such as API keys."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}


def _end_session_of(leader: int) -> None:
    for name in os.listdir("/proc") if leader else ():
        if name.isdigit():
            with suppress(OSError):
                if os.getsid(int(name)) == leader:
                    os.kill(int(name), signal.SIGKILL)


def _command_line(pid: int) -> str:
    """Return the command line from ``/proc``; empty for a process that has ended."""
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(4096).rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


class SupervisedStarter:
    """Starts programs through the supervisor, which is started with the first of them."""

    def __init__(self) -> None:
        import threading

        self._lock: threading.Lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._works = False
        self.pid = 0
        """Pid of the guardian; 0 before the first program."""

    async def launch(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        out: int,
        error: int,
        drain: int,
        stdin: int | None = None,
    ) -> Process:
        """Start a program; see ``Starter``."""
        import marshal

        words, folder = [os.fsencode(word) for word in argv], os.fsencode(cwd)
        body = marshal.dumps((words, folder, {os.fsencode(name): os.fsencode(value) for name, value in env.items()}))
        for _ in range(2):
            process = await self._try(body, [out, error, drain] if stdin is None else [out, error, drain, stdin])
            if process is not None:
                self._works = True
                return process
        if self._works:
            raise ProcessFailure("The supervisor of commands keeps exiting. Restart pi.")
        from pi_process_kit.grouped import GroupStarter

        return await GroupStarter().launch(argv, cwd, env, out=out, error=error, drain=drain, stdin=stdin)

    def continue_stopped(self) -> None:
        """Continue the guardian, which continues the processes below it, in case a command stopped them."""
        if self.pid:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGCONT)

    def kill_keeper(self, pid: int) -> None:
        """Have a keeper killed, and its tree ended by the supervisor; blocks while the supervisor is busy."""
        import marshal

        with self._lock:
            if self._requests is not None:
                self._send(marshal.dumps(pid), [])

    async def _try(self, body: bytes, descriptors: list[int]) -> Process | None:
        """Start a program; None if the supervisor was dead, or died, before it could."""
        import socket

        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        process = _Supervised(loop, ours, self)
        try:
            with theirs:
                await loop.run_in_executor(None, self._request, body, [theirs.fileno(), *descriptors])
            await process.started
        except ProcessFailure:
            if await self._is_dead():
                return None
            raise
        except BaseException:
            process._close()  # noqa: SLF001 - the two halves of one value; closing ends what may have started
            raise
        return process

    async def _is_dead(self) -> bool:
        """Whether the supervisor was killed, or could not start, as where the system forbids what it needs."""
        for _ in range(20):
            with suppress(ChildProcessError):
                if os.waitpid(self.pid, os.WNOHANG)[0] == 0:  # noqa: ASYNC222 - it does not wait
                    await asyncio.sleep(0.01)
                    continue
            self.pid = 0
            return True
        return False

    def _request(self, body: bytes, descriptors: list[int]) -> None:
        with self._lock:
            if self.pid != 0 and self._send(body, descriptors):
                return
            self._start()  # the first program, or the supervisor was killed
            if not self._send(body, descriptors):
                raise ProcessFailure("The supervisor of commands does not answer. Restart pi.")

    def _send(self, body: bytes, descriptors: list[int]) -> bool:
        import socket

        from pi_process_kit.supervisor.service import HEADER

        assert self._requests is not None  # noqa: S101 - set with the pid
        try:
            socket.send_fds(self._requests, [len(body).to_bytes(HEADER, "big")], descriptors)
            self._requests.sendall(body)
        except OSError:
            return False
        return True

    def _start(self) -> None:
        import atexit
        import socket

        if self._requests is not None:
            self._requests.close()
            with suppress(OSError):
                os.waitpid(self.pid, os.WNOHANG)
        ours, theirs = socket.socketpair()
        ours.settimeout(_SEND_TIMEOUT)
        atexit.register(ours.close)
        folder = os.path.dirname(os.path.abspath(__file__))
        serve = f"from supervisor import service; service.main({os.getpid()})"
        with theirs:
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({folder!r}); {serve}"],
                _loader_environment(),
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
                setsigmask=[],
            )
        self._requests = ours
