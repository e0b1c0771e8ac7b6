"""Runs ``pi`` itself as a child, and reads its events."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs.programs import SpawnRequest
from pi_process_kit.child import start_child

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

    from pi_process_kit.child import Child

__all__ = ["PiAnswer", "PiEnd", "pi_events", "run_pi"]

_TAIL = 2000  # characters of standard error that are kept
_PIECE = 1 << 16
_KILLED = 128 + 9  # by SIGKILL, which is what a system sends that has no memory left


@frozen
class PiEnd:
    """How a ``pi`` process ended.

    Attributes:
        code: The exit code, 128+n after signal n.
        stderr: The end of its standard error.
        timed_out: Whether it was ended because of its deadline.
    """

    code: int
    stderr: str
    timed_out: bool

    @property
    def error(self) -> str | None:
        """The reason why it failed; None if the exit code is 0."""
        if not self.code:
            return None
        what = "pi was killed, perhaps because memory ran out" if self.code == _KILLED else f"pi ended with {self.code}"
        return f"{what}: {self.stderr}" if self.stderr else what


@frozen(kw_only=True)
class PiAnswer:
    """An answer of the model, read from an event of ``pi --mode json``.

    Attributes:
        text: The text, without thinking.
        model: The model as ``PROVIDER/ID``.
        calls: The tool calls, each with ``name`` and ``arguments``.
        tokens: The total number of tokens that the request used.
        dollars: The cost of the request in US dollars.
        stop_reason: Why the answer ended; ``toolUse`` means that the model is asked again with the calls' results.
        error: Why the request failed or the answer was cut; None if the answer is complete.
    """

    text: str
    model: str
    calls: tuple[dict[str, Any], ...]
    tokens: int
    dollars: float
    stop_reason: str
    error: str | None

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> PiAnswer | None:
        """Return the answer contained in a ``message_end`` event; None for other events and other messages."""
        message = event.get("message", {})
        if event["type"] != "message_end" or message.get("role") != "assistant":
            return None
        blocks, usage = message.get("content", []), message.get("usage", {})
        stop_reason = message.get("stopReason", "")
        return cls(
            text="\n".join(each["text"] for each in blocks if each.get("type") == "text"),
            model=f"{message.get('provider')}/{message.get('model')}",
            calls=tuple(
                {"name": each["name"], "arguments": each.get("arguments", {})}
                for each in blocks
                if each.get("type") == "toolCall"
            ),
            tokens=usage.get("totalTokens", 0),
            dollars=usage.get("cost", {}).get("total", 0.0),
            stop_reason=stop_reason,
            error=_error(stop_reason, message),
        )


def _error(stop_reason: str, message: Mapping[str, Any]) -> str | None:
    if stop_reason == "length":
        return "the answer was cut at the model's output token limit"
    failed = stop_reason in ("error", "aborted")
    return (message.get("errorMessage") or "the prompt was aborted") if failed else None


async def run_pi(
    arguments: Sequence[str],
    read: Callable[[asyncio.StreamReader], Awaitable[object]],
    *,
    cwd: str | os.PathLike[str],
    purpose: str,
    prompt: str = "",
    environ: Mapping[str, str] | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - the program's deadline
) -> PiEnd:
    """Run the ``pi`` of this interpreter. If this call ends early, pi is ended before it sends another request.

    Args:
        arguments: The command line arguments.
        read: Reads the standard output to its end; an exception ends pi.
        cwd: The working directory.
        purpose: The purpose; see ``SpawnRequest``.
        prompt: The standard input.
        environ: The environment variables. None uses the environment of this process.
        timeout: Seconds after which pi is ended.

    Raises:
        ProcessFailure: pi cannot be started.
    """
    argv = (sys.executable, "-P", "-m", "pi_cli", *arguments)
    request = SpawnRequest(
        argv=argv, cwd=os.fspath(cwd), env=dict(os.environ if environ is None else environ), purpose=purpose
    )
    async with await start_child(request, timeout=timeout) as pi:
        pi.stdin.write(prompt.encode())
        pi.stdin.close()
        assert pi.stderr is not None  # noqa: S101 - it is a pipe
        with _ended_at_once(pi):
            _, stderr = await asyncio.gather(read(pi.stdout), pi.stderr.read())
            code = await pi.wait()
    return PiEnd(code, stderr.decode(errors="replace")[-_TAIL:].strip(), pi.timed_out)


async def pi_events(stream: asyncio.StreamReader, *types: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of the given types from the output of ``pi --mode json``.

    Lines may have any length; for events of other types, only the beginning of the line is kept in memory.
    """
    wanted = tuple(f'{{"type":"{each}"'.encode() for each in types)
    needed = max(map(len, wanted))  # bytes that identify the type of a line
    line = bytearray()
    while piece := await stream.read(_PIECE):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            line += end
            if line.startswith(wanted):
                yield json.loads(line)
            line.clear()
        if len(line) < needed or line.startswith(wanted):
            line += rest


@contextmanager
def _ended_at_once(pi: Child) -> Iterator[None]:
    """Ask pi to end, because its answer is no longer needed: it must not send another request."""
    try:
        yield
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(pi.pid, signal.SIGTERM)
        raise
