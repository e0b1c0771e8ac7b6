"""Bedrock compared with boto3: ``uv run python bench/bedrock.py``.

First, wall milliseconds from the start of the process to the moment at which a fake server has the whole request: of
``pi -p`` with AWS's keys or a bearer token in the environment or keys in a profile, and of a script that does nothing
but boto3's ``converse_stream``, started the same way and taking turns. The bar is 1.5 of the script's time. Then, CPU
per delta of a burst from a loopback socket: the provider with its codec and events, compared with a loop over boto3's
own ``EventStream`` that reads each delta. The bar is half of that. The decoders alone follow, ours and botocore's, on
the same bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _fake import DELTA, Fake, fake_server, prompt
from _measure import cpu_per_step, show, show_table, verdict
from _peer import compile_and_say

from pi_testing.fake_servers.bedrock import message, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PEERS = ("boto3's converse_stream, keys", "boto3's converse_stream, profile")
FIRST_REQUEST_BAR = 1.5
DELTA_BAR = 0.5
SIZES = ((1_000, 20), (20_000, 10))
MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

SCRIPT = f"""
import os, boto3
client = boto3.client("bedrock-runtime", endpoint_url=os.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"])
content = [{{"text": os.environ["BENCH_PROMPT"]}}]
answer = client.converse_stream(modelId={MODEL!r}, messages=[{{"role": "user", "content": content}}])
for event in answer["stream"]:
    if "contentBlockDelta" in event:
        print(event["contentBlockDelta"]["delta"]["text"], end="")
"""

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAFAKE000000000000", "AWS_SECRET_ACCESS_KEY": "bench"}
PROFILE = {"AWS_PROFILE": "bench"}
TOKEN = {"AWS_BEARER_TOKEN_BEDROCK": "bench-token"}


# The first request


def environment(folder: Path, url: str) -> dict[str, str]:
    """Return all that a program sees: an empty home, a region, and the server instead of Amazon's."""
    agent, aws = folder / "agent", folder / ".aws"
    agent.mkdir()
    aws.mkdir()
    keys = "".join(f"{name.lower()} = {value}\n" for name, value in KEYS.items())
    (aws / "credentials").write_text(f"[bench]\n{keys}", encoding="utf-8")
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "PI_CODING_AGENT_DIR": str(agent),
        "PI_OFFLINE": "1",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
        "BENCH_PROMPT": prompt(1),
    }


def first_request(fake: Fake, command: list[str], environ: Mapping[str, str], folder: Path) -> float:
    """Return the milliseconds from the start of the process to the request."""
    started = time.monotonic_ns()
    done = subprocess.run(
        command, env=dict(environ), cwd=folder, stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    requests = fake.requests()
    assert len(requests) == 1, requests
    return float(requests[0]["at"] - started) / 1e6


def show_first_request(fake: Fake, folder: Path, rounds: int) -> None:
    environ = environment(folder, fake.url)
    pi = [str(Path(sys.executable).with_name("pi")), "--no-session", "--model", f"amazon-bedrock/{MODEL}", "-p"]
    script = [sys.executable, "-c", SCRIPT]
    rows = [
        (PEERS[0], script, {**environ, **KEYS}),  # it takes a token only over https
        (PEERS[1], script, {**environ, **PROFILE}),
        ("pi -p, keys", [*pi, prompt(1)], {**environ, **KEYS}),
        ("pi -p, profile", [*pi, prompt(1)], {**environ, **PROFILE}),
        ("pi -p, token", [*pi, prompt(1)], {**environ, **TOKEN}),
    ]
    took: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    for number in range(rounds + 1):
        for name, command, seen in rows:
            milliseconds = first_request(fake, command, seen, folder)
            if number:  # the first round warms the caches of the disk
                took[name].append(milliseconds)
    lines = []
    for name, times in took.items():
        cells = [name, f"{min(times):.0f}", f"{statistics.median(times):.0f}"]
        if name in PEERS:
            lines.append([*cells, "", "", ""])
            continue
        ratio = min(times) / min(took[PEERS["profile" in name]])
        lines.append([*cells, f"{ratio:.3f}", f"{FIRST_REQUEST_BAR}", verdict(ratio, FIRST_REQUEST_BAR)])
    heads = ["", "best ms", "median", "ratio", "bar", ""]
    show_table(f"Start of the process to the first request, best and median of {rounds}", heads, lines)


# A delta


async def ours(url: str, deltas: int) -> None:
    from pi_hookspecs import Context, Model, StreamOptions, UserMessage
    from pi_provider_bedrock import register_providers

    (provider,) = register_providers()
    model = Model(id=MODEL, name="Fake", api=provider.api, provider="amazon-bedrock", base_url=url)
    context = Context(messages=(UserMessage(content=prompt(deltas), timestamp=0),))
    letters = 0
    async for event in provider.stream(model, context, StreamOptions(api_key="bench-token")):
        if event.type == "text_delta":
            letters += len(event.delta)
    assert letters == deltas * len(DELTA), letters


class Theirs:
    """A boto3 client, made once: only its iteration is measured."""

    def __init__(self, url: str) -> None:
        import boto3

        self._client = boto3.client(
            "bedrock-runtime",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )

    async def __call__(self, deltas: int) -> None:
        """Ask and read each delta."""
        content = [{"text": prompt(deltas)}]
        answer = self._client.converse_stream(modelId=MODEL, messages=[{"role": "user", "content": content}])
        letters = 0
        for event in answer["stream"]:
            if "contentBlockDelta" in event:
                letters += len(event["contentBlockDelta"]["delta"]["text"])
        assert letters == deltas * len(DELTA), letters


def show_deltas(fake: Fake) -> None:
    theirs = Theirs(fake.url)
    asyncio.run(theirs(1))
    rows: list[tuple[str, float, float | None]] = []
    for deltas, rounds in SIZES:
        peer = cpu_per_step(theirs, deltas, rounds)
        own = cpu_per_step(lambda steps: ours(fake.url, steps), deltas, rounds)
        rows += [
            (f"boto3's EventStream, {deltas:,} deltas", peer, None),
            (f"provider-bedrock, {deltas:,} deltas", own, peer * DELTA_BAR),
        ]
    fake.requests()
    show("From the socket: CPU per delta", "us", rows)


def show_decoders() -> None:
    from botocore.eventstream import EventStreamBuffer

    from pi_provider_bedrock.frames import FrameDecoder

    async def botocore_s(steps: int) -> None:
        data = frames(steps)
        buffer = EventStreamBuffer()
        for at in range(0, len(data), 65_536):
            buffer.add_data(data[at : at + 65_536])
            for _ in buffer:
                pass

    async def own(steps: int) -> None:
        data = frames(steps)
        decoder = FrameDecoder()
        for at in range(0, len(data), 65_536):
            for _ in decoder.feed(data[at : at + 65_536]):
                pass

    deltas = 20_000
    works: list[tuple[str, Callable[[int], Any]]] = [("botocore's EventStreamBuffer", botocore_s), ("ours", own)]
    frames(deltas)  # made before the clock runs
    show("The decoder alone: CPU per frame", "us", [(name, cpu_per_step(work, deltas), None) for name, work in works])


@functools.cache
def frames(deltas: int) -> bytes:
    """Return the frames of an answer, without HTTP."""
    return message(text(*[DELTA] * deltas)).body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11, help="of which the best counts (default: 11)")
    chosen = parser.parse_args()
    compile_and_say()
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        show_first_request(fake, Path(name), chosen.rounds)
        show_deltas(fake)
    show_decoders()


if __name__ == "__main__":
    main()
