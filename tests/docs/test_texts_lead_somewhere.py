"""Pages, docstrings and comments refer to nothing that is not in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_testing import for_each

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("plugins/*/*/README.md"),
    *ROOT.glob("changelog.d/*.md"),
]
CODE = [file for folder in ("hookspecs", "pi_core", "plugins", "tests", "bench", "tools", "examples")
        for file in (ROOT / folder).rglob("*.py") if file != Path(__file__)]  # fmt: skip
NOWHERE = re.compile(r"\bpi\.md\b|\b[Dd]ocument 0\d\d|\b[Dd]ecisions? D\d")


def test_no_text_cites_what_a_reader_does_not_have() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in (*PAGES, *CODE)}

    assert {file: found for file, text in texts.items() if (found := NOWHERE.findall(text))} == {}


@for_each("page", PAGES)
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("name", ["AGENTS.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_modules_that_pages_for_contributors_name_exist(name: str) -> None:
    modules = re.findall(r"`(?:[\w./-]*/)?([a-z_]\w*\.py)`", (ROOT / name).read_text(encoding="utf-8"))

    assert set(modules) - {file.name for file in CODE} == {"_NAME.py"} & set(modules)


def test_the_page_of_keys_lists_the_providers_with_a_sign_in():
    from pi_core import PluginHost, Settings

    names = set(PluginHost(Settings.load(ROOT)).owners("register_logins"))

    page = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| `pi auth login` \|.*?\n\n", page, re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"`([a-z-]+)`", table)) == names
