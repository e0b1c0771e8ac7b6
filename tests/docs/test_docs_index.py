"""``docs/README.md`` leads to every page, and messages name topics that ``pi help`` has."""

from __future__ import annotations

import re
from pathlib import Path

from pi_help.pages import topics

DOCS = Path(__file__).parents[2] / "docs"
CODE = [*DOCS.parent.glob("pi_core/src/**/*.py"), *DOCS.parent.glob("plugins/*/*/src/**/*.py")]
TOPIC = re.compile(r"pi help ([a-z][a-z_:-]+)")


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")

    missing = [page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index]
    assert missing == []


def test_messages_name_topics_that_exist() -> None:
    named = {name for file in CODE for name in TOPIC.findall(file.read_text(encoding="utf-8"))}
    met_first = {
        "keys",
        "models",
        "sessions",
        "settings",
        "security",
        "mcp",
        "sandbox",
        "budgets",
        "packages",
        "themes",
    }

    assert met_first | {"keybindings", "extensions", "guardrails"} <= named
    assert named - {"shows", "lists", "takes"} <= topics(DOCS.parent).keys()
