"""``pip``, ``uv`` and ``pipx`` as the shell blocks of pages run them: nothing is installed, but it has to exist here.

A name has to be a distribution of this repository with the extras that are asked for, a path has to be there.
``uv run`` runs the program, ``uv build`` builds without fetching the builder, and what pi itself asks uv for is uv's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

OF_OTHERS = {"uv"}


def main() -> int:
    program, *words = sys.argv[1:]
    if program == "python3":
        if words[:2] != ["-m", "pip"]:
            return run(sys.executable, *words)
        del words[:2]
    elif program == "uv":
        if words[:1] == ["run"]:
            return run(*command_of(words[1:]))
        if words == ["sync", "--group", "dev"]:
            words = ["pip", "install", "--python", ".venv", "./pyproject.toml"]
        if words[:1] == ["build"]:
            return run(sys.executable, "-m", "hatchling", "build")
        if words[:2] != ["tool", "install"] and ".venv" not in words:
            return run(os.environ["REAL_UV"], *words)
        del words[:1]
    if words[:1] != ["install"]:
        sys.exit(f"{' '.join(sys.argv[1:])}: this stand-in only installs")
    packages = words[3:] if words[1] == "--python" else words[1:]
    for package in packages:
        check(package, json.loads(os.environ["PAGE_DISTRIBUTIONS"]))
    return 0


def command_of(words: list[str]) -> list[str]:
    """Return what ``uv run`` runs: the words without its own options."""
    while words[0].startswith("--"):
        words = words[1 if words[0] == "--no-sync" else 2 :]  # --group NAME
    return words


def run(*command: str) -> int:
    return subprocess.run(command, check=False).returncode


def check(package: str, known: dict[str, list[str]]) -> None:
    if package.startswith(("./", "/")):
        if not Path(package).exists():
            sys.exit(f"There is no {package!r}")
        return
    match = re.fullmatch(r"(?P<name>[\w-]+)(?:\[(?P<extras>[\w,-]+)\])?", package)
    if match is None:
        sys.exit(f"{package!r} is not a package")
    name, extras = match["name"], {*(match["extras"] or "").split(",")} - {""}
    if name not in known and name not in OF_OTHERS:
        sys.exit(f"There is no distribution {name!r}")
    if not extras <= {*known.get(name, [])}:
        sys.exit(f"{name} has no extras {extras}")


if __name__ == "__main__":
    sys.exit(main())
