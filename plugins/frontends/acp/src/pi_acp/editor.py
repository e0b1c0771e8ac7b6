"""Files and terminals of the editor: tools read its unsaved text, and their edits appear in its windows."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pi_acp.peer import RpcError
from pi_core import save_file
from pi_hookspecs import Aborted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from pi_acp.client import Client
    from pi_hookspecs import AbortSignal

__all__ = ["EditorFiles", "EditorTerminals", "is_for_editor"]

_LARGEST = 1024 * 1024
"""Maximum size in bytes of a file that is requested from an editor."""

_POLL = 0.2
"""Seconds between two polls of a terminal's output."""

_OUTPUT = 1024 * 1024
"""Bytes of a terminal's output that the editor keeps."""


def is_for_editor(path: Path, folders: Sequence[Path]) -> bool:
    """Return whether an editor can provide a file as text: in one of the folders, not large, not binary."""
    try:
        real = path.resolve()
        if not any(real.is_relative_to(folder.resolve()) for folder in folders):
            return False
        if not path.exists():
            return True
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return False
        content = path.read_bytes()
        content.decode()
    except (OSError, ValueError):
        return False
    return b"\0" not in content


class EditorFiles:
    """Implements ``FileOperations`` for ``read``, ``edit`` and ``write`` of a file that the editor may have open.

    If the editor fails, the file on disk is used. ``grep``, ``find`` and ``ls`` are not redirected.

    Args:
        client: The editor.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def access(self, path: str) -> None:
        """Return if the file can be read."""
        if not os.access(path, os.R_OK):
            await asyncio.to_thread(os.stat, path)  # raises if it is not there
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    async def unsaved(self, path: str) -> str | None:
        """Return the possibly unsaved text in the editor; None if it does not have the file."""
        try:
            content = (await self._client.request("fs/read_text_file", path=path)).get("content")
        except RpcError:
            return None
        return content if isinstance(content, str) else None

    async def read_file(self, path: str) -> bytes:
        """Return the text in the editor, or else in the file."""
        text = await self.unsaved(path)
        if text is not None:
            return text.encode(errors="surrogatepass")
        return await asyncio.to_thread(Path(path).read_bytes)

    async def mkdir(self, path: str) -> None:
        """Make the directory and its parents."""
        await asyncio.to_thread(Path(path).mkdir, parents=True, exist_ok=True)

    async def write_file(self, path: str, content: bytes) -> None:
        """Replace the text in the editor, which saves it."""
        try:
            await self._client.request("fs/write_text_file", path=path, content=content.decode())
        except (RpcError, UnicodeDecodeError):
            await asyncio.to_thread(save_file, path, content)

    async def is_directory(self, path: str) -> bool:
        """Refuse: not redirected."""
        _refuse(path)

    def search(self, arguments: Sequence[str], cwd: str, signal: AbortSignal) -> AsyncGenerator[bytes, None]:
        """Refuse: not redirected."""
        _refuse(cwd)

    async def exists(self, path: str) -> bool:
        """Refuse: not redirected."""
        _refuse(path)

    async def glob(self, pattern: str, path: str, limit: int, signal: AbortSignal) -> Sequence[str]:
        """Refuse: not redirected."""
        _refuse(path)

    async def entries(self, path: str) -> Sequence[tuple[str, bool]]:
        """Refuse: not redirected."""
        _refuse(path)


def _refuse(path: str) -> NoReturn:
    raise OSError(errno.ENOTSUP, "An editor cannot search or list folders", path)


class EditorTerminals:
    """Implements ``CommandOperations``: commands run in terminals of the editor.

    Args:
        client: The editor.
        display: Called with the id of each new terminal.
    """

    def __init__(self, client: Client, display: Callable[[str], object]) -> None:
        self._client = client
        self._display = display

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
        """Run the command and return its exit code.

        Raises:
            TimeoutError: The timeout ended it.
            Aborted: The signal ended it.
            OSError: The editor could not start it.
        """
        signal.raise_if_aborted()
        try:
            made = await self._client.request(
                "terminal/create",
                command=shutil.which("bash") or "/bin/sh",
                args=["-c", command],
                env=[{"name": name, "value": value} for name, value in env.items() if os.environ.get(name) != value],
                cwd=cwd,
                outputByteLimit=_OUTPUT,
            )
        except RpcError as error:
            raise OSError(errno.EIO, f"The editor could not start a terminal: {error}") from error
        terminal = {"terminalId": str(made.get("terminalId"))}
        self._display(terminal["terminalId"])
        ended = asyncio.create_task(self._client.request("terminal/wait_for_exit", **terminal))
        aborted = asyncio.create_task(signal.wait())
        try:
            return await self._until_ended(terminal, ended, aborted, on_data, timeout)
        except RpcError as error:
            raise OSError(errno.EIO, f"The terminal of the editor failed: {error}") from error
        finally:
            ended.cancel()
            aborted.cancel()
            self._client.post("terminal/release", **terminal)

    async def _until_ended(
        self,
        terminal: dict[str, Any],
        ended: asyncio.Task[dict[str, Any]],
        aborted: asyncio.Task[str],
        on_data: Callable[[bytes], None],
        seconds: float | None,
    ) -> int | None:
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        written = ""
        while True:
            await asyncio.wait([ended, aborted], timeout=_POLL, return_when=asyncio.FIRST_COMPLETED)
            output = str((await self._client.request("terminal/output", **terminal)).get("output", ""))
            if output.startswith(written):
                on_data(output[len(written) :].encode(errors="replace"))
            else:  # its beginning was dropped
                on_data(output.encode(errors="replace"))
            written = output
            if ended.done():
                code = ended.result().get("exitCode")
                return code if isinstance(code, int) else None
            if aborted.done():
                await self._client.request("terminal/kill", **terminal)
                raise Aborted(aborted.result())
            if end is not None and loop.time() > end:
                await self._client.request("terminal/kill", **terminal)
                raise TimeoutError
