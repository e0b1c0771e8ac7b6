"""CPU per delta, from the socket to the subscriber: ``python bench/transport.py [--events 20000] [--rounds 7]``.

A server in a process of its own sends a burst of server-sent events, one HTTP chunk each, as model servers do. Every
row reads the same burst; the figure is this process's CPU time per event, the best and the median of the rounds, the
rows taking turns. The bar is 30 us for the last row.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_provider_kit import Http

BAR = 30.0

SERVER = """
import socketserver, sys

class Burst(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            lines = []
            while (line := self.rfile.readline()) not in (b"\\r\\n", b""):
                lines.append(line)
            if not lines:
                return
            length = next((int(l.split(b":")[1]) for l in lines if l.lower().startswith(b"content-length")), 0)
            self.rfile.read(length)
            self.wfile.write(ANSWER)

def chunk(data):
    return b"%x\\r\\n%s\\r\\n" % (len(data), data)

EVENT = b'data: {"id":"c1","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}]}\\n\\n'
ANSWER = (
    b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n"
    + b"".join(chunk(EVENT % number) for number in range(int(sys.argv[1])))
    + chunk(b"data: [DONE]\\n\\n")
    + b"0\\r\\n\\r\\n"
)
with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Burst) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
"""


async def plain_httpx(_: Http, url: str) -> int:
    """The peer: httpx as it comes, its lines and the standard library's JSON."""
    import httpx

    count = 0
    async with httpx.AsyncClient(trust_env=False) as client, client.stream("POST", url, json={}) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                count += len(json.loads(line[6:])["choices"])
    return count


async def kit_events(http: Http, url: str) -> int:
    """The kit alone: events as ``(name, data)``."""
    from pi_hookspecs import StreamOptions
    from pi_provider_kit import HttpRequest, stream_events

    count = 0
    async with aclosing(stream_events(http, HttpRequest(url=url, body={}), StreamOptions())) as events:
        async for _ in events:
            count += 1
    return count - 1


async def kit_to_subscriber(http: Http, url: str) -> int:
    """The whole way: a codec over the kit makes events of the contract, a subscriber reads each delta."""
    count = 0
    async for event in codec(http, url):
        if event.type == "text_delta":
            count += event.delta.startswith(" word")
    return count


async def codec(http: Http, url: str):  # noqa: ANN201 - a provider's stream in ten lines
    import orjson

    from pi_hookspecs import AbortController, Model, StreamOptions
    from pi_provider_kit import AnswerBuilder, HttpRequest, stream_events

    builder = AnswerBuilder(Model(id="m", name="M", api="a", provider="p"))
    options = StreamOptions(signal=AbortController().signal)
    yield builder.start()
    yield builder.text_start()
    async with aclosing(stream_events(http, HttpRequest(url=url, body={}), options)) as events:
        async for _, data in events:
            if data == b"[DONE]":
                break
            yield builder.text(0, orjson.loads(data)["choices"][0]["delta"]["content"])
    yield builder.text_end(0)
    yield builder.done()


ROWS: dict[str, Callable[[Http, str], Awaitable[int]]] = {
    "httpx, aiter_lines, json": plain_httpx,
    "kit, events": kit_events,
    "kit, codec, builder, subscriber": kit_to_subscriber,
}


async def measure(url: str, events: int, rounds: int) -> dict[str, list[float]]:
    from pi_provider_kit import Http

    http = Http()
    took: dict[str, list[float]] = {name: [] for name in ROWS}
    for number in range(rounds + 1):
        for name, row in ROWS.items():
            gc.collect()
            start = time.process_time()
            count = await row(http, url)
            cpu = time.process_time() - start
            assert count == events, (name, count)
            if number:  # the first round imports and connects
                took[name].append(cpu / events * 1e6)
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    command = [sys.executable, "-c", SERVER, str(options.events)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
            took = asyncio.run(measure(url, options.events, options.rounds))
        finally:
            server.terminate()
    print(f"{options.events} events in a burst, CPU us per event, {options.rounds} rounds")
    print(f"{'':34}{'best':>8}{'median':>8}")
    for name, figures in took.items():
        print(f"{name:34}{min(figures):8.1f}{statistics.median(figures):8.1f}")
    best = min(took["kit, codec, builder, subscriber"])
    print(f"bar {BAR:.0f} us: {'reached' if best <= BAR else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
