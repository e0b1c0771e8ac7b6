"""Puts the examples of the repository into the distributions, for ``pi install example:NAME``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IGNORED = {"__pycache__", "build", "dist", "node_modules"}


class ExamplesHook(BuildHookInterface[Any]):
    """Adds the examples: to the source distribution as ``examples``, to the wheel in its package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to include. An editable installation has none: it reads those of the repository."""
        if version == "editable":
            return
        folder = Path(self.root) / "examples"  # in a source distribution
        if not folder.is_dir():
            folder = Path(self.root).parents[2] / "examples"
        into = "examples" if self.target_name == "sdist" else "pi_packages/examples"
        for file in folder.glob("*/**/*"):
            parts = file.relative_to(folder).parts
            if file.is_file() and not any(part in IGNORED or part.startswith(".") for part in parts):
                build_data["force_include"][str(file)] = f"{into}/{'/'.join(parts)}"
