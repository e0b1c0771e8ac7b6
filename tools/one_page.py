"""Writing a page that is made from the code, or checking with ``--check`` that it is as it would be written."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["write_or_check"]


def write_or_check(page: Path, text: str) -> int:
    """Write the page, or compare it where ``--check`` was given; return the exit code."""
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    print(f"{page.name} is not what tools/{Path(sys.argv[0]).name} writes; run it")
    return 1
