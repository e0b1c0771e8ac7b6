"""What agents solve with a real model: ``uv run python bench/real_model.py URL MODEL [--agent NAME=COMMAND]``.

The tasks are those of ``pi eval``: ``local-tasks``, ``local-tasks-held-out``, or a file. Each runs in a new folder, one
after another, with pi and with each further agent, on the same server: URL is the base URL of one with the API of Chat
Completions. For each task: whether its checks pass, seconds, requests, and tokens in and out as the server counts them;
a proxy between agent and server counts. COMMAND is a shell command; it finds the prompt, the proxy's base URL and the
model in ``$PROMPT``, ``$OPENAI_BASE_URL`` and ``$MODEL``, and its output is the answer:

    --agent 'aider=aider --no-git --yes-always --model openai/$MODEL --message "$PROMPT"'
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from _measure import show_table

from pi_eval.checks import check_run
from pi_eval.plan import Case, read_plan
from pi_eval.run import Record


class Counter(ThreadingHTTPServer):
    """Passes requests on to the server, and counts them and their tokens.

    Args:
        url: The server's base URL.
    """

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = url.rstrip("/")
        self.daemon_threads = True
        self.clear()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def clear(self) -> None:
        """Begin to count anew."""
        self.requests = self.sent = self.received = 0

    @property
    def base_url(self) -> str:
        """Where agents reach it."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def count(self, answer: bytes) -> None:
        """Add the usage of an answer: of the whole, or of the last event that has one."""
        lines = [line.removeprefix(b"data: ") for line in answer.splitlines() if b'"usage"' in line]
        for line in reversed(lines or [answer]):
            try:
                usage = json.loads(line).get("usage")
            except (ValueError, AttributeError):
                continue
            if isinstance(usage, dict):
                self.sent += usage.get("prompt_tokens") or 0
                self.received += usage.get("completion_tokens") or 0
                return


class _Handler(BaseHTTPRequestHandler):
    server: Counter

    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        self.server.requests += 1
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if body.get("stream"):
            body["stream_options"] = {"include_usage": True}
        self._pass_on(json.dumps(body).encode())

    def _pass_on(self, body: bytes | None) -> None:
        target = self.server.url + self.path.removeprefix("/v1")
        request = urllib.request.Request(target, body, {"content-type": "application/json"})  # noqa: S310 - the given server
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
                self._answer(answer.status, answer)
        except urllib.error.HTTPError as refused:
            self._answer(refused.code, refused)

    def _answer(self, status: int, answer: Any) -> None:
        self.send_response(status)
        self.send_header("content-type", answer.headers.get("content-type", "application/json"))
        self.send_header("connection", "close")
        self.end_headers()
        received = b""
        while piece := answer.read1(65536):
            received += piece
            self.wfile.write(piece)
            self.wfile.flush()
        self.server.count(received)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def solve(case: Case, command: str, counter: Counter, model: str) -> list[object]:
    """Let an agent work on a task in a new folder; return the cells of the table."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for path, content in case.files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(content, encoding="utf-8")
        environ = {
            **{key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ},
            "HOME": home,
            "PROMPT": case.prompt,
            "MODEL": model,
            "OPENAI_BASE_URL": counter.base_url,
            "OPENAI_API_KEY": "none",
        }
        configure_pi(Path(home), counter.base_url, model)
        counter.clear()
        begun = time.monotonic()
        answer, why = run(command, work, environ, case.timeout)
        seconds = time.monotonic() - begun
        if not why:
            why = asyncio.run(problems(case, answer, work, environ))
        return ["yes" if not why else "no", round(seconds, 1), counter.requests, counter.sent, counter.received, why]


def configure_pi(home: Path, url: str, model: str) -> None:
    """Write the ``models.json`` with which pi finds the server."""
    agent = home / ".pi" / "agent"
    agent.mkdir(parents=True)
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [{"id": model}]}
    (agent / "models.json").write_text(json.dumps({"providers": {"bench": provider}}), encoding="utf-8")


def run(command: str, work: Path, environ: dict[str, str], seconds: float) -> tuple[str, str]:
    """Run an agent; return its output, and why it did not come to its end."""
    try:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=work,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"not done after {seconds:.0f} s"
    return done.stdout, f"exit code {done.returncode}: {done.stderr[-200:]}" if done.returncode else ""


async def problems(case: Case, answer: str, work: Path, environ: dict[str, str]) -> str:
    """Return the checks that did not pass, with their reasons; empty if all passed."""

    async def command(line: str) -> tuple[int, str]:
        done = await asyncio.to_thread(
            subprocess.run, ["sh", "-c", line], cwd=work, env=environ, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    record = Record(case=case.name, number=1, answer=answer)
    results = await check_run(case.checks, record, work, command)
    return "; ".join(f"{each.check}: {each.why}" for each in results if not each.passed)[:160]


def main() -> int:
    """Run the tasks and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("model")
    parser.add_argument("--tasks", default="local-tasks", type=Path)
    parser.add_argument("--only", default="", help="the tasks with this in their names")
    parser.add_argument("--agent", action="append", default=[], metavar="NAME=COMMAND")
    given = parser.parse_args()
    pi = f'{Path(sys.executable).with_name("pi")} --model "bench/$MODEL" --no-session -p "$PROMPT"'
    agents = [("pi", pi), *(each.split("=", 1) for each in given.agent)]
    counter = Counter(given.url)
    cases = [case for case in read_plan(given.tasks).cases if given.only in case.name]
    rows = []
    for case in cases:
        for name, command in agents:
            rows.append([case.name, name, *solve(case, command, counter, given.model)])
            print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    heads = ["task", "agent", "solved", "seconds", "requests", "tokens in", "tokens out", "why not"]
    show_table(f"{len(cases)} tasks, {given.model}", heads, [[str(cell) for cell in row] for row in rows])
    for name, _ in agents:
        mine = [row for row in rows if row[1] == name]
        solved = sum(row[2] == "yes" for row in mine)
        sums = [sum(row[at] for row in mine) for at in range(3, 7)]
        print(f"{name}: {solved} solved, {sums[0]:.0f} s, {sums[1]} requests, {sums[2]} + {sums[3]} tokens")
    counter.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
