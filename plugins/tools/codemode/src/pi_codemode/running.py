"""One run of a script: its calls are made by pi, one task each, and its end becomes the tool's result."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_core import exception_message
from pi_hookspecs import ImageContent, PiError, TextContent, ToolResult
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_codemode.functions import Function
    from pi_codemode.output import Output
    from pi_codemode.script_process import ScriptProcess
    from pi_hookspecs import ToolContext

__all__ = ["Call", "Run"]

AT_ONCE = 16
"""Calls of a script that run at the same time; further ones wait."""

MOST_CALLS = 1000
"""Calls of one script: a loop that is refused again and again must end."""

MOST_REFUSED = 50
"""Calls beyond that, each of which is refused, before the script is ended: it may ignore all errors."""

_REPORT_AFTER = 0.1
"""Seconds between a change and its display."""
_SUMMARY = 80
"""Characters of the arguments of a call in its row."""


@define(eq=False, repr=False)
class Call(ReprMixin):
    """A call that the script made.

    Attributes:
        tool: The tool's name.
        summary: Its arguments in one line.
        state: ``running``, ``done`` or ``failed``.
        seconds: What it took.
    """

    tool: str
    summary: str
    state: str = "running"
    seconds: float = 0.0

    def to_plain(self) -> dict[str, Any]:
        """Return it as it is stored in the details of the result."""
        return {"tool": self.tool, "summary": self.summary, "state": self.state, "seconds": round(self.seconds, 3)}


@define(eq=False, repr=False)
class Run(ReprMixin):
    """A script while it runs.

    Attributes:
        ctx: Of the tool call.
        process: Runs the script.
        functions: What it can call, by the names of tools.
        output: Takes what it prints.
        calls: The calls so far.
    """

    ctx: ToolContext
    process: ScriptProcess
    functions: Mapping[str, Function]
    output: Output
    calls: list[Call] = field(factory=list)
    _free: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(AT_ONCE))
    _tasks: set[asyncio.Task[None]] = field(factory=set)
    _reporting: asyncio.TimerHandle | None = None
    _refused: int = 0

    async def run(self, code: str, values: Mapping[str, Any]) -> ToolResult:
        """Run a script to its end.

        Args:
            code: The script.
            values: Further names that it can read.

        Raises:
            PiError: Its process ended in another way.
        """
        tools = [function.to_wire() for function in self.functions.values()]
        await self.process.send({"type": "run", "code": code, "tools": tools, "values": dict(values)})
        try:
            async for message in self.process.messages():
                kind = message.get("type")
                if kind == "call":
                    self._start(message)
                elif kind == "print":
                    self.output.write(str(message.get("text", "")))
                    self._report()
                elif kind == "done":
                    return self._done(message)
                elif kind == "failed":
                    return self.result(str(message.get("text", "")), is_error=True)
            if self._refused > MOST_REFUSED:
                raise PiError(
                    f"The script was ended: it made {MOST_CALLS} calls, and went on although more are refused."
                )
            raise PiError(f"The script did not finish: {await self.process.why_it_ended()}.")
        finally:
            if self._reporting is not None:
                self._reporting.cancel()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def result(
        self, last: str, *, is_error: bool = False, value: Any = None, images: tuple[ImageContent, ...] = ()
    ) -> ToolResult:
        """Return the tool's result: what was printed, and then the last words."""
        text, details = self.output.finish(last)
        details |= self._details()
        if value is not None:
            details["value"] = value
        said = text or ("" if images else "(no output)")
        content = (*((TextContent(said),) if said else ()), *images)
        return ToolResult(content=content, details=details, is_error=is_error)

    def _done(self, message: Mapping[str, Any]) -> ToolResult:
        images = tuple(ImageContent(data=each["data"], mime_type=each["mimeType"]) for each in message["images"])
        return self.result(message.get("text") or "", value=message.get("value"), images=images)

    def _start(self, message: Mapping[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: Mapping[str, Any]) -> None:
        number, name, arguments = message.get("id"), str(message.get("tool")), message.get("arguments")
        try:
            answer = await self._call(name, arguments if isinstance(arguments, dict) else {})
        except PiError as error:
            answer = {"type": "error", "message": exception_message(error)}
        await self.process.send({**answer, "id": number})

    async def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name not in self.functions:
            raise PiError(f"There is no tool {name!r} for scripts.")
        if len(self.calls) >= MOST_CALLS:
            self._refused += 1
            if self._refused > MOST_REFUSED:
                self.process.kill()
            raise PiError(f"A script can make {MOST_CALLS} calls, and this would be one more.")
        call = Call(name, _summary(arguments))
        self.calls.append(call)
        async with self._free:
            began = time.monotonic()
            self._report()
            try:
                result = await self.ctx.execute_tool(name, arguments, on_update=_unseen)
                call.state = "failed" if result.is_error else "done"
            except BaseException:
                call.state = "failed"
                raise
            finally:
                call.seconds = time.monotonic() - began
                self._report()
        text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
        if result.is_error:
            raise PiError(text or f"The tool {name!r} failed.")
        return self._returned(name, result, text)

    def _returned(self, name: str, result: ToolResult, text: str) -> dict[str, Any]:
        images = [each for each in result.content if isinstance(each, ImageContent)]
        answer: dict[str, Any] = {
            "type": "result",
            "text": text,
            "images": [{"data": each.data, "mimeType": each.mime_type} for each in images],
        }
        if isinstance(result.details, dict):
            if "structured" in result.details:  # of an MCP server
                answer["structured"] = result.details["structured"]
            elif self.functions[name].tool.output_schema is not None:
                answer["structured"] = result.details
        return answer

    def _report(self) -> None:
        """Report soon what has happened so far: a loop of calls must not be slowed down by its display."""
        if self._reporting is None:
            self._reporting = asyncio.get_running_loop().call_later(_REPORT_AFTER, self._report_now)

    def _report_now(self) -> None:
        self._reporting = None
        text = self.output.tail()
        self.ctx.update(ToolResult(content=(TextContent(text),) if text else (), details=self._details()))

    def _details(self) -> dict[str, Any]:
        return {"calls": [each.to_plain() for each in self.calls]}


def _unseen(_partial: ToolResult) -> None:
    """Take an update of a call: the script's own view has a row for it."""


def _summary(arguments: Mapping[str, Any]) -> str:
    text = " ".join(f"{name}={value!r}" for name, value in arguments.items())
    text = " ".join(text.split())
    return text if len(text) <= _SUMMARY else f"{text[: _SUMMARY - 1]}…"
