"""docs/reference/original-pages.md has each page of the original once, with links to headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

from pi_testing import for_each

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (FOLDER / "original-pages.md").read_text(encoding="utf-8")
TOPICS = """
    index quickstart how-pi-works usage cli slash-commands keybindings configuration settings environment-variables
    providers models models-configuration virtual-models custom-provider llama-cpp nvidia-rtx-llama-cpp sessions
    session-format compaction message-types json rpc rpc-commands rpc-extension-ui sdk cli-integration extensions skills
    prompt-templates themes packages mcp codemode security containerization tui terminal-setup tmux termux windows
    shell-aliases development
""".split()
"""The pages of the original's documentation, of 1.6.0 and older versions."""
TABLE = re.search(r"^\| --- .*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
ROWS = [tuple(cell.strip() for cell in row[1:-1].split(" |")) for row in TABLE[1].splitlines()] if TABLE else []
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_of_the_original_has_a_row() -> None:
    named = [name for row in ROWS for name in re.sub(r" \(.*", "", row[0]).split(", ")]

    assert len(TOPICS) == 43
    assert sorted(named) == sorted(TOPICS)


@for_each("row", ROWS)
def test_a_row_leads_somewhere(row: tuple[str, ...]) -> None:
    _, here, _, _ = row

    assert LINK.findall(here)


def test_its_links_lead_to_headings() -> None:
    wrong = [
        f"{target}#{anchor}"
        for target, anchor in LINK.findall(PAGE)
        if not (FOLDER / target).is_file() or (anchor and anchor not in anchors((FOLDER / target).read_text("utf-8")))
    ]

    assert wrong == []
