"""Puts the pages of the repository's ``docs`` folder, and those that its index leads to, into the distributions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PagesHook(BuildHookInterface[Any]):
    """Adds the pages: to the source distribution as ``pages``, to the wheel in its package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to include. An editable installation has none: it reads those of the repository."""
        if version == "editable":
            return
        folder = Path(self.root) / "pages"  # in a source distribution
        if not folder.is_dir():
            folder = Path(self.root).parents[2] / "docs"
        into = "pages" if self.target_name == "sdist" else "pi_help/pages"
        for page in (*folder.glob("*.md"), *folder.glob("reference/*.md")):
            build_data["force_include"][str(page)] = f"{into}/{page.relative_to(folder)}"
        for page, name in _linked(folder):
            build_data["force_include"][str(page)] = f"{into}/linked/{name}.md"
        for page in folder.glob("linked/*.md"):
            build_data["force_include"][str(page)] = f"{into}/linked/{page.name}"


def _linked(folder: Path) -> list[tuple[Path, str]]:
    """Return the pages of plugins that the index leads to, by the names of their folders."""
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = [folder / link for link in re.findall(r"\((\.\./plugins/[\w/-]+/README\.md)\)", index)]
    return [(page, page.parent.name) for page in pages if page.is_file()]
