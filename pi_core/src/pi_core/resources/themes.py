"""The resource kind ``theme``: colours by role in a JSON file; front ends define the meaning of each role."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING

from pi_hookspecs import ResourceContent, ResourceKind, ResourceProblem

if TYPE_CHECKING:
    from pi_hookspecs import ResourceFile

__all__ = ["theme_kind"]


def theme_kind() -> ResourceKind:
    """Return the kind; core defines it, because every front end has themes."""
    return ResourceKind("theme", read=_read, folder="themes", accepts=_is_theme)


def _is_theme(name: str, depth: int) -> bool:
    return depth == 0 and name.endswith(".json")


def _read(file: ResourceFile, text: str) -> ResourceContent:
    try:
        theme = json.loads(text)
    except json.JSONDecodeError as error:
        return _rejected(file, f"not valid JSON: {error.msg}; the theme is left out", error.lineno)
    except (ValueError, RecursionError) as error:
        return _rejected(file, f"not valid JSON: {error}; the theme is left out")
    if not isinstance(theme, dict) or not isinstance(theme.get("colors"), dict):
        return _rejected(file, 'a theme must be an object with "colors"; it is left out')
    name = theme.get("name")
    return ResourceContent(name=name if isinstance(name, str) and name else PurePath(file.path).stem, data=theme)


def _rejected(file: ResourceFile, message: str, line: int | None = None) -> ResourceContent:
    return ResourceContent(
        name=None, problems=[ResourceProblem(path=file.path, message=message, line=line, level="error")]
    )
