"""An extractive summary: the headings, the first sentences and the size of a file, picked by rules."""

from __future__ import annotations

import re

_MOST_HEADINGS = 12
_MOST_CHARACTERS = 400

_MOST_HASHES = 6
_DEFINITION = re.compile(
    r"(?:export\s+|pub\s+|public\s+|async\s+)*(?:def|class|function|fn|func|struct|interface|trait|impl|enum)\s+\w+"
)
_UNDERLINE = re.compile(r"=+\s*\Z|-{3,}\s*\Z")
_LIST_OR_MARKUP = re.compile(
    r"[-*+>|]\s|\d+[.)]\s|\||<|!?\[|```|~~~|---|===|\.\.\s|[{}\[\]()]|import\s|from\s\S+\simport"
)
_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)", re.DOTALL)


def outline(path: str, text: str, rest: str | None) -> str:
    """Return the summary of a text as paragraphs that say what they are.

    Args:
        path: The file.
        text: Its text, or the beginning of it.
        rest: What of the file is not in ``text``, in words; None when nothing is missing.
    """
    if not text.strip():
        return f"{path} is empty." if not text else f"{path} holds only white space."
    lines = _outside_fences(text)
    headings = _headings(lines)
    definitions = [match[0] for line in lines if (match := _DEFINITION.match(line))]
    size = f"{_count_lines(text)} lines, {len(text.split())} words, {len(text)} characters"
    parts = [
        f"Summary of {path}, picked by rules (headings and first sentences), not written by a language model:",
        f"- Size: {size}" + (f"; {rest}" if rest else ""),
    ]
    if headings:
        parts.append(f"- Title: {_short(headings[0])}")
        parts += _listed("Headings", headings[1:])
    else:
        first = next(line.strip() for line in text.split("\n") if line.strip())
        parts.append(f"- First line: {_short(first)}")
        parts += _listed("Definitions", definitions)
    if headings or not definitions:  # the words of source code are no sentences
        sentences = _first_sentences(lines)
        parts += [f"- It begins: {sentences}"] if sentences and not parts[-1].endswith(f": {sentences}") else []
    return "\n".join(parts)


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _listed(label: str, found: list[str]) -> list[str]:
    if not found:
        return []
    more = len(found) - _MOST_HEADINGS
    shown = "; ".join(map(_short, found[:_MOST_HEADINGS]))
    return [f"- {label}: {shown}" + (f"; and {more} more" if more > 0 else "")]


def _outside_fences(text: str) -> list[str]:
    """Return the lines that are not in a fenced code block."""
    kept, bar = [], ""
    for line in text.split("\n"):
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and bar in ("", mark):
            bar = "" if bar else mark
        elif not bar:
            kept.append(line.rstrip())
    return kept


def _headings(lines: list[str]) -> list[str]:
    """Return Markdown headings, with ``#`` or underlined."""
    found = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if heading := _heading(line):
            found.append(heading)
        elif line.strip() and _UNDERLINE.match(below) and not _LIST_OR_MARKUP.match(line):
            found.append(line.strip())
    return found


def _heading(line: str) -> str:
    """Return the text of a ``# Heading``; empty for another line."""
    text = line.lstrip("#")
    hashes = len(line) - len(text)
    return text.strip().rstrip("#").rstrip() if 0 < hashes <= _MOST_HASHES and text[:1].isspace() else ""


def _first_sentences(lines: list[str]) -> str:
    """Return the first two sentences of the first paragraph of prose."""
    paragraph: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        prose = line.strip() and not _heading(line) and not _LIST_OR_MARKUP.match(line) and not _UNDERLINE.match(below)
        if prose and not _UNDERLINE.match(line):
            paragraph.append(line.strip())
        elif paragraph:
            break
    text = " ".join(paragraph)[: 2 * _MOST_CHARACTERS]
    sentences = "".join(_SENTENCE.findall(text)[:2]).strip()
    return _short(sentences or text, _MOST_CHARACTERS)


def _short(text: str, limit: int = 100) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + " ..."
