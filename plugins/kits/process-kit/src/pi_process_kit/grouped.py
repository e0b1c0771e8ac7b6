"""Starts programs in separate process groups, for systems without the supervisor."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_process_kit.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["GroupStarter"]


class _Grouped(Process):
    """A program that leads a process group."""

    def __init__(self, loop: asyncio.AbstractEventLoop, popen: Any, drain: int) -> None:
        super().__init__(loop)
        self.pid = self.root = popen.pid
        self._popen = popen
        self._drain = os.dup(drain)
        self._loop = loop
        self._family: set[Any] = set()

    def wait(self) -> None:
        """Wait in a thread for the program, then for its group."""
        code = self._popen.wait()
        self._call_on_loop(self._finish_group, 128 - code if code < 0 else code)

    def _call_on_loop(self, function: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: there is no listener
            self._loop.call_soon_threadsafe(function, *args)

    def _finish_group(self, code: int) -> None:
        left = self._group_lives()
        self._finish(code, left=left)
        if left:
            self._loop.call_later(0.05, self._poll_group)
        else:
            self._end()

    def _poll_group(self) -> None:
        if self._group_lives():
            self._loop.call_later(0.25, self._poll_group)
        else:
            self._end()

    def _end(self) -> None:
        if self._drain >= 0:
            os.close(self._drain)
            self._drain = -1
        self._leave()

    def _group_lives(self) -> bool:
        if not hasattr(os, "killpg"):
            return False
        try:
            os.killpg(self.pid, 0)
        except PermissionError:
            return True
        except OSError:
            return False
        return True

    def kill(self) -> None:
        import psutil  # type: ignore[import-untyped]

        family: list[Any] = []
        with suppress(psutil.Error):
            family = psutil.Process(self.pid).children(recursive=True)
        if hasattr(os, "killpg"):
            import signal

            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        for member in family:
            with suppress(psutil.Error):
                member.kill()
        with suppress(OSError):
            self._popen.kill()

    def left(self) -> list[str]:
        import psutil

        found = []
        for other in psutil.process_iter(["cmdline"]):
            with suppress(psutil.Error, OSError):
                if os.getpgid(other.pid) == self.pid:
                    found.append(f"{other.pid} {' '.join(other.info['cmdline'] or ())}")
        return found

    def drain(self) -> None:
        import threading

        descriptor, self._drain = self._drain, -1
        if descriptor >= 0:
            threading.Thread(target=_forget, args=(descriptor,), daemon=True, name="pi-drain").start()


def _forget(descriptor: int) -> None:
    with suppress(OSError):
        while os.read(descriptor, 1 << 16):
            pass
    os.close(descriptor)


class GroupStarter:
    """Starts programs in separate process groups."""

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
        import subprocess
        import threading

        loop = asyncio.get_running_loop()
        popen = await loop.run_in_executor(
            None,
            lambda: subprocess.Popen(  # noqa: S603 - the command's shell, or ripgrep
                list(argv),
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=out,
                stderr=error,
                start_new_session=True,
            ),
        )
        process = _Grouped(loop, popen, drain)
        threading.Thread(target=process.wait, daemon=True, name=f"pi-wait-{popen.pid}").start()
        return process
