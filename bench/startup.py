"""How long ``pi`` takes to start, compared with an interpreter that does nothing: ``uv run python bench/startup.py``.

Milliseconds of CPU (user and system) of the whole process, the best of eleven rounds in which the commands take turns,
bytecode compiled before. The bar for ``--version`` is half of the time that the original needs (it takes about 440 ms
to its first request on the machine where the bars were set); here the factor to ``python -c pass`` is what to watch.
"""

from __future__ import annotations

import compileall
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 11
PROMPT = "list the files here"


def commands(pi: str) -> dict[str, list[str]]:
    return {
        "peer: python -c pass": [sys.executable, "-c", "pass"],
        "peer: python -c 'import asyncio, attrs, pluggy'": [sys.executable, "-c", "import asyncio, attrs, pluggy"],
        "pi --version": [pi, "--version"],
        "pi --help": [pi, "--help"],
        "pi plugins (warm index)": [pi, "plugins"],
        "pi -p, offline model, one tool": [pi, "--model", "offline/rules", "-p", PROMPT],
    }


def compile_everything() -> None:
    for package in ("pi_hookspecs", "pi_core", "pi_cli", "pi_provider_offline", "pi_tools", "pi_mcp", "pi_process_kit"):
        found = importlib.util.find_spec(package)
        for folder in found.submodule_search_locations or () if found is not None else ():
            compileall.compile_dir(folder, quiet=1)


def one_run(command: list[str], cwd: str, env: dict[str, str]) -> tuple[float, float]:
    """Return the CPU and the wall milliseconds of a process."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu * 1000, wall * 1000


def main() -> None:
    pi = Path(sys.executable).with_name("pi")
    if not pi.exists():
        sys.exit(f"{pi} is not there: run uv sync, then uv run python bench/startup.py")
    compile_everything()
    best: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PI_CODING_AGENT_DIR": folder}
        one_run([str(pi), "plugins"], folder, env)  # writes the index
        for _ in range(ROUNDS):
            for what, command in commands(str(pi)).items():
                cpu, wall = one_run(command, folder, env)
                known = best.get(what, (cpu, wall))
                best[what] = (min(cpu, known[0]), min(wall, known[1]))
    floor = best["peer: python -c pass"][0]
    print("Start-up, the whole process\n")
    print(f"{'':58} {'CPU ms':>10} {'wall ms':>10} {'of python':>10}")
    for what, (cpu, wall) in best.items():
        print(f"{what:58} {cpu:10.1f} {wall:10.1f} {cpu / floor:9.1f}x")


if __name__ == "__main__":
    main()
