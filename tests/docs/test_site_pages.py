"""What tools/build_site.py gives to the builder of the site: pages, their links, the navigation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"


@pytest.fixture(scope="module")
def pages() -> Path:
    script = ROOT / "tools" / "build_site.py"
    subprocess.run([sys.executable, script, "--pages-only", "--repository", "https://example.org/tree"], check=True)
    return BUILD / "pages"


@pytest.fixture(scope="module")
def navigation(pages: Path) -> list[object]:
    return yaml.safe_load((BUILD / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]


def levels(entries: list[object], path: str = "") -> dict[str, list[object]]:
    """Return the entries of every level of the navigation."""
    found = {path: entries}
    for entry in entries:
        for title, inside in entry.items() if isinstance(entry, dict) else ():
            if isinstance(inside, list):
                found |= levels(inside, f"{path}/{title}")
    return found


def test_no_level_of_the_navigation_has_more_entries_than_can_be_seen_at_once(navigation: list[object]) -> None:
    assert {path: len(entries) for path, entries in levels(navigation).items() if len(entries) > 8} == {}


def test_the_navigation_has_names_for_people(navigation: list[object]) -> None:
    titles = [title for entries in levels(navigation).values() for each in entries if isinstance(each, dict)
              for title in each]  # fmt: skip

    assert len(titles) > 100
    assert [title for title in titles if ".md" in title or "pluggypi" in title] == []


def test_every_page_has_a_description_of_its_own(pages: Path) -> None:
    heads = {page: page.read_text(encoding="utf-8").split("---\n")[1] for page in pages.glob("docs/**/*.md")}
    described = {page: yaml.safe_load(head)["description"] for page, head in heads.items()}

    assert [str(page) for page, text in described.items() if len(text) < 10 or "](" in text or "\n" in text] == []
    assert len({*described.values()}) > 0.95 * len(described)
    assert described[pages / "docs/install.md"] == "Install, upgrade and remove pi."


def test_the_first_page_has_a_title_that_says_what_pi_is(pages: Path) -> None:
    assert yaml.safe_load((pages / "README.md").read_text(encoding="utf-8").split("---\n")[1])["title"] == (
        "A coding agent made of plugins"
    )


def test_pages_can_be_edited_where_the_project_has_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    from build_site import with_addresses

    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    found = yaml.safe_load(
        with_addresses(settings, {"repository": "https://code.example/pi", "documentation": "https://pi.example"})
    )

    assert with_addresses(settings, {}) == settings
    assert (found["repo_url"], found["edit_uri"]) == ("https://code.example/pi", "edit/main/")
    assert found["site_url"] == "https://pi.example/"
    assert "llmstxt" in found["plugins"][0]


def test_links_have_names_for_people() -> None:
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/*/README.md")]
    texts = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    del texts["CHANGELOG.md"]

    assert {
        file: found for file, text in texts.items() if (found := re.findall(r"\[[\w/.-]+\.md\]\([^)]*\)", text))
    } == {}


def test_the_commands_of_the_first_page_fit_into_its_column() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    install = re.search(r"^## Install it\n.*?^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]

    assert max(map(len, install.splitlines())) <= 72


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


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import build_site

    page = tmp_path / "README.md"
    page.write_text("[a page](docs/gone.md#part), `[code](gone)`, [this one](#here) and [itself](README.md)\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(build_site, "ROOT", tmp_path)
    monkeypatch.setattr(build_site, "BUILD", tmp_path / "build")
    monkeypatch.setattr(build_site, "PAGES", tmp_path / "build" / "pages")

    with pytest.raises(SystemExit) as ended:
        build_site.write_pages("https://example.org/tree")

    assert ended.value.code == "Links that lead nowhere:\nREADME.md: docs/gone.md#part"
