"""Build what a release publishes, once for each content of the tree: ``uv run --no-sync python tools/build_wheels.py``.

It prints the folder of the wheels, which ``uv pip install --find-links FOLDER pluggypi`` installs from; its subfolder
``sdists`` has the source distributions that they were built from. It is named after a hash of all files, and one
that exists is used again. The backend that every ``pyproject.toml`` names builds in this process, which takes seconds;
with an environment for each distribution it takes a minute.

``--commit REV`` builds an earlier version from the history, and ``--root FOLDER`` another clone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = 5
"""Folders that are kept, the newest."""
BACKEND = "hatchling.build"


class BuildFailed(Exception):
    """There is nothing to build from, or a member cannot be built this way; the message says why."""


def main() -> int:
    """Build, print the folder, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--commit")
    given = parser.parse_args()
    try:
        print(build_commit(given.root, given.commit) if given.commit else build_tree(given.root))
    except BuildFailed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def build_tree(root: Path = ROOT) -> Path:
    """Build the work tree of a clone, and return the folder of the wheels.

    Raises:
        BuildFailed: It is no clone, or a member needs another backend.
    """
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode()
    digest = hashlib.sha256()
    for name in sorted(filter(None, listed.split("\0"))):
        file = root / name
        if file.is_file():
            digest.update(f"{name}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return _build_once(root, digest.hexdigest(), root)


def build_commit(root: Path, commit: str) -> Path:
    """Build the members of a commit in a clone's history, and return the folder of the wheels.

    Raises:
        BuildFailed: The clone has no such commit, or a member needs another backend.
    """
    tree = _git(root, "rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
    with tempfile.TemporaryDirectory(prefix="pi-commit-") as unpacked:
        with tarfile.open(fileobj=BytesIO(_git(root, "archive", tree))) as tar:
            tar.extractall(unpacked, filter="data")
        return _build_once(root, tree, Path(unpacked))


def members(root: Path) -> list[Path]:
    """Return the folders of all distributions that are published, the root first, examples last."""
    tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    globs = tool["uv"]["workspace"]["members"]
    examples = [root / each for each in tool.get("pi", {}).get("published-examples", ())]
    return [root, *sorted(file.parent for glob in globs for file in root.glob(f"{glob}/pyproject.toml")), *examples]


def _build_once(clone: Path, content: str, source: Path) -> Path:
    """Return the folder of this content in a clone, which is built unless it exists."""
    from filelock import FileLock

    key = hashlib.sha256(f"{content} hatchling {version('hatchling')}".encode()).hexdigest()[:16]
    kept = clone / "build" / "wheels"
    folder = kept / key
    kept.mkdir(parents=True, exist_ok=True)
    with FileLock(kept / ".lock"):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=kept, prefix=".new-") as new:
                _build(source, Path(new) / key)
                (Path(new) / key).rename(folder)
        os.utime(folder)
        for old in sorted(kept.glob("[!.]*"), key=lambda each: each.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(old)
    return folder


def _build(root: Path, folder: Path) -> None:
    """Build source distributions, and from each its wheel: a file that a source distribution lacks is missing there."""
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    (folder / "sdists").mkdir(parents=True)
    for member in members(root):
        system = tomllib.loads((member / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
        if system["build-backend"] != BACKEND or [each[:9] for each in system["requires"]] != ["hatchling"]:
            raise BuildFailed(f"{member} is not built with {BACKEND} alone, which is all that this builds with")
        (sdist,) = SdistBuilder(str(member)).build(directory=str(folder / "sdists"))
        with tempfile.TemporaryDirectory(prefix="pi-sdist-") as unpacked:
            with tarfile.open(sdist) as tar:
                tar.extractall(unpacked, filter="data")
            (content,) = Path(unpacked).iterdir()
            list(WheelBuilder(str(content)).build(directory=str(folder)))


def _git(root: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise BuildFailed(f"git {' '.join(arguments)} failed in {root}: {done.stderr.decode().strip()}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
