"""List the distributions of the workspace by folder, with one line each, or print the folder of one.

Run it with ``uv run python tools/list_members.py [NAME]``. NAME is the name of a folder, a
plugin (``retry``) or a distribution (``pluggypi-retry``).
"""

from __future__ import annotations

import difflib
import sys
import tomllib
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def members() -> dict[Path, dict[str, str]]:
    """Return the ``project`` table of each member by its folder, relative to the repository, sorted."""
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]["workspace"]
    files = sorted(file for glob in workspace["members"] for file in ROOT.glob(f"{glob}/pyproject.toml"))
    return {file.parent.relative_to(ROOT): tomllib.loads(file.read_text(encoding="utf-8"))["project"] for file in files}


def listing() -> str:
    """Return all members, those of one folder together under its name."""
    found = members()
    width = max(len(folder.name) for folder in found)
    blocks = []
    for parent, folders in groupby(found, key=lambda folder: folder.parent):
        rows = [f"  {folder.name:{width}}  {found[folder]['description']}" for folder in folders]
        blocks.append("\n".join([f"{parent.as_posix()}/", *rows]))
    return "\n\n".join(blocks)


def folder_of(name: str) -> Path | None:
    """Return the folder of a member, relative to the repository; None when there is no such member."""
    return next(
        (folder for folder, project in members().items() if name in (folder.name, project["name"], _short(project))),
        None,
    )


def _short(project: dict[str, str]) -> str:
    """Return the distribution's name without the prefix that all have, which is the name of its plugin."""
    return project["name"].removeprefix("pluggypi-")


def main() -> int:
    """Print the list, or one folder; return the exit code."""
    if len(sys.argv) == 1:
        print(listing())
        return 0
    name = sys.argv[1]
    folder = folder_of(name)
    if folder is not None:
        print(folder.as_posix())
        return 0
    similar = difflib.get_close_matches(name, [folder.name for folder in members()], n=1)
    hint = f"did you mean {similar[0]!r}?" if similar else "`just groups` lists the members."
    print(f"No member of the workspace is called {name!r}; {hint}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
