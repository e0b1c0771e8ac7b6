"""What authors of plugins and programs read, pages and docstrings, refers to nothing that is not in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("plugins/*/README.md"),
    *ROOT.glob("changelog.d/*.md"),
]
CONTRACT = [
    *ROOT.glob("hookspecs/src/**/*.py"),
    *ROOT.glob("pi_core/src/**/*.py"),
    *ROOT.glob("plugins/testing/src/**/*.py"),
]
NOWHERE = re.compile(r"\bpi\.md\b|\b[Dd]ocument 0\d\d|\b[Dd]ecisions? D\d")


@pytest.mark.parametrize("file", [*PAGES, *CONTRACT], ids=lambda file: str(file.relative_to(ROOT)))
def test_no_text_cites_what_a_reader_does_not_have(file: Path) -> None:
    assert NOWHERE.findall(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []
