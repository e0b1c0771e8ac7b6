"""The addresses of the project: ``[tool.pluggypi.addresses]`` of the root ``pyproject.toml``, and the metadata."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BRANCH = "main"

_URLS = re.compile(r"\n\[project\.urls\]\n(?:[^\[\n].*\n|\n(?=[^\[\n]))*")


def addresses(root: Path) -> dict[str, str]:
    """Return the addresses that are filled in: ``repository``, ``documentation``; without a slash at the end."""
    tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {})
    table = tool.get("pluggypi", {}).get("addresses", {})
    return {name: address.rstrip("/") for name, address in table.items() if address}


def with_urls(project: str, found: dict[str, str]) -> str:
    """Return the text of a ``pyproject.toml`` with the addresses as ``[project.urls]``, at its end.

    Args:
        project: The text; an earlier table is replaced.
        found: The addresses. Without any, there is no table.
    """
    rows = {}
    if "documentation" in found:
        rows["Documentation"] = found["documentation"]
    if (repository := found.get("repository")) is not None:
        rows |= {
            "Repository": repository,
            "Issues": f"{repository}/issues",
            "Changelog": f"{repository}/blob/{BRANCH}/CHANGELOG.md",
        }
    without = _URLS.sub("", project).rstrip("\n") + "\n"
    table = "".join(f'{name} = "{address}"\n' for name, address in rows.items())
    return f"{without}\n[project.urls]\n{table}" if table else without
