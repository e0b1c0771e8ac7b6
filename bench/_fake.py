"""A model server in a process of its own, which answers with as many deltas as the prompt asks for.

Run as a script it prints its URL and adds one JSON line to the file named as its argument for each request: ``at``, the
nanoseconds of the monotonic clock, which all processes share, when the request was complete; ``path``; ``refused``,
what the real server would not accept. It speaks Anthropic's Messages, Bedrock's ConverseStream and OpenAI's Completions
with the answers of ``pi_testing.fake_servers``, one HTTP chunk per event, but an answer leaves in one write: the client
sees a burst, unless the prompt asks for an answer that takes a time.
"""

from __future__ import annotations

import asyncio
import functools
import json
import random
import re
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pi_testing.fake_servers import Request, anthropic, bedrock, google, openai

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_testing.fake_servers import Answer, FakeServer

DELTA = "sixteen letters "
"""Text of each delta; the whole argument of a call is ``{"path": "x", "content": "<deltas>"}``."""

ASKED = re.compile(r"Answer with (\d+) deltas of (text|varied|argument)(?: in (\d+) seconds)?")
TURNS = re.compile(r"Read (\S+) (\d+) times( at once)?")
CALLED = re.compile(r"Call (\w+) with (\{.*\}), then answer")


def prompt(deltas: int, kind: str = "text", seconds: int = 0) -> str:
    """Return what to say to get deltas, at once or evenly in a time.

    Args:
        deltas: How many.
        kind: Of ``text`` that repeats itself, of ``varied`` text in paragraphs, or of a tool's ``argument``.
        seconds: The time.
    """
    return f"Answer with {deltas} deltas of {kind}" + (f" in {seconds} seconds" if seconds else "")


def turns_prompt(file: str, times: int) -> str:
    """Return what to say to get so many answers that each call the tool ``read``, and a short text after them."""
    return f"Read {file} {times} times"


def calls_prompt(file: str, calls: int) -> str:
    """Return what to say to get one answer that calls the tool ``read`` so many times, and a short text after it."""
    return f"Read {file} {calls} times at once"


def call_prompt(tool: str, **arguments: Any) -> str:
    """Return what to say to get one call of a tool, and an answer of 400 characters after it."""
    return f"Call {tool} with {json.dumps(arguments)}, then answer"


class Fake:
    """A running server.

    Attributes:
        url: Without a path; the base URL of Messages. That of Completions ends in ``/v1``.
    """

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log
        self._seen = 0

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests since the last look.

        Raises:
            RuntimeError: One of them was refused; the figures would mean nothing.
        """
        lines = self._log.read_text(encoding="utf-8").splitlines()
        new = [json.loads(line) for line in lines[self._seen :]]
        self._seen = len(lines)
        refused = [each for each in new if each["refused"]]
        if refused:
            raise RuntimeError(f"The fake server refused {refused}")
        return new


@contextmanager
def fake_server(folder: Path) -> Iterator[Fake]:
    """Run a server for as long as the block; its log is a file in the folder."""
    log = folder / "requests.jsonl"
    log.touch()
    with subprocess.Popen([sys.executable, __file__, str(log)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield Fake(server.stdout.readline().strip(), log)
        finally:
            server.terminate()


# The process of the server

SERVERS: dict[str, Callable[[], FakeServer]] = {
    "/v1/chat": openai.FakeOpenAI,
    "/v1/responses": openai.FakeOpenAI,
    "/v1beta/": google.FakeGoogle,
    "/model/": bedrock.FakeBedrock,
    "/": anthropic.FakeAnthropic,
}
"""By the beginning of a path, who answers for it."""


@functools.cache
def answer(path: str, deltas: int, kind: str) -> bytes:
    """Return all bytes of an answer."""
    texts = [*varied(deltas)] if kind == "varied" else [DELTA] * deltas
    kind = "text" if kind == "varied" else kind
    argument = ['{"path": "x", "content": "', *texts, '"}']
    made: Answer
    if path == "/v1/messages":
        block = anthropic.text(*texts) if kind == "text" else anthropic.tool_use("call_1", "write", deltas=argument)
        made = anthropic.message(block)
    elif path.startswith("/model/"):
        call = bedrock.tool_use("call_1", "write", deltas=argument)
        made = bedrock.message(bedrock.text(*texts) if kind == "text" else call)
    elif path.startswith("/v1beta/"):
        made = google.answer(google.text(*texts) if kind == "text" else google.call("write", path="x"))
    elif path == "/v1/responses":
        made = openai.response(
            openai.text(*texts) if kind == "text" else openai.call("call_1", "write", deltas=argument)
        )
    else:
        made = openai.completion(
            openai.text(*texts) if kind == "text" else openai.call("call_1", "write", deltas=argument)
        )
    return encoded(made)


def varied(deltas: int) -> Iterator[str]:
    """Yield deltas of sixteen letters with words of all lengths, the first one as usual; the same each time."""
    yield DELTA
    letters = random.Random(1)  # noqa: S311 - no secret
    for number in range(1, deltas):
        text = "".join(letters.choices("etaoinshrdlu", k=15))
        place = letters.randrange(2, 13)
        end = "\n\n" if number % 40 == 0 else " "
        yield f"{text[:place]} {text[place + 1 :]}{end}"


def read_calls(file: str, numbers: range) -> bytes:
    """Return all bytes of an answer of Anthropic's that calls ``read``, once for each number."""
    argument = json.dumps({"path": file})
    calls = [anthropic.tool_use(f"call_{number}", "read", deltas=[argument]) for number in numbers]
    return encoded(anthropic.message(*calls))


def call_or_answer(messages: list[dict[str, Any]]) -> bytes | None:
    """Return all bytes of what ``call_prompt`` asks Anthropic for; None if it is not what is asked."""
    if (called := CALLED.fullmatch(_text(messages[-1]))) is not None:
        block = anthropic.tool_use(f"call_{len(messages)}", called[1], deltas=[called[2]])
        return encoded(anthropic.message(block))
    if len(messages) > 2 and CALLED.fullmatch(_text(messages[-3])) is not None:  # prompt, call, result
        return answer("/v1/messages", 25, "text")
    return None


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if isinstance(block, dict))


def encoded(made: Answer) -> bytes:
    """Return an answer as it goes over the wire, one HTTP chunk for each of its pieces."""
    fields = "".join(f"{name}: {value}\r\n" for name, value in made.headers.items())
    head = f"HTTP/1.1 {made.status} Fine\r\n{fields}transfer-encoding: chunked\r\n\r\n".encode()
    pieces = [piece for piece in made.pieces if isinstance(piece, bytes)]
    return b"".join([head, *(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n"])


def answer_to(request: Request) -> tuple[bytes, str]:
    """Return the answer, and the reason for which the real server would have refused the request."""
    server = next(make() for beginning, make in SERVERS.items() if request.path.startswith(beginning))
    refusal = server.refusal(request)
    if refusal is not None:
        return encoded(refusal), refusal.body.decode()
    if request.path == "/v1/messages" and (called := call_or_answer(request.json["messages"])) is not None:
        return called, ""
    messages = messages_of(request)
    last = json.dumps(messages[-1])
    turns = TURNS.search(last) or TURNS.search(json.dumps(messages[0]))
    if turns is not None:
        results = json.dumps(messages).count('"tool_result"')
        wanted = results < int(turns[2]) if not turns[3] else TURNS.search(last) is not None
        calls = read_calls(turns[1], range(results, results + (int(turns[2]) if turns[3] else 1))) if wanted else None
        return calls or answer(request.path, 1, "text"), ""
    asked = ASKED.search(last)  # none in what follows a call
    return answer(request.path, int(asked[1]) if asked else 1, asked[2] if asked else "text"), ""


def messages_of(request: Request) -> list[Any]:
    """Return the messages of a request, under the name that its API gives them."""
    found: list[Any] = next(request.json[name] for name in ("messages", "input", "contents") if name in request.json)
    return found


def seconds_of(request: Request) -> float:
    """Return how long the answer is to take."""
    asked = ASKED.search(json.dumps(request.json["messages"][-1])) if "messages" in request.json else None
    return float(asked[3] or 0) if asked else 0.0


async def serve(log: TextIO, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
            fields = (line.partition(":") for line in lines)
            headers = {name.lower(): value.strip() for name, _, value in fields}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            at = time.monotonic_ns()
            method, target, _ = first.split(" ")
            path, _, query = target.partition("?")
            request = Request(method, path, query, headers, body)
            data, refused = answer_to(request)
            log.write(json.dumps({"at": at, "path": path, "refused": refused}) + "\n")
            log.flush()
            await send(writer, data, seconds_of(request))
    writer.close()


async def send(writer: asyncio.StreamWriter, data: bytes, seconds: float) -> None:
    """Write an answer, in steps of a hundredth of a second if it is to take a time."""
    steps = max(round(seconds * 100), 1)
    size = -(-len(data) // steps)
    begun = time.monotonic()
    for step in range(steps):
        writer.write(data[step * size : (step + 1) * size])
        await writer.drain()
        await asyncio.sleep(max(begun + seconds * (step + 1) / steps - time.monotonic(), 0))


async def listen(log: TextIO) -> None:
    server = await asyncio.start_server(functools.partial(serve, log), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    with Path(sys.argv[1]).open("a", encoding="utf-8") as log, suppress(KeyboardInterrupt):
        asyncio.run(listen(log))


if __name__ == "__main__":
    main()
