"""Run the tests on the other versions of Python that are promised, as far as this machine has them.

``uv run python tools/other_pythons.py [VERSION ...]`` makes the developers' environment of each in ``.pythons/VERSION``
and runs the tests in it; without a version, those of the classifiers but the one that runs this, as far as uv finds
them. A version that is named is looked for among those of pyenv, too. No interpreter is downloaded; missing ones are
reported. Words after ``--`` go to pytest.
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


def interpreter(version: str, *, of_pyenv: bool = True) -> str | None:
    """Return the path of an interpreter that is installed here; None if there is none."""
    command = ["uv", "python", "find", "--no-project", "--no-python-downloads", version]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout.strip()
    return next(map(str, _of_pyenv(version) if of_pyenv else []), None)


def _of_pyenv(version: str) -> list[Path]:
    """Return pyenv's interpreters of a version, the newest first: uv finds only those of the folder's own version."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [path for path in root.glob(f"versions/{version}.*/bin/python") if re.fullmatch(r"[\d.]+", path.parts[-3])]
    return sorted(found, key=lambda path: [*map(int, path.parts[-3].split("."))], reverse=True)


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
        python = interpreter(version, of_pyenv=bool(words[:split]))
        if python is None:
            where = "; name it to look among those of pyenv" if not words[:split] and _of_pyenv(version) else ""
            print(f"Python {version} is not installed here: its tests are not run{where}.")
            continue
        print(f"Python {version}, {python}", flush=True)
        failed |= not run_tests(version, python, arguments)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
