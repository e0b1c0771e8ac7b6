"""docs/from-the-original.md has every page of the original, once, with links that lead to a heading that exists."""

from __future__ import annotations

import re
from pathlib import Path

from pi_testing import for_each

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "from-the-original.md").read_text(encoding="utf-8")
TOPICS = """
    index quickstart usage cli slash-commands keybindings configuration settings environment-variables providers models
    custom-provider llama-cpp sessions session-format compaction message-types json rpc rpc-commands rpc-extension-ui
    sdk cli-integration extensions skills prompt-templates themes packages security containerization tui terminal-setup
    tmux termux windows shell-aliases development
""".split()
"""The pages of the original's documentation; some of its versions have one for what others divide among several."""
TABLE = PAGE.partition("| page of the original | here |\n| --- | --- |\n")[2].partition("\n\n")[0]
ROWS = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in TABLE.splitlines()]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_of_the_original_has_a_row() -> None:
    named = [name for topics, _ in ROWS for name in topics.split(", ")]

    assert len(TOPICS) == 37
    assert sorted(named) == sorted(TOPICS)


@for_each(("topics", "here"), ROWS)
def test_a_row_leads_somewhere(topics: str, here: str) -> None:
    del topics

    assert LINK.findall(here)


def test_its_links_lead_to_headings() -> None:
    wrong = [
        f"{target}#{anchor}"
        for target, anchor in LINK.findall(PAGE)
        if not (DOCS / target).is_file() or (anchor and anchor not in anchors((DOCS / target).read_text("utf-8")))
    ]

    assert wrong == []
