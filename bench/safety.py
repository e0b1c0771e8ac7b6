"""What safety costs: ``uv run python bench/safety.py``.

A command in each engine of the sandbox that works here, and the same command without one; redaction of Python's library
and of installed packages; an answer of 20,000 deltas, stored, with a policy and without; the hash chain of a request of
1 MB; the reservation and the ledger's line of a request; and a whole ``pi -p`` with the policies idle, and one without
them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

from _measure import show
from stream import Burst

import pi_cache_lint
import pi_redact
import pi_session_jsonl
from pi_budgets.line import append_line, ledger_file, today
from pi_budgets.reservations import Reservation
from pi_budgets.shared import Shared
from pi_cache_lint.chain import Digests, chain_of
from pi_core import PluginHost, Settings, create_agent_session
from pi_core.session import SessionManager
from pi_hookspecs import Model, SpawnRequest
from pi_process_kit import start_child
from pi_redact.redactor import MARK, Redactor
from pi_sandbox.engine import Engine, find_engine, try_engine
from pi_sandbox.options import Options
from pi_sandbox.policy import Policy, make_policy

COMMANDS = 200
DELTAS = 20_000
BURST = Model(id="burst", name="Burst", api="burst", provider="burst")
COMMAND = ("/bin/sh", "-c", "true")
POLICIES = "budgets,cache-lint,guardrails,redact,sandbox"


def sandbox_rows() -> list[tuple[str, float, float | None]]:
    """Return milliseconds a command, best of many: plain, and what each engine adds."""
    engines = {name: find_engine(name) for name in ("landlock", "bwrap") if try_engine(name) is None}
    best = asyncio.run(_commands(engines))
    rows: list[tuple[str, float, float | None]] = [("a command", best["plain"], None)]
    bars = {"landlock": 1.0, "bwrap": 5.0}
    return rows + [(f"{name}: more for each command", best[name] - best["plain"], bars[name]) for name in engines]


async def _commands(engines: dict[str, Engine]) -> dict[str, float]:
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cwd, tempfile.TemporaryDirectory() as temp:
        policy = _policy(cwd, temp)
        await _command(COMMAND, cwd)
        for _ in range(COMMANDS):
            for name, engine in {"plain": None, **engines}.items():
                started = time.perf_counter()
                await _command(COMMAND if engine is None else engine.argv(COMMAND, policy, cwd), cwd)
                best[name] = min(best.get(name, 1e9), (time.perf_counter() - started) * 1000)
    return best


def _policy(cwd: str, temp: str) -> Policy:
    home = Path.home()
    places = {"cwd": cwd, "temp": temp, "home": str(home), "agent_dir": str(home / ".pi" / "agent")}
    return make_policy(Options(mode="auto"), env=dict(os.environ), **places)


async def _command(argv: object, cwd: str) -> None:
    request = SpawnRequest(argv=argv, cwd=cwd, env=dict(os.environ), purpose="bash")
    child = await start_child(request, stderr="null")
    await child.wait()
    child.close()


def redaction_rows() -> list[tuple[str, float, float | None]]:
    """Return seconds for 15 MB of code, and false alarms for 5 MB."""
    rows: list[tuple[str, float, float | None]] = []
    for what, folder in (("Python's library", "stdlib"), ("installed packages", "purelib")):
        root = Path(sysconfig.get_path(folder))
        skipped = {"test", "tests"} if folder == "purelib" else {"test", "tests", "site-packages"}
        files = [file for file in root.rglob("*.py") if not skipped & {*file.relative_to(root).parts}]
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
        size = sum(map(len, texts)) / 1e6
        redactor = Redactor(b"b" * 32)
        redactor.know([(f"KEY{number}", f"a known value {number:06}") for number in range(20)])
        started = time.process_time()
        changed = [new for text in texts if (new := redactor.redact(text)) is not text]
        seconds = time.process_time() - started
        alarms = sum(len(MARK.findall(text)) for text in changed)
        rows += [
            (f"{what}: seconds of CPU for 15 MB", seconds / size * 15, 1.0),
            (f"{what}: false alarms for 5 MB", alarms / size * 5, 1.0),
        ]
    return rows


def delta_rows(rounds: int) -> list[tuple[str, float, float | None]]:
    """Return the CPU time of an answer of 20,000 deltas, stored in a file: with a policy, of one without."""
    policies: dict[str, dict[str, object]] = {
        "none": {},
        "redact": {"redact": pi_redact},
        "cache-lint": {"cache-lint": pi_cache_lint},
    }
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, plugins in policies.items():
            best[name] = min(best.get(name, 1e9), asyncio.run(_answer({"burst": Burst(DELTAS), **plugins})))
    rows: list[tuple[str, float, float | None]] = [("20,000 deltas without, s", best["none"], None)]
    return rows + [(f"with {name}, of that", best[name] / best["none"], 1.1) for name in ("redact", "cache-lint")]


async def _answer(plugins: dict[str, object]) -> float:
    """Return the CPU seconds of the second of two prompts."""
    with tempfile.TemporaryDirectory() as folder:
        host = PluginHost(Settings.in_memory({}, agent_dir=folder), installed=False)
        host.add(pi_session_jsonl, "session-jsonl")
        for name, plugin in plugins.items():
            host.add(plugin, name)
        manager = SessionManager.create(folder, folder, host=host)
        options: dict[str, Any] = {"settings": host.settings, "host": host, "model": BURST, "cwd": folder}
        async with create_agent_session(session_manager=manager, **options) as session:
            await session.prompt("go")
            started = time.process_time()
            await session.prompt("go")
            return time.process_time() - started


def cache_rows() -> list[tuple[str, float, float | None]]:
    """Return milliseconds of CPU for the chain of a request of 1 MB: the first of a session, and each that follows."""
    payload = _payload(1_000_000)
    first, next_one = [], []
    for _ in range(10):
        digests = Digests()
        for spent in (first, next_one):
            fresh = json.loads(json.dumps(payload))  # a codec makes every request anew
            started = time.process_time()
            chain_of(fresh, digests, str)
            spent.append((time.process_time() - started) * 1000)
            payload["messages"].append({"role": "user", "content": f"and {len(payload['messages'])}"})
    return [("first request of 1 MB", min(first), None), ("each that follows", min(next_one), 2.0)]


def _payload(size: int) -> dict[str, Any]:
    tools = [{"name": f"tool{number}", "description": "d" * 300, "input_schema": {}} for number in range(20)]
    messages: list[dict[str, Any]] = []
    while len(json.dumps(messages)) < size:
        for number in range(len(messages), len(messages) + 50, 2):
            call = {"type": "tool_use", "id": f"call{number}", "name": "read", "input": {"path": f"{number}.py"}}
            result = {"type": "tool_result", "tool_use_id": f"call{number}", "content": "a line of code\n" * 280}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {"model": "large", "system": "s" * 8000, "tools": tools, "messages": messages}


def budget_rows() -> list[tuple[str, float, float | None]]:
    """Return milliseconds of CPU for reserving a request and settling it, with a ledger of 100,000 lines."""
    line = {"at": "", "day": today(), "session": "s", "project": "/p", "purpose": "conversation", "model": "acme/one"}
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        file, shared = ledger_file(folder), Shared(folder)
        append_line(file, {"id": "first", **line})
        with Path(file).open("a") as ledger:
            ledger.writelines(
                json.dumps({"id": str(number), "dollars": 0.01, **line}) + "\n" for number in range(100_000)
            )
        for number in range(20):
            started = time.process_time()
            request = Reservation(id=f"r{number}", session="s", project="/p", names=(None,), amounts={"dollars": 1.0})
            shared.reserve(request, lambda _ledger, _others: None)
            append_line(file, {"id": request.id, **line})
            shared.reservations.release(request=request.id)
            spent.append((time.process_time() - started) * 1000)
    return [("first request, which reads 100,000 lines", spent[0], None), ("each that follows", min(spent[1:]), None)]


def start_rows(rounds: int) -> list[tuple[str, float, float | None]]:
    """Return how much longer a whole ``pi -p`` takes with the policies installed and idle, in CPU time."""
    with_them, without = [], []
    with tempfile.TemporaryDirectory() as home:
        for _ in range(rounds):
            with_them.append(_cpu_of_pi(home, ""))
            without.append(_cpu_of_pi(home, POLICIES))
    return [("whole -p with the policies, of one without", min(with_them) / min(without), 1.05)]


def _cpu_of_pi(home: str, disabled: str) -> float:
    env = {**os.environ, "HOME": home, "PI_DISABLE_PLUGINS": disabled}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pi_cli", "--model", "offline/rules", "--no-session", "-p", "hi"]
    subprocess.run(command, env=env, cwd=home, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8, help="starts of pi with and without the policies")
    chosen = parser.parse_args()
    show("Sandbox", "ms", sandbox_rows())
    show("Redaction", "", redaction_rows())
    show("A long answer", "", delta_rows(chosen.rounds))
    show("Cache", "ms", cache_rows())
    show("Budgets", "ms", budget_rows())
    show("Start", "ratio", start_rows(chosen.rounds))


if __name__ == "__main__":
    main()
