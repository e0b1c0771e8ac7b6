"""What driving pi over RPC costs: ``uv run python bench/rpc.py``.

``get_state`` is asked and answered over real pipes, one at a time, by a bare client: the bar is 2 ms, there and back.
Then a prompt is answered with 10,000 deltas in bursts, to a client that reads all of them: the bar is 0.5 s of pi's
CPU, from the prompt to ``agent_settled``. The end is from closing stdin in mid-stream to the end of the process.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from _fake import Fake, fake_server, prompt
from _measure import show

ROUNDS = 1000
DELTAS = 10_000
MODELS = {
    "providers": {
        "fake": {
            "api": "anthropic-messages",
            "apiKey": "none",
            "models": [{"id": "fake", "contextWindow": 1_000_000}],
        }
    }
}


class Pi:
    """``pi --mode rpc``, asked line by line."""

    def __init__(self, folder: Path, fake: Fake) -> None:
        agent = folder / "agent"
        agent.mkdir(exist_ok=True)
        MODELS["providers"]["fake"]["baseUrl"] = fake.url
        (agent / "models.json").write_text(json.dumps(MODELS))
        env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PI_CODING_AGENT_DIR": str(agent), "PYTHONUTF8": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "pi_cli", "--mode", "rpc", "--model", "fake/fake", "--no-session"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=env,
        )

    def say(self, **command: Any) -> None:
        """Write a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, wanted: bytes) -> int:
        """Read until a line has this in it; returns how many lines that took."""
        assert self.process.stdout is not None
        for number, line in enumerate(self.process.stdout, 1):
            if wanted in line:
                return number
        raise RuntimeError("pi has ended")

    def cpu(self) -> float:
        """Return the CPU time that it has used, in seconds."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


def round_trip(pi: Pi) -> float:
    took = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        pi.say(type="get_state")
        pi.until(b'"get_state"')
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def deltas(pi: Pi) -> float:
    before = pi.cpu()
    pi.say(type="prompt", message=prompt(DELTAS))
    lines = pi.until(b'"agent_settled"')  # fewer than deltas where the pipe was full meanwhile
    assert lines > DELTAS // 20, lines
    return pi.cpu() - before


def end(pi: Pi) -> float:
    pi.say(type="prompt", message=prompt(100_000))
    pi.until(b'"text_delta"')
    started = time.perf_counter()
    assert pi.process.stdin is not None
    assert pi.process.stdout is not None
    pi.process.stdin.close()
    pi.process.stdout.read()
    assert pi.process.wait() == 0
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        folder = Path(name)
        pi = Pi(folder, fake)
        pi.say(type="prompt", message=prompt(10))
        pi.until(b'"agent_settled"')
        trip, cpu = round_trip(pi), min(deltas(pi) for _ in range(3))
        end(pi)
        ends = [end(Pi(folder, fake)) for _ in range(3)]
        rows: list[tuple[str, float, float | None]] = [
            ("get_state, there and back", trip * 1000, 2.0),
            (f"{DELTAS} deltas, CPU of pi", cpu * 1000, 500.0),
            ("stdin closed in mid-stream", min(ends) * 1000, 100.0),
        ]
    show("RPC", "ms", rows)


if __name__ == "__main__":
    main()
