"""Puts the repository's CHANGELOG.md into the distributions, for ``/changelog``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ChangelogHook(BuildHookInterface[Any]):
    """Adds the file: to the source distribution at its top, to the wheel in its package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the file to include. An editable installation reads that of the repository."""
        if version == "editable":
            return
        file = Path(self.root) / "CHANGELOG.md"  # in a source distribution
        if not file.is_file():
            file = Path(self.root).parents[2] / "CHANGELOG.md"
        into = "CHANGELOG.md" if self.target_name == "sdist" else "pi_terminal_kit/CHANGELOG.md"
        build_data["force_include"][str(file)] = into
