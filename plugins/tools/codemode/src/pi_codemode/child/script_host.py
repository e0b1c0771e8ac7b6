"""Runs one script: top-level await, tools as functions, and only what it prints and its last value come back.

It is the whole program of the script's process, so it imports Python's standard library alone. Lines of JSON go both
ways: pi sends ``run``, then ``result`` or ``error`` for each call; this program sends ``ready``, ``print``,
``call``, and at the end ``done`` or ``failed``.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import builtins
import inspect
import io
import json
import linecache
import os
import sys
import traceback
from types import CodeType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SCRIPT = "<script>"
"""The script's file name in tracebacks."""

MOST_PRINTED = 16 << 20
"""Bytes that a script may print: more is a mistake, and would only fill the disk."""

MOST_MEMORY = 4 << 30
"""Bytes of address space of the script's process."""

_PRINT_AT_ONCE = 1 << 16
_MOST_VALUE = 1 << 20
"""Characters of the last value that come back as data besides its text."""
_ONE_LINE = 100
"""Characters of data that are written in one line."""
_LINES_OF_TRACEBACK = 30


class ToolError(Exception):
    """A tool failed, or was refused; the text is what the tool says."""


class Image:
    """An image that a tool returned. The model sees it if it is the script's last value, alone or in a list.

    Attributes:
        data: Its bytes.
        mime_type: Such as ``image/png``.
    """

    def __init__(self, data: bytes, mime_type: str) -> None:
        self.data = data
        self.mime_type = mime_type

    def __repr__(self) -> str:
        return f"<Image {self.mime_type}, {len(self.data)} bytes>"


class Text(str):
    """The text of a tool's result; ``images`` are those that came with it."""

    __slots__ = ("images",)
    images: list[Image]


class Tool:
    """A tool as a function: ``await tool(name=value)``; positional arguments follow the order of its parameters."""

    def __init__(self, about: dict[str, Any], call: Callable[[str, str], Awaitable[Any]]) -> None:
        self._about = about
        self._call = call
        self.__name__ = about["python"]
        self.__doc__ = about["help"]

    def __call__(self, *values: Any, **arguments: Any) -> Awaitable[Any]:
        """Call the tool; raises ``TypeError`` for arguments that are not its own."""
        names = self._about["parameters"]
        if len(values) > len(names):
            raise TypeError(f"{self.__name__} takes at most {len(names)} arguments, but {len(values)} were given")
        for name, value in zip(names, values, strict=False):
            if name in arguments:
                raise TypeError(f"{self.__name__} was given {name!r} twice")
            arguments[name] = value
        try:
            encoded = json.dumps(arguments)
        except (TypeError, ValueError) as error:
            raise TypeError(f"arguments of {self.__name__} must be plain data: {error}") from None
        return self._call(self._about["name"], encoded)

    def __repr__(self) -> str:
        return f"<tool {self.__name__}; help({self.__name__}) says how to call it>"


class Channel:
    """The pipe to pi: calls, their answers, and what is printed."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._held = b""
        self._number = 0
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def send(self, **message: Any) -> None:
        """Send a message."""
        self._write(json.dumps(message))

    def _write(self, line: str) -> None:
        rest = memoryview(f"{line}\n".encode())
        while rest:
            rest = rest[os.write(self._writing, rest) :]

    def receive(self) -> list[dict[str, Any]]:
        """Return the next messages, at least one; none at the end."""
        while b"\n" not in self._held:
            chunk = os.read(self._reading, 1 << 16)
            if not chunk:
                return []
            self._held += chunk
        *lines, self._held = self._held.split(b"\n")
        return [json.loads(line) for line in lines]

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let answers of calls arrive from now on."""
        loop.add_reader(self._reading, self._on_readable, loop)

    async def call(self, name: str, arguments: str) -> Any:
        """Return what a tool returns.

        Args:
            name: The tool.
            arguments: A JSON object.

        Raises:
            ToolError: It failed, or was refused.
        """
        self._number += 1
        number = self._number
        answer = self._open[number] = asyncio.get_running_loop().create_future()
        self._write(f'{{"type": "call", "id": {number}, "tool": {json.dumps(name)}, "arguments": {arguments}}}')
        try:
            return _value(await answer)
        finally:
            self._open.pop(number, None)

    def _on_readable(self, loop: asyncio.AbstractEventLoop) -> None:
        messages = self.receive()
        if not messages:  # pi is gone
            loop.remove_reader(self._reading)
            os._exit(1)
        for message in messages:
            answer = self._open.get(message["id"])
            if answer is None or answer.done():
                continue
            if message["type"] == "error":
                answer.set_exception(ToolError(message["message"]))
            else:
                answer.set_result(message)


class Printed(io.TextIOBase):
    """Standard output and standard error of a script."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pieces: list[str] = []
        self._waiting = 0
        self._size = 0

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Take a piece.

        Raises:
            RuntimeError: It would be too much.
        """
        self._size += len(text)
        if self._size > MOST_PRINTED:
            self._size -= len(text)
            raise RuntimeError(f"the script prints more than {MOST_PRINTED >> 20} MB; print less, or return a summary")
        self._pieces.append(text)
        self._waiting += len(text)
        if self._waiting > _PRINT_AT_ONCE:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was written so far."""
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._waiting = 0
            self._channel.send(type="print", text=text)


def _value(message: dict[str, Any]) -> Any:
    """Return what a call returns: the structured content of a tool that describes it, else its text."""
    images = [Image(base64.b64decode(each["data"]), each["mimeType"]) for each in message.get("images", ())]
    if "structured" in message:
        return message["structured"]
    text = Text(message["text"])
    text.images = images
    return images[0] if len(images) == 1 and not text else text


def _compiled(code: str) -> tuple[CodeType, bool]:
    """Return the code and whether its last statement is an expression, whose value is kept as ``_``."""
    tree = ast.parse(code, SCRIPT)
    last = tree.body[-1] if tree.body else None
    has_value = isinstance(last, ast.Expr)
    if isinstance(last, ast.Expr):
        target = ast.copy_location(ast.Name("_", ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        ast.fix_missing_locations(tree)
    linecache.cache[SCRIPT] = (len(code), None, code.splitlines(keepends=True), SCRIPT)
    return compile(tree, SCRIPT, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), has_value


def _namespace(message: dict[str, Any], channel: Channel) -> dict[str, Any]:
    names: dict[str, Any] = {
        "__name__": "__main__",
        "__builtins__": builtins,
        "exit": sys.exit,
        "gather": asyncio.gather,
        "ToolError": ToolError,
    }
    tools = {}
    for about in message["tools"]:
        tools[about["name"]] = function = Tool(about, channel.call)
        *folders, last = about["python"].split(".")
        if not folders:
            names[last] = function
            continue
        place = names.setdefault(folders[0], SimpleNamespace())
        for folder in folders[1:]:
            if not hasattr(place, folder):
                setattr(place, folder, SimpleNamespace())
            place = getattr(place, folder)
        setattr(place, last, function)
    return {**names, "tools": tools, "help": _help, **message.get("values", {})}


def _help(thing: Any = None) -> None:
    """Print how to call a tool."""
    text = inspect.getdoc(thing) if thing is not None else "Call help(tool) with one of the tools, such as help(read)."
    sys.stdout.write(f"{text}\n")


async def _run(message: dict[str, Any], channel: Channel) -> Any:
    channel.listen(asyncio.get_running_loop())
    code, has_value = _compiled(message["code"])
    names = _namespace(message, channel)
    pending = eval(code, names)  # noqa: S307 - what this process is for
    if inspect.iscoroutine(pending):
        await pending
    value = names.get("_") if has_value else None
    return await value if inspect.isawaitable(value) else value


def _images(value: Any, depth: int = 3) -> list[Image]:
    """Return the images in a value: itself, those of a text, and those in lists and dictionaries."""
    if isinstance(value, Image):
        return [value]
    if isinstance(value, Text):
        return value.images
    if depth and isinstance(value, (list, tuple, dict)):
        inner = value.values() if isinstance(value, dict) else value
        return [image for each in inner for image in _images(each, depth - 1)]
    return []


def _done(value: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"type": "done", "text": None, "images": []}
    message["images"] = [
        {"data": base64.b64encode(each.data).decode(), "mimeType": each.mime_type} for each in _images(value)[:16]
    ]
    if value is None or isinstance(value, Image):
        return message
    if isinstance(value, str):
        message["text"] = message["value"] = _bounded(str(value))
        return message
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        message["text"] = _bounded(repr(value))
        return message
    _bounded(text)
    message["text"] = text if len(text) <= _ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) <= _MOST_VALUE:
        message["value"] = value
    return message


def _bounded(text: str) -> str:
    """Return a text that is short enough to be sent.

    Raises:
        RuntimeError: It is not.
    """
    if len(text) > MOST_PRINTED:
        raise RuntimeError(f"the value of the script is larger than {MOST_PRINTED >> 20} MB; return a part of it")
    return text


def _failed(error: BaseException) -> dict[str, Any]:
    """Return the traceback without the lines of this program and of asyncio."""
    seen: set[int] = set()
    whole = traceback.TracebackException.from_exception(error, compact=True)
    each: traceback.TracebackException | None = whole
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        kept = [frame for frame in each.stack if frame.filename == SCRIPT]
        each.stack = traceback.StackSummary.from_list(kept)
        each = each.__cause__ or each.__context__
    lines = "".join(whole.format()).rstrip().splitlines()
    if len(lines) > _LINES_OF_TRACEBACK:
        lines = [*lines[: _LINES_OF_TRACEBACK // 2], "...", *lines[-_LINES_OF_TRACEBACK // 2 :]]
    return {"type": "failed", "text": "\n".join(lines)}


def _limit_memory() -> None:
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (ImportError, ValueError, OSError):
        pass  # a system without such a limit


def main() -> None:
    """Run the script that pi sends, and end."""
    channel = Channel(os.dup(0), os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # what a C library prints is no message
    _limit_memory()
    sys.stdout = sys.stderr = printed = Printed(channel)
    channel.send(type="ready")
    messages = channel.receive()
    if not messages:
        return
    try:
        end = _done(asyncio.new_event_loop().run_until_complete(_run(messages[0], channel)))
    except SystemExit as error:
        code = error.code
        end = {"type": "done", "text": None, "images": []}
        if code not in (None, 0):
            end = {"type": "failed", "text": code if isinstance(code, str) else f"SystemExit: {code}"}
    except BaseException as error:  # noqa: BLE001 - whatever a script raises is its result
        end = _failed(error)
    try:
        printed.flush()
        channel.send(**end)
    finally:
        os._exit(0)  # neither tasks nor threads of the script keep it


if __name__ == "__main__":
    main()
