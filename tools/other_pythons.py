"""Run the tests on the other versions of Python that are promised, as far as this machine has them.

``uv run python tools/other_pythons.py [VERSION ...]`` makes the developers' environment of each in ``.pythons/VERSION``
and runs the tests in it; without a version, those of the classifiers but the one that runs this. No interpreter is
downloaded; missing ones are reported. Words after ``--`` go to pytest.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".pythons"


def promised() -> list[str]:
    """Return the versions of Python that the distribution names, as in ``3.12``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in project["classifiers"])
    return [match[1] for match in found if match is not None]


def interpreter(version: str) -> str | None:
    """Return the path of an interpreter that is installed here; None if there is none."""
    command = ["uv", "python", "find", "--no-project", "--no-python-downloads", version]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None if done.returncode == 0 else None


def run_tests(version: str, python: str, arguments: list[str]) -> bool:
    """Run the tests in an environment of this interpreter; return whether they passed."""
    folder = FOLDER / version
    environ = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    subprocess.run(
        ["uv", "sync", "--quiet", "--python", python, "--group", "dev"],  # noqa: S607 - that of the user's PATH
        cwd=ROOT,
        env={**environ, "UV_PROJECT_ENVIRONMENT": str(folder)},
        check=True,
    )
    program = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    return subprocess.run([str(program), "-m", "pytest", "-q", *arguments], cwd=ROOT, check=False).returncode == 0


def main(words: list[str]) -> int:
    """Run the tests on each version; return 1 if one failed."""
    split = words.index("--") if "--" in words else len(words)
    arguments = words[split + 1 :]
    present = f"{sys.version_info[0]}.{sys.version_info[1]}"
    failed = False
    for version in words[:split] or [each for each in promised() if each != present]:
        python = interpreter(version)
        if python is None:
            print(f"Python {version} is not installed here: its tests are not run.")
            continue
        print(f"Python {version}, {python}", flush=True)
        failed |= not run_tests(version, python, arguments)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
