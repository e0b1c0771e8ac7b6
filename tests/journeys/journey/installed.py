"""pi as users install it: the wheels of every distribution with its extras, in an environment that has nothing else."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "journeys"
EXTRAS = "all"
"""The extra with all others that contribute features; those left out only add libraries to features that are there."""

_SECONDS = 600
_UV = os.environ.get("UV", "uv")


def install() -> Path:
    """Return the folder with the programs of an environment that has the current wheels.

    ``JOURNEY_PROGRAMS=.venv/bin`` uses those of another environment, while a journey is written.
    """
    if programs := os.environ.get("JOURNEY_PROGRAMS"):
        return ROOT / programs
    FOLDER.mkdir(parents=True, exist_ok=True)
    environment, stamp = FOLDER / "environment", FOLDER / "stamp"
    with _locked(FOLDER / "lock"):
        wheels = sorted(Path(_run(sys.executable, ROOT / "tools" / "build_wheels.py").strip()).glob("*.whl"))
        state = hashlib.sha256(sys.version.encode() + b"".join(wheel.read_bytes() for wheel in wheels)).hexdigest()
        if not stamp.exists() or stamp.read_text() != state:
            stamp.unlink(missing_ok=True)
            _install(wheels, environment)
            stamp.write_text(state)
    return environment / "bin"


def _install(wheels: list[Path], environment: Path) -> None:
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
    # By path, so that none of them can come from a package registry that happens to have the same name.
    ours = {_normal(wheel.name.partition("-")[0]): wheel.as_uri() for wheel in wheels}
    constraints = FOLDER / "constraints.txt"
    constraints.write_text("\n".join([*pins, *(f"{name} @ {uri}" for name, uri in ours.items())]))
    _run(_UV, "venv", "--quiet", "--clear", "--no-project", "--python", sys.executable, environment)
    target = ["--python", environment, "--constraint", constraints, "--compile-bytecode"]
    _run(_UV, "pip", "install", "--quiet", *target, f"pluggypi[{EXTRAS}] @ {ours['pluggypi']}")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _run(*command: str | Path) -> str:
    environ = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    words = [*map(str, command)]
    return subprocess.check_output(words, cwd=ROOT, env=environ, timeout=_SECONDS, text=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
