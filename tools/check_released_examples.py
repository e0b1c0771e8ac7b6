"""Run the examples as they were released with 1.0, with the tests of then, on the packages of now.

``uv run python tools/check_released_examples.py``. They are plugins of 1.0: a test that fails is a change that plugins
of others do not survive either, whatever the examples of now look like. Needs the history of the repository; a clone
without it is reported, and checks nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASED = "3c75da98"
"""The commit of 1.0.0, of which ``docs/reference/contract-1.0.json`` is, too."""


def main() -> int:
    """Run them, and return pytest's exit code."""
    with tempfile.TemporaryDirectory(prefix="pi-released-") as folder:
        if not unpack(ROOT, Path(folder)):
            print(f"The examples of 1.0 were not checked: there is no commit {RELEASED}. Try git fetch --unshallow")
            return 0
        # Before installed plugins: some have names today that examples had before.
        sources = map(str, sorted(Path(folder).glob("examples/*/src")))
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sources)}
        command = [sys.executable, "-m", "pytest", "examples", "-q", "-n0", "-p", "no:cacheprovider"]
        return subprocess.run(command, cwd=folder, env=environ, check=False).returncode


def unpack(repository: Path, folder: Path) -> bool:
    """Write the examples of 1.0 into a folder, with the options of pytest; False where the history is missing."""
    archive = ["git", "archive", RELEASED, "conftest.py", "examples", "pyproject.toml"]
    packed = subprocess.run(archive, cwd=repository, capture_output=True, check=False)
    if packed.returncode:
        return False
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return True


if __name__ == "__main__":
    sys.exit(main())
