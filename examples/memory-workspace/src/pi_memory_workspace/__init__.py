"""Redirects all seven tools to files in memory; a workspace in a container or on another machine works alike."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from fnmatch import fnmatch
from pathlib import PurePosixPath

from pi_hookspecs import AbortSignal, PiContext, Service, hookimpl


class MemoryFiles:
    """The content of files by absolute path; folders are what their paths say."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    async def access(self, path: str) -> None:
        await self.read_file(path)

    async def read_file(self, path: str) -> bytes:
        if path not in self.contents:
            raise FileNotFoundError(2, "No such file in memory", path)  # the model reads what it would on a disk
        return self.contents[path]

    async def write_file(self, path: str, content: bytes) -> None:
        self.contents[path] = content

    async def mkdir(self, path: str) -> None:
        pass

    async def exists(self, path: str) -> bool:
        return path in self.contents or bool(self._below(path))

    async def is_directory(self, path: str) -> bool:
        if not await self.exists(path):
            raise FileNotFoundError(2, "No such file in memory", path)
        return path not in self.contents

    async def entries(self, path: str) -> Sequence[tuple[str, bool]]:
        return [*{(below.parts[0], len(below.parts) > 1) for below in self._below(path)}]

    async def glob(self, pattern: str, path: str, limit: int, signal: AbortSignal) -> Sequence[str]:
        return [str(below) for below in self._below(path) if fnmatch(str(below), pattern)][:limit]

    async def search(self, arguments: Sequence[str], cwd: str, signal: AbortSignal) -> AsyncGenerator[bytes, None]:
        pattern, path = arguments[-3], arguments[-1]  # ripgrep's: ... --regexp PATTERN -- PATH
        for file in sorted(each for each in self.contents if each == path or each.startswith(f"{path}/")):
            for number, line in enumerate(self.contents[file].decode().splitlines(keepends=True), 1):
                if re.search(pattern, line):
                    data = {"path": {"text": file}, "lines": {"text": line}, "line_number": number}
                    yield json.dumps({"type": "match", "data": data}).encode() + b"\n"

    def _below(self, folder: str) -> list[PurePosixPath]:
        return [PurePosixPath(each).relative_to(folder) for each in self.contents if each.startswith(f"{folder}/")]


class NoCommands:
    """Returns the command that it would run; a real backend would run it on another machine."""

    async def exec(self, command: str, cwd: str, *, on_data: Callable[[bytes], None], **_: object) -> int | None:
        on_data(f"memory has no shell for: {command}\n".encode())
        return 127


class MemoryWorkspace:
    """The service: pi asks it at every call of a tool."""

    _files, _commands = MemoryFiles(), NoCommands()

    def files(self, ctx: PiContext) -> MemoryFiles:
        return self._files

    def commands(self, ctx: PiContext) -> NoCommands:
        return self._commands


@hookimpl
def register_services() -> list[Service]:
    return [MemoryWorkspace()]
