"""What packages cost: ``uv run python bench/packages.py``.

Thirty plugins in an overlay against none: milliseconds of CPU (user and system) of the whole process, the best of
rounds in which both take turns. The bar is a factor of 1.05 for ``--version`` and for a prompt to the offline model.
Each plugin adds a command, which no prompt uses: the price is that of finding them. (What a plugin offers to every
prompt, a tool or an event hook, is imported, as it would be in pi's own environment.) Installing one plugin from a
folder of wheels, with everything cached, may take 1,500 ms of CPU, with the solver and the trial in another process.
Without any packages a start pays for one ``open`` that fails.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROUNDS = 15
PLUGINS = 30
SOURCE = """
from pi_hookspecs import Command, hookimpl

async def run(*_): ...

@hookimpl
def register_commands():
    return [Command(name="idle{0}", description="does", handler=run)]
"""


def write_wheel(folder: Path, number: int) -> None:
    stem = f"pluggypi_idle{number}-1.0"
    info = f"{stem}.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"pi_idle{number}.py", SOURCE.format(number))
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: pluggypi-idle{number}\nVersion: 1.0\nRequires-Dist: pluggypi-hookspecs>=1\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/entry_points.txt", f"[pi]\nidle{number} = pi_idle{number}\n")
        wheel.writestr(f"{info}/RECORD", "")


def cpu(command: list[str], cwd: str, env: dict[str, str]) -> float:
    """Return the CPU milliseconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def home(folder: Path, wheels: Path) -> dict[str, str]:
    agent_dir = folder / "agent"
    agent_dir.mkdir(parents=True)
    (agent_dir / "settings.json").write_text(f'{{"packages.findLinks": ["{wheels}"]}}')
    return {**os.environ, "HOME": str(folder), "PI_CODING_AGENT_DIR": str(agent_dir), "UV_NO_INDEX": "1"}


def main() -> None:
    pi = str(Path(sys.executable).with_name("pi"))
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        wheels, work = root / "wheels", str(root)
        wheels.mkdir()
        for number in range(PLUGINS + 2):
            write_wheel(wheels, number)
        none, thirty = home(root / "none", wheels), home(root / "thirty", wheels)
        cpu([pi, "install", *(f"idle{number}" for number in range(PLUGINS))], work, thirty)
        prompt = ["--model", "offline/rules", "-p", "list the files here"]
        print(f"{'':34}{'none':>9}{PLUGINS:>9}{'factor':>9}")
        for label, arguments in {"--version": ["--version"], "-p, offline model, one tool": prompt}.items():
            times: dict[str, list[float]] = {"none": [], "thirty": []}
            for env in (none, thirty):  # the index
                cpu([pi, *arguments], work, env)
            for _ in range(ROUNDS):
                times["none"].append(cpu([pi, *arguments], work, none))
                times["thirty"].append(cpu([pi, *arguments], work, thirty))
            low, high = (min(each) for each in times.values())
            print(f"{'CPU ms, pi ' + label:34}{low:9.1f}{high:9.1f}{high / low:9.3f}")
        cpu([pi, "install", f"idle{PLUGINS}"], work, none)  # fills the caches
        cpu([pi, "remove", f"idle{PLUGINS}"], work, none)
        print(f"{'CPU ms, pi install of one plugin':34}{cpu([pi, 'install', f'idle{PLUGINS}'], work, none):9.0f}")
        print(f"{'us, a start without packages':34}{look_up(root / 'nothing'):9.1f}")


def look_up(agent_dir: Path) -> float:
    """Return the microseconds of looking for an overlay that is not there."""
    from pi_core.host.overlay import join_overlay, user_root

    def once() -> float:
        started = time.perf_counter()
        join_overlay(user_root(agent_dir))
        return (time.perf_counter() - started) * 1e6

    return statistics.median(once() for _ in range(1000))


if __name__ == "__main__":
    main()
