"""``example:NAME``: an example of the documentation, copied into the agent directory and installed from that copy.

The examples are folders in this distribution. They are meant to be changed, so each is copied before it is installed,
and a copy that exists is never overwritten.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PREFIX", "copied", "example_rows", "source_of"]

PREFIX = "example:"
_PLUGIN = "A plugin for pi"


def _folder() -> Path:
    """Return the folder of the examples: in the wheel that of this package, in a clone ``examples``."""
    packaged = Path(__file__).parent / "examples"
    return packaged if packaged.is_dir() else Path(__file__).parents[5] / "examples"


def _names() -> dict[str, Path]:
    files = (*_folder().glob("*/pyproject.toml"), *_folder().glob("*/pi_plugin.json"))
    return {file.parent.name: file.parent for file in sorted(files)}


def source_of(text: str, agent_dir: Path) -> str:
    """Return the path of the copy for ``example:NAME``, whether or not it exists; any other text unchanged."""
    return str(agent_dir / "examples" / text.removeprefix(PREFIX)) if text.startswith(PREFIX) else text


def copied(text: str, agent_dir: Path, say: Callable[[str], object], *, dry_run: bool = False) -> str:
    """Return the path of the copy for ``example:NAME``, made if necessary; any other text unchanged.

    Args:
        text: A source as the user wrote it.
        agent_dir: The agent directory, in whose folder ``examples`` the copies are.
        say: Called with a line that names a new copy.
        dry_run: Copy nothing, and return the path of the example itself if there is no copy.

    Raises:
        UnknownName: There is no such example.
    """
    if not text.startswith(PREFIX):
        return text
    name, known = text.removeprefix(PREFIX), _names()
    if name not in known:
        raise UnknownName("example", name, known, "pi search example lists them")
    copy = Path(source_of(text, agent_dir))
    if copy.is_dir():
        return str(copy)
    if dry_run:
        return str(known[name])
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        known[name], copy, ignore=shutil.ignore_patterns("__pycache__", ".*", "*.egg-info", "build", "dist")
    )
    say(f"The example {name} is copied to {copy}: change it there, then /reload")
    return str(copy)


def example_rows() -> list[dict[str, Any]]:
    """Return the examples as entries of the catalogue."""
    return [
        {
            "name": name,
            "source": f"{PREFIX}{name}",
            "description": _description(folder),
            "keywords": ["example"],
        }
        for name, folder in _names().items()
    ]


def _description(folder: Path) -> str:
    file = folder / "pyproject.toml"
    if not file.is_file():
        return (folder / "README.md").read_text(encoding="utf-8").split("\n\n")[1].replace("\n", " ").partition(". ")[0]
    text: str = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["description"]
    return text.replace(_PLUGIN, "A plugin").rstrip(".")
