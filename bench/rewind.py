"""What a checkpoint costs in a large repository: ``uv run python bench/rewind.py``.

Processor seconds, those of git included, of the first checkpoint, of one where nothing was changed, of one after three
files were, and of the list of ignored files; 100,000 files in 2,000 folders, committed. The bar is for a turn: a
checkpoint before and one after, and the list.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show

from pi_rewind._checkpoints import Checkpoints
from pi_rewind._restore import restore

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDERS = 2_000
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000, help="in the repository (default: 100,000)")
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = Path(folder, "work")
        fill(root, files)
        checkpoints = Checkpoints(Path(folder, "stores"), root, "bench")
        first = cpu(checkpoints.make)
        idle = min(cpu(checkpoints.make) for _ in range(3))
        ignored = min(cpu(checkpoints.note_ignored) for _ in range(3))
        change(root, "one")
        changed = cpu(checkpoints.make)
        tree = checkpoints.make().tree
        change(root, "two")
        back = cpu(lambda: restore(checkpoints, tree))
        rows = [
            ("first checkpoint", first, None),
            ("nothing changed", idle, None),
            ("three files changed", changed, None),
            ("list of ignored files", ignored, None),
            ("a turn: one of each", idle + changed + ignored, 0.5),
            ("restore of three files", back, None),
        ]
        show(f"Checkpoints of {files:,} files", "CPU s", rows)


def fill(root: Path, files: int) -> None:
    """Make a repository with so many files, committed."""
    for number in range(FOLDERS):
        (root / f"d{number}").mkdir(parents=True)
    for number in range(files):
        (root / f"d{number % FOLDERS}" / f"f{number}.txt").write_text(f"content of file {number}\n")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, env=QUIET, check=True)


def change(root: Path, word: str) -> None:
    """Change three files."""
    for number in range(3):
        (root / f"d{number}" / f"f{number}.txt").write_text(f"{word} {number}\n")


def cpu(work: Callable[[], object]) -> float:
    """Return the processor seconds of a call, those of the processes that it starts included."""
    before = spent()
    work()
    return spent() - before


def spent() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
