"""What tools/build_site.py gives to the builder of the site: pages, their links, the navigation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"


@pytest.fixture(scope="module")
def pages() -> Path:
    script = ROOT / "tools" / "build_site.py"
    subprocess.run([sys.executable, script, "--pages-only", "--repository", "https://example.org/tree"], check=True)
    return BUILD / "pages"


def test_every_page_of_the_documentation_is_in_the_navigation_once(pages: Path) -> None:
    navigation = re.findall(r"\S+\.md$", (BUILD / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    documentation = {str(page.relative_to(pages)) for page in pages.glob("docs/**/*.md")} - {"docs/README.md"}

    assert documentation <= {*navigation}
    assert len(navigation) == len({*navigation})
    assert all((pages / page).is_file() for page in navigation)


def test_a_link_to_code_leads_to_the_repository(pages: Path) -> None:
    assert "(https://example.org/tree/docs/rpc)" in (pages / "docs/reference/rpc.md").read_text(encoding="utf-8")


def test_a_link_to_a_folder_with_a_page_leads_to_the_page(pages: Path) -> None:
    assert "(keep-trees/README.md)" in (pages / "examples/README.md").read_text(encoding="utf-8")


def test_the_code_of_a_page_is_unchanged(pages: Path) -> None:
    fence = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    page = "docs/first-plugin.md"

    assert fence.findall((pages / page).read_text(encoding="utf-8")) == fence.findall((ROOT / page).read_text("utf-8"))
