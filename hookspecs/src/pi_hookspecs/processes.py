"""Managed background processes (``ctx.processes``): started by a plugin or tool, read later, ended with the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ManagedProcess", "ProcessOutput", "ProcessStatus", "Processes"]

ProcessStatus: TypeAlias = Literal["running", "exited", "stopped"]
"""``stopped`` means that ``stop`` or the end of the session has ended it."""


@frozen(eq=False, repr=False)
class ProcessOutput(Value):
    """A piece of a process's output: standard output and standard error in the order of arrival.

    Attributes:
        text: The output, invalid UTF-8 replaced.
        next: The ``since`` of the next piece.
        lost: Characters before ``text`` that were asked for and are no longer kept.
    """

    text: str
    next: int
    lost: int = 0


@runtime_checkable
class ManagedProcess(Protocol):
    """A process in the background. Everything that it starts ends with it."""

    @property
    def id(self) -> str:
        """Identifies it in its session; eight hexadecimal digits."""
        ...

    @property
    def name(self) -> str:
        """Its name; its command if it was given no name."""
        ...

    @property
    def command(self) -> str:
        """Its command, as a user would type it."""
        ...

    @property
    def status(self) -> ProcessStatus:
        """Whether it runs, or how it ended."""
        ...

    @property
    def exit_code(self) -> int | None:
        """Its exit code, 128+n after signal n; None while it runs."""
        ...

    def read(self, since: int = 0) -> ProcessOutput:
        """Return its output so far, without waiting; of long output the last megabyte is kept.

        Args:
            since: ``next`` of the previous piece.
        """
        ...

    async def write(self, text: str) -> None:
        """Write to its standard input.

        Raises:
            PiError: It has ended, or closed its standard input.
        """
        ...

    async def wait(self) -> int:
        """Wait until it has ended and all its output was read; return its exit code."""
        ...

    async def stop(self) -> None:
        """End it: close its standard input, then SIGTERM, then SIGKILL, half a second apart."""
        ...


@runtime_checkable
class Processes(Protocol):
    """The background processes of a session."""

    async def start(
        self,
        command: str | Sequence[str],
        *,
        name: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ManagedProcess:
        """Start a process, after asking the session's plugins (``child_environment``, ``Launcher``).

        Args:
            command: For the shell, or a program and its arguments.
            name: Its name.
            cwd: Where it runs; the session's working directory when None.
            env: Variables in addition to those that ``bash`` gets.

        Raises:
            PiError: It cannot be started, or a plugin refuses.
        """
        ...

    def list(self) -> Sequence[ManagedProcess]:
        """Return all processes of the session, including ended ones, in the order in which they were started."""
        ...

    def get(self, process_id: str) -> ManagedProcess:
        """Return a process by its id.

        Raises:
            UnknownName: The session has no such process.
        """
        ...
