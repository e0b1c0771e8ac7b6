"""A home without anybody's own skills, and a way to write some."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def home(pi_agent_dir: Path) -> Path:
    """The home folder that goes with the agent directory of a test."""
    return Path(os.environ["HOME"])


@pytest.fixture
def write_skill(pi_agent_dir: Path) -> Callable[..., Path]:
    """Write ``skills/NAME/SKILL.md`` of the user, or the file that ``path`` names below ``skills``."""

    def write(
        name: str, description: str | None = None, body: str = "Do it.", *, path: str = "", more: str = ""
    ) -> Path:
        file = pi_agent_dir / "skills" / (path or f"{name}/SKILL.md")
        file.parent.mkdir(parents=True, exist_ok=True)
        header = f"description: {description or f'What {name} is for'}\n"
        file.write_text(f"---\nname: {name}\n{header}{more}---\n\n{body}\n", encoding="utf-8")
        return file

    return write
