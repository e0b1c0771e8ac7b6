"""A running program: its messages in lines, the requests to it, and how it ends.

Whatever a program does wrong ends it with a reason: the requests that wait for it fail with that reason.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import count
from typing import TYPE_CHECKING, Any

import orjson
from attrs import define, field

from pi_client.framing import LineSplitter
from pi_core import dumps
from pi_hookspecs import PiError
from pi_hookspecs.values import ReprMixin
from pi_isolated.awake import Awake
from pi_isolated.events import EventWriter, UnsentEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from pi_process_kit import Child

__all__ = [
    "CANCEL_GRACE",
    "MAX_LINE",
    "Output",
    "Process",
    "ProgramError",
    "ProgramFailure",
    "Request",
    "message_line",
    "message_of",
]

MAX_LINE = 16 << 20
"""Bytes of a line, in both directions."""

CANCEL_GRACE = 2.0
"""Seconds in which a program has to answer a request that was cancelled; one that does not is ended."""

_END_SECONDS = 2.0
"""Seconds in which a program that has closed its standard output ends, or else counts as one that goes on."""

_MOST_CALLS = 64
"""Calls of a program that may be open at the same time."""

_AT_ONCE = (b'{"type":"answer"', b'{"type": "answer"', b'{"type":"surface"', b'{"type": "surface"')
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
"""The escapes of JSON; the group is half of a surrogate pair without the other half."""

_CHUNK = 1 << 18
_PIPE = 1 << 19
"""Bytes that the pipe to a program holds."""

_FULL = 1 << 16
"""Bytes that may wait for a program before the next request waits until it reads them."""

_STDERR_LINE = 1 << 14
_PLAIN = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_LAST = "FATAL ERROR"
"""How Node.js begins to say why it ends; addresses follow."""


class ProgramError(PiError):
    """A program answered with an error; the message is the program's own."""

    arose_elsewhere = True


class ProgramFailure(PiError):
    """A program did not answer: it ended, or it broke the protocol; the message says how, as the end of a sentence."""


@define(eq=False, repr=False)
class Request(ReprMixin):
    """A request to a program.

    Attributes:
        ctx: The name of the context that it was given.
        plugin: The plugin that asks, in a process that several share.
        answer: The answer.
        on_update: Called with each update.
        context: The variables of the task that asks: calls of the program are made on behalf of it.
        calls: Calls that the program has made for it and that still run.
    """

    ctx: str
    plugin: Any
    answer: asyncio.Future[Any]
    on_update: Callable[[Any], None] | None = None
    context: Context = field(factory=copy_context)
    calls: set[asyncio.Task[None]] = field(factory=set)


class Output(asyncio.Protocol):
    """What a program writes to its standard output; it is kept until ``connect``."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._take: Callable[[bytes], object] = self._held.append
        self._end: Callable[[], object] = bool
        self._has_ended = False

    def connect(self, take: Callable[[bytes], object], end: Callable[[], object]) -> None:
        """Call ``take`` with each piece, and ``end`` after the last one."""
        self._take, self._end = take, end
        for each in self._held:
            take(each)
        if self._has_ended:
            end()

    def data_received(self, data: bytes) -> None:
        """Pass on a piece."""
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass on the end."""
        del exc
        self._has_ended = True
        self._end()


class Process:
    """A started program.

    Args:
        child: The program with its pipes.
        output: Receives its standard output.
        serve: Returns the result of a call; it may raise.
        log: Called with lines of its standard error, one or several.
        take: Functions for messages that need no reply, by their type.
        keeps_calls: Whether calls of a request go on when it is answered; else they end with it.

    Attributes:
        failure: Why it is not asked any more; None while it runs.
        was_stopped: Whether pi ended it.
        culprit: The plugin, as named in its request, that ran or was loaded when a shared process ended; None for none.
    """

    def __init__(
        self,
        child: Child,
        output: Output,
        serve: Callable[[Mapping[str, Any]], Coroutine[Any, Any, Any]],
        log: Callable[[str], None],
        take: Mapping[str, Callable[[Mapping[str, Any]], object]] | None = None,
        *,
        keeps_calls: bool = False,
    ) -> None:
        self._child = child
        self._serve = serve
        self._log = log
        self._others = take or {}
        self._keeps_calls = keeps_calls
        self._loop = asyncio.get_running_loop()
        self._numbers = count(1)
        self._requests: dict[int, Request] = {}
        self.culprit: Any = None
        self._cancelled: dict[int, tuple[asyncio.TimerHandle, Request]] = {}
        self._calls: set[asyncio.Task[None]] = set()
        self._last_words = ""
        self.failure: ProgramFailure | None = None
        self.was_stopped = False
        self._events = EventWriter()
        self._awake = Awake(self._loop)
        self._first: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._loading: Any = None
        self._latest = self._loop.time()
        self._splitter = LineSplitter(MAX_LINE)
        self._lines: list[bytes | None] = []
        self._arrived = asyncio.Event()
        self._has_ended = False
        output.connect(self._receive, self._end)
        _widen(child)
        self._tasks = [self._loop.create_task(self._read()), self._loop.create_task(self._read_stderr())]

    async def ready(self, seconds: float) -> dict[str, Any]:
        """Return the program's first message.

        Args:
            seconds: How long to wait for it, from the start, or from the latest message that says what it loads.

        Raises:
            ProgramFailure: It sends something else, or nothing in time.
        """
        while not self._first.done() and (left := self._latest + seconds - self._loop.time()) > 0:
            await asyncio.wait({self._first}, timeout=left)
        if not self._first.done():
            self.fail(f"it was not ready within {seconds:g} s")
        return await self._first

    async def ask(self, message: Mapping[str, Any], on_update: Callable[[Any], None] | None = None) -> Any:
        """Send a message with a new id, and return the answer.

        A task that is cancelled cancels the request: the program is to answer then.

        Raises:
            ProgramFailure: It ended, or broke the protocol.
            PiError: It answered with an error, or the message is too long.
        """
        if self.failure is not None:
            raise self.failure
        number = next(self._numbers)
        line = self._line({**message, "id": number})
        request = self._requests[number] = Request(
            str(message.get("ctx")), message.get("plugin"), self._loop.create_future(), on_update
        )
        try:
            await self._write(line)
            if message["type"] == "hook" and message["hook"] != "message_update":
                self._awake.expect(request.answer)
            return await request.answer
        except asyncio.CancelledError:
            self._give_up(number, request)
            for call in request.calls:
                call.cancel()
            raise
        except ProgramFailure:
            if self.was_stopped and self._keeps_calls and request.calls:
                await asyncio.wait(request.calls)
            raise
        finally:
            self._requests.pop(number, None)
            if not self._keeps_calls:
                for call in request.calls:
                    call.cancel()

    def wake(self) -> None:
        """Wake the program for a request, which is prepared meanwhile; a message may begin with a space."""
        if self.failure is None and not self._requests:
            with suppress(OSError, RuntimeError):
                self._child.stdin.write(b" ")

    def open_request(self, ctx: str) -> Request | None:
        """Return the latest request with a context that the program works on; None if there is none."""
        return next((each for each in reversed(self._requests.values()) if each.ctx == ctx), None)

    def cancel_all(self, ctx: str) -> None:
        """Tell the program that what it was asked with a context is not needed any more; it still answers."""
        for number, request in self._requests.items():
            if request.ctx == ctx:
                self.send({"type": "cancel", "id": number})

    def on_end(self, call: Callable[[], object]) -> None:
        """Call a function once nothing is read from the program any more."""
        self._tasks[0].add_done_callback(lambda _: call())

    def fail(self, why: str) -> None:
        """End the program, and let everything fail that waits for it."""
        if self.failure is None:
            last = f"; it wrote last: {self._last_words!r}" if self._last_words else ""
            self.failure = ProgramFailure(f"{why}{last}")
            # What blocks a process is what did not answer first; what ends it is what it was asked last.
            asked = [*(each for _, each in self._cancelled.values()), *reversed(self._requests.values())]
            self.culprit = self._loading if not self._first.done() else asked[0].plugin if asked else None
        self._child.kill()
        for future in (self._first, *(each.answer for each in self._requests.values())):
            if not future.done():
                future.set_exception(self.failure)
                future.exception()  # retrieved: the first one may have no one who waits
        for timer, _ in self._cancelled.values():
            timer.cancel()
        self._cancelled.clear()
        if not (self.was_stopped and self._keeps_calls):  # what has ended the session must not end halfway
            for call in self._calls:
                call.cancel()

    def abandon(self, why: str) -> None:
        """End the program as ``fail`` does, and let go of its pipes."""
        self.fail(why)
        self._child.close()
        for task in self._tasks:
            task.cancel()

    async def stop(self) -> None:
        """End the program: send it a request to stop, close its standard input, and kill what is left after a while."""
        self.was_stopped = True
        self.send({"type": "shutdown"})
        try:
            if self.failure is None:
                await self._child.stop()
        finally:
            self.abandon("it was stopped")
            await asyncio.wait(self._tasks)

    # Writing

    def _line(self, message: Mapping[str, Any]) -> bytes:
        """Return a request as a line, which is sent.

        Raises:
            PiError: It is too long.
        """
        event = message.get("event")
        if not isinstance(event, UnsentEvent):
            return message_line(message)
        with self._events.sending(event) as written:
            return message_line({**message, "event": written})

    async def _write(self, line: bytes) -> None:
        try:
            self._child.stdin.write(line)
            if self._child.stdin.transport.get_write_buffer_size() > _FULL:
                await self._child.stdin.drain()
        except (OSError, RuntimeError):
            pass  # it ended: the reader reports how

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message that has no answer.

        Raises:
            PiError: It is too long.
        """
        with suppress(OSError, RuntimeError):
            self._child.stdin.write(message_line(message))

    def _give_up(self, number: int, request: Request) -> None:
        """Cancel a request, and end the program if it does not answer: what hangs would make every other one wait."""
        was_answered = request.answer.done() and not request.answer.cancelled()  # just before the cancellation
        if self.failure is None and not was_answered:
            self.send({"type": "cancel", "id": number})
            why = f"it did not answer within {CANCEL_GRACE:g} s after a request was cancelled"
            self._cancelled[number] = (self._loop.call_later(CANCEL_GRACE, self.fail, why), request)

    # Reading

    def _receive(self, chunk: bytes) -> None:
        """Take answers and drawings at once, since someone waits for them; all else is taken in a task, in order."""
        if self.failure is not None:
            return
        for line in self._splitter.feed(chunk):
            if self._lines or not self._take_at_once(line):
                self._lines.append(line)
        if self._lines or self._splitter.is_too_long:
            self._arrived.set()

    def _end(self) -> None:
        self._has_ended = True
        self._arrived.set()

    async def _read(self) -> None:
        while not self._has_ended or self._lines:
            await self._arrived.wait()
            self._arrived.clear()
            lines, self._lines = self._lines, []
            for line in lines:
                self._take(line)
            if self._splitter.is_too_long:
                self.fail(f"it wrote a line of more than {MAX_LINE >> 20} MB")
            if self.failure is not None:
                return
        await self._report_end()

    async def _report_end(self) -> None:
        with suppress(TimeoutError, PiError):
            async with asyncio.timeout(_END_SECONDS):
                await asyncio.wait({self._tasks[1]})  # its last words
                code = await self._child.wait()
                self.fail(f"it ended (exit code {code})")
        self.fail("it closed its standard output")

    async def _read_stderr(self) -> None:
        assert self._child.stderr is not None  # noqa: S101 - it is started with this pipe
        splitter = LineSplitter(_STDERR_LINE)
        with suppress(OSError):
            while chunk := await self._child.stderr.read(_CHUNK):
                self._take_stderr(splitter.feed(chunk))
                await asyncio.sleep(0)
        self._take_stderr(splitter.end())

    def _take_stderr(self, lines: list[bytes | None]) -> None:
        texts = ["(a line that is too long)" if line is None else line.decode("utf-8", "replace") for line in lines]
        for text in texts:
            if text.strip() and not self._last_words.startswith(_LAST):
                self._last_words = text.strip()[:200]
        if texts:
            self._log("\n".join(texts))  # together: taking out secrets costs as much for a line as for many

    def _take_at_once(self, line: bytes | None) -> bool:
        """Take a line if it is an answer or a drawing, written as most programs write it; return whether it is."""
        if line is None or not line.startswith(_AT_ONCE) or not self._first.done() or self.failure is not None:
            return False
        try:
            message = message_of(line)
        except ValueError:
            return False
        if message["type"] == "answer":
            self._answer(message, line)
        elif message["type"] == "surface" and "surface" in self._others:
            self._others["surface"](message)
        else:  # it has two types
            return False
        return True

    def _take(self, line: bytes | None) -> None:
        """Handle a line; one that is not a message ends the program."""
        if self.failure is not None or line is None:
            return
        try:
            message = message_of(line)
        except ValueError:
            self.fail(f"it wrote a line that is not JSON: {_preview(line)}")
            return
        kind = message.get("type") if isinstance(message, dict) else None
        if not self._first.done():
            if kind == "ready":
                self._first.set_result(message)
            elif kind == "loading":
                self._loading, self._latest = message.get("plugin"), self._loop.time()
            else:
                self.fail(f"its first message must be of type 'ready', and is {_preview(line)}")
        elif kind == "answer":
            self._answer(message, line)
        elif kind == "update":
            self._update(message)
        elif kind == "call":
            self._call(message, line)
        elif (take := self._others.get(str(kind))) is not None:
            take(message)
        else:
            self.fail(f"it wrote a message of an unknown type: {_preview(line)}")

    def _answer(self, message: Mapping[str, Any], line: bytes) -> None:
        number = message.get("id")
        cancelled = self._cancelled.pop(number, None) if isinstance(number, int) else None
        if cancelled is not None:
            cancelled[0].cancel()
            return
        request = self._requests.get(number) if isinstance(number, int) else None
        if request is None or request.answer.done():
            self.fail(f"it answered a request that was not made: {_preview(line)}")
            return
        error = message.get("error")
        text = error.get("message") if isinstance(error, dict) else error
        if message.keys() - {"type", "id", "answer", "error"} or not ("answer" in message) ^ ("error" in message):
            request.answer.set_exception(PiError(f"an answer has either 'answer' or 'error': {_preview(line)}"))
        elif "answer" in message:
            request.answer.set_result(message["answer"])
        elif isinstance(text, str):
            request.answer.set_exception(ProgramError(text[:2000]))
        else:
            request.answer.set_exception(PiError(f"an error must be a string or have a 'message': {_preview(line)}"))

    def _update(self, message: Mapping[str, Any]) -> None:
        number = message.get("id")
        request = self._requests.get(number) if isinstance(number, int) else None
        if request is None or request.on_update is None:
            return  # a late one
        try:
            request.on_update(message.get("update"))
        except PiError as error:
            if not request.answer.done():
                request.answer.set_exception(error)

    def _call(self, message: Mapping[str, Any], line: bytes) -> None:
        if not isinstance(message.get("id"), str | int):
            self.fail(f"it called something without an id: {_preview(line)}")
            return
        if len(self._calls) >= _MOST_CALLS:
            self.fail(f"it has more than {_MOST_CALLS} calls open")
            return
        request = self.open_request(str(message.get("ctx")))
        context = request.context.copy() if request is not None else copy_context()
        task = self._loop.create_task(self._reply(message), context=context)
        calls = {id(each): each for each in (self._calls, request.calls if request is not None else self._calls)}
        for each in calls.values():
            each.add(task)
            task.add_done_callback(each.discard)

    async def _reply(self, message: Mapping[str, Any]) -> None:
        reply = {"type": "result", "id": message["id"]}
        try:
            reply["value"] = await self._serve(message)
            line = message_line(reply)
        except Exception as error:  # noqa: BLE001 - what fails is the program's to handle
            line = message_line({"type": "result", "id": message["id"], "error": str(error) or type(error).__name__})
        await self._write(line)


def _widen(child: Child) -> None:
    """Let the pipe to a program hold a long message, which both would else pass on in pieces, in turn; Linux can."""
    with suppress(ImportError, AttributeError, OSError, ValueError):  # the last one if it has ended
        import fcntl

        fcntl.fcntl(child.stdin.transport.get_extra_info("pipe"), fcntl.F_SETPIPE_SZ, _PIPE)


def message_line(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line.

    Raises:
        PiError: It is too long.
    """
    line = _json(message) + b"\n"
    if len(line) > MAX_LINE:
        raise PiError(
            f"a message of {len(line) >> 20} MB is too long for a plugin's process: {MAX_LINE >> 20} MB at most"
        )
    return line


def message_of(line: bytes) -> Any:
    """Return a line as JSON data; half of a surrogate pair, the rest of a text that was cut, becomes U+FFFD.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        return orjson.loads(line)
    except ValueError:
        return orjson.loads(_ESCAPES.sub(lambda found: b"\\ufffd" if found[1] else found[0], line))


def _json(message: Mapping[str, Any]) -> bytes:
    """Return a message as JSON; nearly all are JSON data already, which need not be looked through."""
    try:
        return orjson.dumps(message, option=_PLAIN)
    except TypeError:  # something else is in it, or what only the standard library writes
        return dumps(message)


def _preview(line: bytes) -> str:
    return repr(line[:120].decode("utf-8", "replace"))
