"""The requests of pi, one task each, with their time limits."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PromptReference

from pi_mcp.sidecar.checked import OUTPUT_SCHEMA, STRUCTURED, uncovered
from pi_mcp.sidecar.connection import Connection, Lost, reason_of
from pi_mcp.sidecar.content import as_result, cut, printable, resource_text
from pi_mcp.sidecar.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_mcp.sidecar.pipe import Pipe

__all__ = ["Requests"]

PAGES = 100
"""Pages of one list that are read."""
_PROGRESS_EVERY = 0.1
_FOREVER = 86_400.0
_READ_TIMEOUT = 60.0
_CAUSE_WAIT = 3.0
"""How long a failed request waits for the reason why its connection ended; longer than for the end of a server."""


class Requests:
    """Answers pi's requests.

    Args:
        pipe: Leads to pi.
    """

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._connections: dict[str, Connection] = {}
        self._running: dict[int, anyio.CancelScope] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[int, asyncio.Future[Any]] = {}

    def take(self, message: dict[str, Any]) -> None:
        """Begin to answer a line of pi."""
        if "answer" in message:
            waiting = self._asked.pop(message["answer"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message.get("value"))
        elif "cancel" in message:
            if scope := self._running.get(message["cancel"]):
                scope.cancel()
        else:
            task = asyncio.create_task(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(each.close() for each in self._connections.values()), return_exceptions=True)

    async def _answer(self, message: dict[str, Any]) -> None:
        number = message["id"]
        scope = self._running[number] = anyio.CancelScope()
        answer: dict[str, Any] | None = None
        try:
            with scope:
                scope.deadline = anyio.current_time() + message.get("timeout", _READ_TIMEOUT)
                answer = {"ok": await getattr(self, f"do_{message['do']}")(message, scope)}
        except (Lost, KeyError) as error:
            text = str(error) if isinstance(error, Lost) else "it is not connected"
            answer = {"error": {"message": text, "lost": True, "tail": self._tail(message)}}
        except BaseException as error:  # noqa: BLE001 - whatever the SDK raises is the answer
            answer = {"error": await self._failure(error, message)}
        finally:
            del self._running[number]
            self._pipe.send({"id": number, **(answer or {"error": _gave_up(message, scope)})})
            await self._pipe.drain()

    async def _failure(self, error: BaseException, message: dict[str, Any]) -> dict[str, Any]:
        connection = self._connections.get(message.get("server", ""))
        lost = connection is not None and connection.trouble.ended.is_set()
        if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
            lost = True
            if connection is not None:  # the SDK reports the end before its cause
                with suppress(TimeoutError), anyio.CancelScope(shield=True):
                    await asyncio.wait_for(connection.trouble.ended.wait(), _CAUSE_WAIT)
        text = (
            connection.trouble.reason
            if lost and connection is not None and connection.trouble.reason
            else reason_of(error)
        )
        again = lost and connection is not None and connection.trouble.is_untouched
        return {"message": text, "lost": lost, "again": again, "tail": self._tail(message) if lost else ""}

    def _tail(self, message: dict[str, Any]) -> str:
        connection = self._connections.get(message.get("server", ""))
        return connection.tail if connection is not None else ""

    async def _ask(self, question: dict[str, Any]) -> Any:
        number = max(self._asked, default=0) + 1
        waiting = self._asked[number] = asyncio.get_running_loop().create_future()
        self._pipe.send({"ask": number, **question})
        return await waiting

    # What pi asks for, by its name

    async def do_open(self, message: dict[str, Any], scope: anyio.CancelScope) -> dict[str, Any]:
        key = message["server"]
        old = self._connections.pop(key, None)
        if old is not None:
            await old.close()
        connection = self._connections[key] = Connection(message, self._ask, self._pipe.send)
        try:
            client = await connection.client()
            about = connection.about(client)
            has_tools = "tools" in about["capabilities"]
            about |= connection.used_tools(await self._all(client.list_tools, "tools") if has_tools else [])
            about["prompts"] = await self._prompts(client, about)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await connection.close()
            if scope.cancel_called:
                raise
            if connection.trouble.reason not in ("", "it was closed"):
                raise Lost(connection.trouble.reason) from error
            raise Lost(reason_of(error)) from error
        return about

    async def _prompts(self, client: Any, about: dict[str, Any]) -> list[dict[str, Any]]:
        if "prompts" not in about["capabilities"]:
            return []
        try:
            return await self._all(client.list_prompts, "prompts")
        except MCPError:  # declared, and not implemented: its tools are of use all the same
            return []

    async def do_close(self, message: dict[str, Any], _scope: anyio.CancelScope) -> None:
        connection = self._connections.pop(message["server"], None)
        if connection is not None:
            await connection.close()

    async def do_logout(self, message: dict[str, Any], _scope: anyio.CancelScope) -> bool:
        await self.do_close(message, _scope)
        return TokenFile(Path(message["authFile"]), message["name"], message["url"]).forget()

    async def do_tools(self, message: dict[str, Any], _scope: anyio.CancelScope) -> dict[str, Any]:
        connection = self._connections[message["server"]]
        client = await connection.client()
        return connection.used_tools(await self._all(client.list_tools, "tools"))

    async def do_call(self, request: dict[str, Any], scope: anyio.CancelScope) -> dict[str, Any]:
        connection = self._connections[request["server"]]
        client = await connection.client()
        timeout = request["timeout"]
        last = 0.0

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal last
            scope.deadline = anyio.current_time() + timeout
            now = time.monotonic()
            if now - last >= _PROGRESS_EVERY:
                last = now
                steps = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
                self._pipe.send(
                    {"progress": request["id"], "text": printable(f"{steps} {message or ''}".strip())[:500]}
                )

        result = await client.call_tool(
            request["tool"],
            request["arguments"],
            read_timeout_seconds=_FOREVER,
            progress_callback=on_progress,
            meta=request.get("meta") or None,
        )
        await connection.settle(client)
        found = uncovered(
            result.model_dump(by_alias=True, mode="json", exclude_none=True), STRUCTURED, "structuredContent"
        )
        if any(each.get("type") == "image" for each in found.get("content") or ()):  # decoding takes long
            return await asyncio.to_thread(as_result, found, resize=request.get("resize", True))
        return as_result(found)

    async def do_resources(self, message: dict[str, Any], _scope: anyio.CancelScope) -> list[dict[str, Any]]:
        client = await self._connections[message["server"]].client()
        return await self._all(client.list_resources, "resources")

    async def do_templates(self, message: dict[str, Any], _scope: anyio.CancelScope) -> list[dict[str, Any]]:
        client = await self._connections[message["server"]].client()
        return await self._all(client.list_resource_templates, "resource_templates")

    async def do_read(self, message: dict[str, Any], _scope: anyio.CancelScope) -> dict[str, Any]:
        client = await self._connections[message["server"]].client()
        result = await client.read_resource(message["uri"])
        parts = result.model_dump(by_alias=True, mode="json", exclude_none=True)["contents"]
        text, path = cut(printable("\n".join(map(resource_text, parts))))
        return {"text": text, "path": path}

    async def do_prompt(self, message: dict[str, Any], _scope: anyio.CancelScope) -> dict[str, Any]:
        client = await self._connections[message["server"]].client()
        result = await client.get_prompt(message["prompt"], message["arguments"])
        messages = result.model_dump(by_alias=True, mode="json", exclude_none=True)["messages"]
        whole = as_result({"content": [each["content"] for each in messages]})
        return {"text": "\n".join(each["text"] for each in whole["content"] if each["type"] == "text")}

    async def do_complete(self, message: dict[str, Any], _scope: anyio.CancelScope) -> list[str]:
        client = await self._connections[message["server"]].client()
        prompt = PromptReference(type="ref/prompt", name=message["prompt"])
        argument = {"name": message["argument"], "value": message["value"]}
        result = await client.complete(prompt, argument, context_arguments=message["given"] or None)
        return [each for each in result.completion.values if each.isprintable()]

    async def _all(self, method: Callable[..., Any], field: str) -> list[dict[str, Any]]:
        """Return all pages of a list; one that repeats a cursor ends it."""
        found: list[dict[str, Any]] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(PAGES):
            page = await method(cursor=cursor)
            for each in getattr(page, field):
                about = each.model_dump(by_alias=True, mode="json", exclude_none=True)
                found.append(uncovered(about, OUTPUT_SCHEMA, "outputSchema"))
            cursor = page.next_cursor
            if cursor is None or cursor in seen:
                break
            seen.add(cursor)
        return found


def _gave_up(message: dict[str, Any], scope: anyio.CancelScope) -> dict[str, Any]:
    """Return the error of a request that was cancelled, by pi or by its deadline."""
    if anyio.current_time() < scope.deadline:
        return {"message": "it was cancelled"}
    return {"message": f"it did not answer within {message.get('timeout', _READ_TIMEOUT):g} s"}
