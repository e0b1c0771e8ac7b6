"""A way to write templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def write_template(pi_agent_dir: Path) -> Callable[[str, str], Path]:
    """Write ``prompts/NAME.md`` of the user."""

    def write(name: str, text: str) -> Path:
        file = pi_agent_dir / "prompts" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write
