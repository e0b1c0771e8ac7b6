"""What a checkpoint costs in a large repository: ``uv run python bench/rewind.py``.

Processor seconds, those of git included; 100,000 files in 2,000 folders, committed. Before a prompt pi makes a
checkpoint and lists the ignored files; after each turn that wrote it makes one, of the files that ``write`` and
``edit`` have changed or, after a command, of all. The bar is for the checkpoints of one turn. The first checkpoint of a
work tree also reads the permissions of all files, and compares their sizes with those that git stored.
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

from pi_rewind.checkpoints import Checkpoints
from pi_rewind.ignored import note_ignored
from pi_rewind.restore import restore

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
        later = Checkpoints(Path(folder, "stores"), root, "later")
        next_first = cpu(later.make)
        idle = min(cpu(checkpoints.make) for _ in range(3))
        ignored = min(cpu(lambda: note_ignored(checkpoints)) for _ in range(3))
        names = change(root, "one")
        edited = cpu(lambda: checkpoints.make(names))
        change(root, "two")
        changed = cpu(checkpoints.make)
        tree = checkpoints.make().tree
        change(root, "three")
        back = cpu(lambda: restore(checkpoints, tree))
        rows = [
            ("first checkpoint of a work tree, once", first, 1.5),
            ("first checkpoint of any later session", next_first, 0.5),
            ("nothing changed", idle, None),
            ("list of ignored files", ignored, None),
            ("before a prompt: both", idle + ignored, 0.5),
            ("after a turn that edited three files", edited, 0.5),
            ("after a turn that ran a command, three files changed", changed, 0.5),
            ("a prompt of one turn that edits, all together", idle + ignored + edited, 0.5),
            ("a prompt of one turn with a command, all together", idle + ignored + changed, None),
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


def change(root: Path, word: str) -> list[str]:
    """Change three files, and return their names."""
    names = [f"d{number}/f{number}.txt" for number in range(3)]
    for name in names:
        (root / name).write_text(f"{word} {name}\n")
    return names


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
