"""Operations of the tools on files and commands, which a plugin may redirect with the service ``ToolOperations``.

Paths are absolute, on the target machine; relative ones were joined to the session's working directory. System failures
are raised as ``OSError`` with ``errno`` set, so that the texts for the model are the same for every implementation. An
implementation is any object that has the methods; none of these classes needs to be inherited from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from pi_hookspecs.abort import AbortSignal

__all__ = [
    "CommandOperations",
    "EditOperations",
    "FileOperations",
    "FindOperations",
    "GrepOperations",
    "LsOperations",
    "ReadOperations",
    "SomeFileOperations",
    "WriteOperations",
]


@runtime_checkable
class ReadOperations(Protocol):
    """For ``read``."""

    async def access(self, path: str) -> None:
        """Return if the file can be read."""
        ...

    async def read_file(self, path: str) -> bytes:
        """Return the whole content."""
        ...


@runtime_checkable
class WriteOperations(Protocol):
    """For ``write``."""

    async def mkdir(self, path: str) -> None:
        """Make the directory and its parents; no error when it exists."""
        ...

    async def write_file(self, path: str, content: bytes) -> None:
        """Create or replace the file, atomically."""
        ...


@runtime_checkable
class EditOperations(Protocol):
    """For ``edit``."""

    async def access(self, path: str) -> None:
        """Return if the file can be read and written."""
        ...

    async def read_file(self, path: str) -> bytes:
        """Return the whole content; an ``OSError`` with ``EFBIG`` is a file too large to edit."""
        ...

    async def write_file(self, path: str, content: bytes) -> None:
        """Replace the file, atomically."""
        ...


@runtime_checkable
class CommandOperations(Protocol):
    """For ``bash`` and the commands of the user (``!``)."""

    async def exec(
        self,
        command: str,
        cwd: str,
        *,
        on_data: Callable[[bytes], None],
        signal: AbortSignal,
        timeout: float | None,  # noqa: ASYNC109 - ends a command, not a coroutine
        env: Mapping[str, str],
    ) -> int | None:
        """Run the command and return its exit code, 128+n after signal n, None if it is not known.

        Args:
            command: For the shell.
            cwd: Where it runs.
            on_data: Called with standard output and standard error; may be called from any thread.
            signal: Ends the command, and everything it started.
            timeout: Seconds until they are ended; None for no limit.
            env: The whole environment.

        Raises:
            TimeoutError: The timeout ended it.
            Aborted: The signal ended it.
        """
        ...


@runtime_checkable
class GrepOperations(Protocol):
    """For ``grep``."""

    async def is_directory(self, path: str) -> bool:
        """Whether it is a directory; ``FileNotFoundError`` when it does not exist."""
        ...

    def search(self, arguments: Sequence[str], cwd: str, signal: AbortSignal) -> AsyncGenerator[bytes, None]:
        """Run ripgrep with the arguments and yield its standard output in pieces; closing ends the search.

        The arguments ask for ripgrep's JSON lines and end with the path to search.

        Raises:
            PiError: It ended with a code other than 0 and 1; the message is ripgrep's.
        """
        ...


@runtime_checkable
class FindOperations(Protocol):
    """For ``find``."""

    async def exists(self, path: str) -> bool:
        """Whether the path exists."""
        ...

    async def glob(self, pattern: str, path: str, limit: int, signal: AbortSignal) -> Sequence[str]:
        """Return at most ``limit`` paths relative to ``path``, POSIX separators, directories ending with ``/``.

        Raises:
            NotADirectoryError: The path is not a directory.
        """
        ...


@runtime_checkable
class LsOperations(Protocol):
    """For ``ls``."""

    async def is_directory(self, path: str) -> bool:
        """Whether it is a directory; ``FileNotFoundError`` when it does not exist."""
        ...

    async def entries(self, path: str) -> Sequence[tuple[str, bool]]:
        """Return the name of each entry that can be examined, and whether it is a directory or a link to one."""
        ...


@runtime_checkable
class FileOperations(ReadOperations, WriteOperations, GrepOperations, FindOperations, LsOperations, Protocol):
    """For all tools on files: ``read``, ``write``, ``edit``, ``grep``, ``find`` and ``ls``.

    ``read`` and ``edit`` share ``access``: it returns if the file can be read; if it cannot be written,
    ``write_file`` raises.
    """


SomeFileOperations: TypeAlias = (
    ReadOperations | WriteOperations | EditOperations | GrepOperations | FindOperations | LsOperations | FileOperations
)
"""The operations of one tool, or of all."""
