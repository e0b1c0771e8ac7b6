"""A fake workspace to which a test redirects pi's tools: files in memory, and commands that are only recorded."""

from __future__ import annotations

import errno
import json
import os
import re
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from pi_hookspecs import AbortSignal, PiContext

__all__ = ["FakeWorkspace"]


class FakeWorkspace:
    """Implements ``ToolOperations``, ``FileOperations`` and ``CommandOperations``.

    Attributes:
        contents: The contents of files by absolute path. A directory exists if the path of a file contains it.
        commands_run: The command and the directory of each call.
        answer: The output and exit code of every command.
    """

    def __init__(self, contents: Mapping[str, bytes] | None = None) -> None:
        self.contents = dict(contents or {})
        self.commands_run: list[tuple[str, str]] = []
        self.answer: tuple[str, int] = ("", 0)

    def files(self, ctx: PiContext) -> Self | None:
        """Return this object."""
        return self

    def commands(self, ctx: PiContext) -> Self | None:
        """Return this object."""
        return self

    async def access(self, path: str) -> None:
        """Check that a file exists."""
        await self.read_file(path)

    async def read_file(self, path: str) -> bytes:
        """Return the content of a file."""
        if path not in self.contents:
            number = errno.EISDIR if self._below(path) else errno.ENOENT
            raise OSError(number, os.strerror(number), path)
        return self.contents[path]

    async def write_file(self, path: str, content: bytes) -> None:
        """Store the content."""
        self.contents[path] = content

    async def mkdir(self, path: str) -> None:
        """Do nothing: a directory exists as soon as it contains a file."""

    async def exists(self, path: str) -> bool:
        """Return whether a file or directory exists."""
        return path in self.contents or bool(self._below(path))

    async def is_directory(self, path: str) -> bool:
        """Return whether a path is a directory."""
        if not await self.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return path not in self.contents

    async def entries(self, path: str) -> Sequence[tuple[str, bool]]:
        """Return the names in a directory, and which of them are directories."""
        return sorted({(below.parts[0], len(below.parts) > 1) for below in self._below(path)})

    async def glob(self, pattern: str, path: str, limit: int, signal: AbortSignal) -> Sequence[str]:
        """Return the files below a directory that match a pattern of ``fnmatch``."""
        return [str(below) for below in self._below(path) if fnmatch(str(below), pattern)][:limit]

    async def search(self, arguments: Sequence[str], cwd: str, signal: AbortSignal) -> AsyncGenerator[bytes, None]:
        """Yield the lines that match the regular expression, in ripgrep's JSON Lines format."""
        pattern, path = arguments[-3], arguments[-1]  # ... --regexp PATTERN -- PATH
        for file in [path] if path in self.contents else [f"{path}/{below}" for below in self._below(path)]:
            for number, line in enumerate(self.contents[file].decode().splitlines(keepends=True), 1):
                if re.search(pattern, line):
                    data = {"path": {"text": file}, "lines": {"text": line}, "line_number": number}
                    yield json.dumps({"type": "match", "data": data}).encode() + b"\n"

    async def exec(
        self,
        command: str,
        cwd: str,
        *,
        on_data: Callable[[bytes], None],
        signal: AbortSignal,
        timeout: float | None,  # noqa: ASYNC109 - the protocol's
        env: Mapping[str, str],
    ) -> int | None:
        """Record the command; print the output of ``answer`` and return its exit code."""
        self.commands_run.append((command, cwd))
        output, code = self.answer
        on_data(output.encode())
        return code

    def _below(self, folder: str) -> list[PurePosixPath]:
        found = [each for each in self.contents if each.startswith(f"{folder.rstrip('/')}/")]
        return sorted(PurePosixPath(each).relative_to(folder) for each in found)
