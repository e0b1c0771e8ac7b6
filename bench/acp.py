"""What an editor waits for: ``uv run python bench/acp.py``.

From the start of the process to the answer to ``initialize``, and from ``session/new`` to its answer, in wall
milliseconds. The peer is ``pi-acp`` of npm with the original pi behind it; no model is asked.
The bars are half of the peer's time for the first and 0.6 of it for the second. The last row is the process that ends
after its stdin was closed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _peer import MODEL, VERSION, Program, Row, cache, compare, compile_and_say, npm_install, options, programs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

PEER = "pi-acp@0.0.34"
INDEX = "node_modules/pi-acp/dist/index.js"
NO_SERVER = "http://127.0.0.1:9"
STEPS = ("initialize", "session/new", "end")


class Talk:
    """One process, as an editor starts it.

    Args:
        program: Which of the two.
    """

    def __init__(self, program: Program) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            program.command,
            cwd=program.environ["PWD"],
            env=program.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, number: int, method: str, params: dict[str, Any]) -> float:
        """Send a request; return the milliseconds until its answer is there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        begun = time.monotonic()
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == number and "method" not in answer:
                assert "result" in answer, answer
                return (time.monotonic() - begun) * 1000
        sys.exit(f"{method} was not answered")


def measure(step: str, program: Program) -> float:
    """Run one process through its steps; return the milliseconds of one of them."""
    talk = Talk(program)
    talk.ask(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    took = {"initialize": (time.monotonic() - talk.started) * 1000}
    if step != "initialize":
        took["session/new"] = talk.ask(2, "session/new", {"cwd": program.environ["PWD"], "mcpServers": []})
    begun = time.monotonic()
    assert talk.process.stdin is not None
    talk.process.stdin.close()
    try:
        talk.process.wait(timeout=10)
    except subprocess.TimeoutExpired:  # a peer that does not end by itself
        talk.process.kill()
        talk.process.wait()
    took["end"] = (time.monotonic() - begun) * 1000
    return took[step]


def speakers(found: Sequence[Program], chosen: argparse.Namespace, folder: Path) -> list[Program]:
    """Return the programs that speak ACP: ours, and the peer where both of its parts can be installed."""
    ours, *originals = found
    (agent := Path(ours.environ["PI_CODING_AGENT_DIR"])).mkdir(exist_ok=True)
    provider, _, model = MODEL.partition("/")
    settings = json.dumps({"defaultProvider": provider, "defaultModel": model})
    (agent / "settings.json").write_text(settings, encoding="utf-8")
    speaking = [Program(ours.name, (*ours.command, "acp"), ours.environ)]
    place = chosen.peer_dir or cache() / PEER
    for original in originals:
        (Path(original.environ["PI_CODING_AGENT_DIR"]) / "settings.json").write_text(settings, encoding="utf-8")
        if not (place / INDEX).exists() and not npm_install(place, [PEER]):
            continue
        behind = folder / "bin"
        behind.mkdir()
        (behind / "pi").write_text('#!/bin/sh\nexec "{}" "{}" "$@"\n'.format(*original.command), encoding="utf-8")
        (behind / "pi").chmod(0o755)
        environ = {**original.environ, "PATH": f"{behind}:{original.environ['PATH']}"}
        speaking.append(Program(original.name, (original.command[0], str(place / INDEX)), environ))
    return speaking


def main() -> None:
    chosen = options(f"{__doc__}\n\nThe peer is {PEER} with pi {VERSION}.", rounds=7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_and_say()
        found = speakers(programs(chosen, folder, NO_SERVER), chosen, folder)
        bars = {"initialize": 0.5, "session/new": 0.6, "end": None}
        rows = [Row(step, partial(measure, step), bars[step]) for step in STEPS]
        compare("ACP, as an editor starts it", "ms", rows, found, chosen.rounds)


if __name__ == "__main__":
    main()
