"""Puts the pages of the repository into the distributions, in the folders that they have there: links stay right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**/*.md",
    "plugins/*/*/README.md",
    "hookspecs/README.md",
    "pi_core/README.md",
    "pi_core/src/pi_core/*/README.md",
    "examples/README.md",
    "examples/*/README.md",
    "examples/*/src/*/*.py",
)

OWN = "plugins/frontends/help/README.md"


class PagesHook(BuildHookInterface[Any]):
    """Adds the pages: to the source distribution as ``pages``, to the wheel in its package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to include. An editable installation has none: it reads those of the repository."""
        if version == "editable":
            return
        folder = Path(self.root) / "pages"  # in a source distribution
        if not folder.is_dir():
            folder = Path(self.root).parents[2]
        into = "pages" if self.target_name == "sdist" else "pi_help/pages"
        places = {page: page.relative_to(folder).as_posix() for pattern in PAGES for page in folder.glob(pattern)}
        if (
            self.target_name == "sdist"
        ):  # a file that is included by force is nowhere else, and this is the project's own
            places = {page: place for page, place in places.items() if place != OWN}
        else:
            places[Path(self.root) / "README.md"] = OWN
        build_data["force_include"].update({str(page): f"{into}/{place}" for page, place in places.items()})
