"""Where the pages of the documentation are, and which topics they have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Topic", "folder", "mentioning", "sections", "topics"]

_HEADING = re.compile(r"^###? (?P<heading>.+)$")
_ENTRY = re.compile(r"^- \[[^\]]*\]\((?P<page>[\w./-]+\.md)\): (?P<text>.+)$")


class Topic(NamedTuple):
    """One page.

    Attributes:
        name: The name of its file, without the extension.
        file: The page.
        text: Its description in the index; empty if the index does not list the page.
    """

    name: str
    file: Path
    text: str = ""


def folder() -> Path:
    """Return the folder of the pages: in the wheel that of this package, in a clone ``docs``."""
    packaged = Path(__file__).parent / "pages"
    return packaged if packaged.is_dir() else Path(__file__).parents[5] / "docs"


def sections(pages: Path) -> dict[str, list[Topic]]:
    """Return the topics of the index under its headings."""
    found: dict[str, list[Topic]] = {}
    under: list[Topic] = []
    for line in (pages / "README.md").read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.match(line):
            under = found[heading["heading"]] = []
        elif (entry := _ENTRY.match(line)) and (topic := _topic(pages, entry["page"], entry["text"])) is not None:
            under.append(topic)
    return {heading: entries for heading, entries in found.items() if entries}


def topics(pages: Path) -> dict[str, Topic]:
    """Return all topics by name, first the ones in the index."""
    indexed = {topic.name: topic for entries in sections(pages).values() for topic in entries}
    files = [*sorted(pages.glob("*.md")), *sorted(pages.glob("reference/*.md"))]
    return indexed | {file.stem: Topic(file.stem, file) for file in files if file.stem not in {*indexed, "README"}}


def mentioning(word: str, pages: Path) -> Iterator[tuple[Topic, str]]:
    """Yield the pages that contain a text, whatever its case, each with the first line that does.

    Pages whose name contains it come first.
    """
    for topic in sorted(topics(pages).values(), key=lambda topic: word.casefold() not in topic.name):
        for line in topic.file.read_text(encoding="utf-8").splitlines():
            if word.casefold() in line.casefold():
                yield topic, line.strip("#|- ")
                break


def _topic(pages: Path, link: str, text: str) -> Topic | None:
    """Return the topic of an entry of the index; None if its page is not among those that are installed."""
    file = pages / link
    name = file.parent.name if file.name == "README.md" else file.stem
    if not file.is_file():
        file = pages / "linked" / f"{name}.md"  # a page outside of docs/, in the wheel
    return Topic(name, file, text) if file.is_file() else None
