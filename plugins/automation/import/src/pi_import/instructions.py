"""Instructions: files that other agents put into their prompts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core import imported_files
from pi_import.changes import TextBlock
from pi_import.place import Unreadable
from pi_import.steps import Step, decide, left_out

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pi_import.place import Place

__all__ = ["as_it_is", "nested_left_out", "take_file", "user_file"]

_OWN = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""Names in the agent directory; the first that exists is used."""


def user_file(place: Place) -> Path:
    """Return the file that instructions are added to: the user's own, or the project's ``.pi/APPEND_SYSTEM.md``."""
    if place.scope == "project":
        return place.target / "APPEND_SYSTEM.md"
    return next((place.target / name for name in _OWN if (place.target / name).is_file()), place.target / "AGENTS.md")


def take_file(place: Place, file: Path, *, imports: bool = False) -> Iterator[Step]:
    """Yield the step for a file whose text is added to pi's instructions.

    Args:
        place: Where it is.
        file: The file; one that does not exist is no step.
        imports: Whether files that it names with ``@`` are added, too.
    """
    if not file.is_file():
        return
    label = place.label(file)
    try:
        text = place.read(file)
        others = list(imported_files(str(file), lambda path: _may_read(place, path))) if imports else []
        parts = [text, *(f"From {place.label(Path(each))}:\n\n{place.read(Path(each))}" for each in others)]
    except Unreadable as error:
        yield left_out("instructions", file.name, label, f"it {error}", scope=place.scope)
        return
    if not text.strip():
        return
    why = f"with the text of {', '.join(place.label(Path(each)) for each in others)} after it" if others else ""
    change = TextBlock(user_file(place), label, "\n\n".join(parts))
    yield decide(
        "instructions",
        file.name,
        label,
        change,
        scope=place.scope,
        why=why,
        other="the block from an earlier import is kept: delete it to import the new text",
    )


def as_it_is(
    place: Place, file: Path, kind: str = "instructions", why: str = "", *, name: str | None = None
) -> Iterator[Step]:
    """Yield the step for a file or folder that pi reads where it is."""
    if file.exists():
        yield Step(
            kind=kind,
            name=name or file.name,
            source=place.label(file),
            outcome="differently" if why else "already",
            why=why or "pi reads it where it is",
            target=str(file),
            scope=place.scope,
        )


def nested_left_out(place: Place, names: Collection[str]) -> Iterator[Step]:
    """Yield one step for the files of these names in subfolders of a project, which pi does not read."""
    found = sorted(_nested(place, names)) if place.scope == "project" else []
    if found:
        shown = [*found[:_MOST_NAMED], *(["..."] if len(found) > _MOST_NAMED else [])]
        why = "pi reads those of the folder that it is started in, and above: start it there, or name them in yours"
        yield left_out("instructions", ", ".join(shown), "subfolders", why, scope="project")


def _nested(place: Place, names: Collection[str]) -> Iterator[str]:
    for visited, (parent, below, files) in enumerate(os.walk(place.root), 1):
        folder = Path(parent).relative_to(place.root)
        if visited > _MOST_FOLDERS or len(folder.parts) >= _DEEPEST:
            below.clear()
        below[:] = [name for name in below if not name.startswith(".") and name not in _OF_OTHERS]
        yield from (str(folder / name) for name in files if folder.parts and name in names)


_MOST_NAMED, _MOST_FOLDERS, _DEEPEST = 5, 2_000, 4
_OF_OTHERS = ("node_modules", "vendor", "venv", "target", "dist", "build", "__pycache__")
"""Folders of dependencies and of what is built."""


def _may_read(place: Place, path: str) -> bool:
    try:
        place.read(Path(path))
    except Unreadable:
        return False
    return True
