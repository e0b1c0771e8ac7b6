"""Where the pages of the documentation are, which topics they have, and where their links lead."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Topic", "folder", "lines_of", "links", "mentioning", "sections", "text_of", "topics"]

_INDEX = "docs/README.md"
_PLACES = {
    "docs/*.md": "docs/{}",
    "docs/reference/*.md": "reference/{}",
    "docs/hooks/*.md": "hooks/{}",
    "docs/*/README.md": "{}",
    "plugins/*/*/README.md": "pluggypi-{}",
    "examples/*/README.md": "example:{}",
    "*/README.md": "{}",
    "pi_core/src/pi_core/*/README.md": "{}",
    "*.md": "{}",
}
"""The pages that are topics, and the longer name of each: a name that several pages have is that of the first."""

_HEADING = re.compile(r"^###? (?P<heading>.+)$")
_ENTRY = re.compile(r"^- \[[^\]]*\]\((?P<page>[\w./-]+\.md)\): (?P<text>.+)$")
_LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>(?!https?:|mailto:|#)[^)\s]+)\)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_NO_TOPICS = ("AGENTS",)
"""Pages for agents that change pi itself."""


class Topic(NamedTuple):
    """One page.

    Attributes:
        name: The shortest name that leads to it: of its file without the extension, or of the folder that a README
            describes.
        file: The page.
        text: Its description in the index; empty if the index does not list the page.
    """

    name: str
    file: Path
    text: str = ""


def folder() -> Path:
    """Return the folder of the pages, which has the repository's own folders: in a clone it is the repository."""
    packaged = Path(__file__).parent / "pages"
    return packaged if packaged.is_dir() else Path(__file__).parents[5]


def sections(pages: Path) -> dict[str, list[Topic]]:
    """Return the topics of the index under its headings."""
    found: dict[str, list[Topic]] = {}
    under: list[Topic] = []
    index = pages / _INDEX
    for line in index.read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.match(line):
            under = found[heading["heading"]] = []
        elif (entry := _ENTRY.match(line)) and (file := (index.parent / entry["page"]).resolve()).is_file():
            under.append(Topic(_name(file), file, entry["text"]))
    return {heading: entries for heading, entries in found.items() if entries}


def topics(pages: Path) -> dict[str, Topic]:
    """Return all topics by name, first the ones in the index; most pages have a second, longer name."""
    found = {topic.name: topic for entries in sections(pages).values() for topic in entries}
    for pattern, longer in _PLACES.items():
        for file in sorted(page.resolve() for page in pages.glob(pattern)):
            name, long = _name(file), longer.format(_name(file))
            if name in _NO_TOPICS:
                continue
            shortest = name if name not in found or found[name].file == file else long
            found.setdefault(long, found.setdefault(shortest, Topic(shortest, file)))
    return found


def mentioning(words: Sequence[str], pages: Path) -> Iterator[tuple[Topic, str]]:
    """Yield the pages that contain all of some words, whatever their case, each with the line that has most of them.

    Pages with the words in their names come first, the shortest name first, then those with most words in a heading,
    then in that line.
    """
    wanted = [word.casefold() for word in words]

    def hits(text: str) -> int:
        return sum(word in text for word in wanted)

    found: list[tuple[tuple[int, ...], Topic, str]] = []
    for topic in {topic.file: topic for topic in reversed(topics(pages).values())}.values():
        text = topic.file.read_text(encoding="utf-8")
        if hits(text.casefold()) == len(wanted):
            lines = text.splitlines()
            line = max(lines, key=lambda line: hits(line.casefold()))
            heading = max((hits(line.casefold()) for line in lines if line.startswith("#")), default=0)
            found.append(((-hits(topic.name.casefold()), -heading, -hits(line.casefold())), topic, line.strip("#|- ")))
    found.sort(key=lambda each: (each[0], len(each[1].name) if each[0][0] else 0, each[1].name))
    yield from ((topic, line) for _, topic, line in found)


def text_of(topic: Topic, known: dict[str, Topic]) -> str:
    """Return a page, followed by the code if it describes an example; its links name topics instead of files.

    A link to something that is not installed, like a source file, becomes its text.
    """
    names = {each.file: each.name for each in reversed([*known.values()])}
    parts = [
        text if is_code else _LINK.sub(lambda link: _link(link, topic.file.parent, names), text)
        for is_code, text in _parts(topic.file.read_text(encoding="utf-8"))
    ]
    if topic.file.parent.parent.name == "examples":
        parts += _code(topic.file.parent)
    return "".join(parts)


def links(topic: Topic) -> Iterator[str]:
    """Yield the targets of a page's links to other files, as they are written."""
    for is_code, text in _parts(topic.file.read_text(encoding="utf-8")):
        if not is_code:
            yield from (link["target"] for link in _LINK.finditer(text))


def _code(example: Path) -> Iterator[str]:
    for source in sorted(example.glob("src/*/*.py")):
        if code := source.read_text(encoding="utf-8").strip():
            yield f"\n## {source.relative_to(example).as_posix()}\n\n```python\n{code}\n```\n"


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of a page, and whether it belongs to a block of code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        if fence:
            yield line, True
            if match and match[1].startswith(fence) and not line.strip(" `~\n"):
                fence = ""
        else:
            fence = match[1] if match else ""
            yield line, bool(fence)


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page, each with whether it is code: a link may go on in the next line."""
    for is_code, lines in groupby(lines_of(text), key=itemgetter(1)):
        yield is_code, "".join(line for line, _ in lines)


def _link(link: re.Match[str], place: Path, names: Mapping[Path, str]) -> str:
    path = (place / link["target"].partition("#")[0]).resolve()
    name = names.get(path / "README.md" if path.is_dir() else path)
    text = " ".join(link["text"].split())  # it may go on in the next line
    return text if name is None else f"{text} (`pi help {name}`)"


def _name(file: Path) -> str:
    """Return the name of a page: the one of its folder if it is the folder's README, but for the repository's own."""
    is_of_folder = file.name == "README.md" and not (file.parent / "CHANGELOG.md").is_file()
    return file.parent.name if is_of_folder else file.stem
