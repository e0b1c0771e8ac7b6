"""A language server: started once, given the texts of one file at a time, and asked or waited for its diagnostics.

Only the file that was checked last is open: of all others the server reads what is on the disk. It stays open because
servers publish an empty list some time after a file was closed, which would pass for the answer to its next text.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_diagnostics.delta import Finding
from pi_diagnostics.rpc import CheckFailure, Connection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_process_kit import Child

__all__ = ["LanguageServer"]

SETTLE = 0.2
"""Seconds without further news after which published diagnostics count as complete: servers publish in parts."""
SETTLE_UNVERSIONED = 0.5
"""The same where the news may also be about the text before."""
STOP_GRACE = 1.0
"""Seconds for a server to prepare its end."""
_ERROR = 1
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "diagnostic": {"dynamicRegistration": False, "relatedDocumentSupport": False},
        "publishDiagnostics": {"versionSupport": True},
        "synchronization": {"didSave": True},
    },
    "workspace": {"configuration": True, "workspaceFolders": True},
}


class LanguageServer:
    """A language server; call ``start`` first, then ``check`` as often as needed.

    Args:
        name: The program's name, the ``source`` of its findings.
        child: The program.
        folder: The project.
    """

    def __init__(self, name: str, child: Child, folder: Path) -> None:
        self._name = name
        self._child = child
        self._folder = folder
        self._pulls = self._saves = False
        self._version = 0
        self._uri: str | None = None
        """The document that is open."""
        self._settle = SETTLE
        self._published: list[Any] = []
        self._news = asyncio.Event()
        self._checking = asyncio.Lock()
        self._connection = Connection(child, self._receive, self._answer)
        self._connection.failed.add_done_callback(lambda _: self._news.set())

    async def start(self) -> None:
        """Introduce pi to the server.

        Raises:
            CheckFailure: It failed.
        """
        folder = self._folder.as_uri()
        answer = await self._connection.request(
            "initialize",
            {
                "processId": None,  # in a sandbox the server could not find the process, and would end
                "clientInfo": {"name": "pi"},
                "rootUri": folder,
                "workspaceFolders": [{"uri": folder, "name": self._folder.name}],
                "capabilities": _CAPABILITIES,
            },
        )
        capabilities = _object(_object(answer).get("capabilities"))
        self._pulls = _has(capabilities, "diagnosticProvider")
        self._saves = _has(_object(capabilities.get("textDocumentSync")), "save")
        self._connection.notify("initialized", {})

    async def check(self, path: str, language: str, texts: Sequence[str], *, saved: bool) -> list[list[Finding]]:
        """Return the errors of each of the texts.

        Args:
            path: The file, absolute.
            language: The protocol's identifier of its language.
            texts: What it contains, one after the other.
            saved: Whether the last text is that of the file on the disk.

        Raises:
            CheckFailure: The server failed.
        """
        async with self._checking:
            self._connection.allow()
            uri = Path(path).as_uri()
            found = []
            for at, text in enumerate(texts):
                self._give(uri, language, text)
                if saved and self._saves and at == len(texts) - 1:
                    self._connection.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
                items = await self._pulled(uri) if self._pulls else await self._pushed()
                found.append([each for item in items if (each := self._finding(item)) is not None])
            return found

    async def stop(self) -> None:
        """End the server, politely at first."""
        with suppress(CheckFailure, TimeoutError):
            async with asyncio.timeout(STOP_GRACE):
                await self._connection.request("shutdown", None)
                self._connection.notify("exit", None)
        await self._connection.close()
        await self._child.stop(grace=STOP_GRACE)

    async def kill(self) -> None:
        """End the server at once."""
        self._child.kill()
        await self._connection.close()
        self._child.close()

    def _give(self, uri: str, language: str, text: str) -> None:
        self._version += 1
        self._published, self._settle = [], SETTLE
        self._news.clear()
        document: dict[str, Any] = {"uri": uri, "version": self._version}
        if self._uri == uri:
            self._connection.notify(
                "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
            )
            return
        if self._uri is not None:
            self._connection.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})
        self._uri = uri
        opened = {**document, "languageId": language, "text": text}
        self._connection.notify("textDocument/didOpen", {"textDocument": opened})

    async def _pulled(self, uri: str) -> list[Any]:
        report = await self._connection.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        items = _object(report).get("items")
        return items if isinstance(items, list) else []

    async def _pushed(self) -> list[Any]:
        """Wait until the server has published diagnostics, and has no more of them to publish."""
        await self._news.wait()
        if self._connection.failed.done():
            raise CheckFailure(self._connection.failed.result())
        with suppress(TimeoutError):
            while True:
                self._news.clear()
                async with asyncio.timeout(self._settle):
                    await self._news.wait()
        return self._published

    def _receive(self, method: str, params: Any) -> None:
        if method != "textDocument/publishDiagnostics":
            return
        about = _object(params)
        version = about.get("version")
        if about.get("uri") != self._uri or (isinstance(version, int) and version < self._version):
            return
        if version is None:
            self._settle = SETTLE_UNVERSIONED
        items = about.get("diagnostics")
        self._published = items if isinstance(items, list) else []
        self._news.set()

    def _answer(self, method: str, params: Any) -> Any:
        if method == "workspace/configuration":
            items = _object(params).get("items")
            return [None] * (len(items) if isinstance(items, list) else 0)
        if method == "workspace/workspaceFolders":
            return [{"uri": self._folder.as_uri(), "name": self._folder.name}]
        if method in ("client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"):
            return None
        raise LookupError(method)

    def _finding(self, item: Any) -> Finding | None:
        """Return an error; None for warnings, hints and what makes no sense."""
        item = _object(item)
        start = _object(_object(item.get("range")).get("start"))
        line, column, message = start.get("line"), start.get("character"), item.get("message")
        if item.get("severity", _ERROR) != _ERROR or not isinstance(message, str):
            return None
        if not (isinstance(line, int) and isinstance(column, int)):
            return None
        code = item.get("code")
        return Finding(line + 1, column + 1, message, "" if code is None else str(code), self._name)


def _has(capabilities: dict[str, Any], name: str) -> bool:
    """Whether a server has a capability; an empty object means that it has."""
    return capabilities.get(name) not in (None, False)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
