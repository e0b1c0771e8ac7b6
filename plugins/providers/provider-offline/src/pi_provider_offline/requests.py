"""Parses requests in plain English: a list of patterns, tried at the start of every clause."""

from __future__ import annotations

import re
from functools import cache, reduce
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

Kind: TypeAlias = Literal[
    "list", "read", "find", "search", "count", "count files", "run", "write", "replace", "call", "unknown"
]
UNITS = ("lines", "words", "characters")


@frozen(kw_only=True)
class Request:
    """One thing that the user asks for.

    Attributes:
        path: File or folder; ``.`` is the working directory. None if "it" names no file.
        text: The pattern, command, content, old text or arguments in JSON; of kind ``unknown`` the user's own words.
        new: What ``text`` is replaced with, or the tool to call.
        first: First line to read: 1, or minus ``count`` for the end of the file.
        count: Number of lines to read; None is all.
        units: What to count in a file.
    """

    kind: Kind
    path: str | None = "."
    text: str = ""
    new: str = ""
    first: int = 1
    count: int | None = None
    units: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The folder as it reads in a sentence."""
        return "here" if self.path == "." else f"in {self.path}"

    def __str__(self) -> str:
        part = "" if self.count is None else "the last " if self.first < 0 else "the first "
        part += {None: "", 1: "line of "}.get(self.count, f"{self.count} lines of ")
        return {
            "list": f"list the files {self.place}",
            "count files": f"count the files {self.place}",
            "read": f"read {part}{self.path}",
            "find": f"find {self.text} {self.place}",
            "search": f"search for {self.text!r} {self.place}",
            "count": f"count the {' and '.join(self.units)} in {self.path}",
            "run": f"run `{self.text}`",
            "write": f"write {self.path}",
            "call": f"call `{self.new}`",
            "replace": f"replace {self.text!r} with {self.new!r} in {self.path}",
            "unknown": f"say that I do not understand {self.text!r}",
        }[self.kind]


# Quoted texts and fenced blocks become one private character each, so that no pattern looks inside them.

_QUOTED = re.compile(
    r"```[^\n`]*\n(?P<fence>.*?)```|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|\"(?P<double>[^\"]*)\""
    r"|(?<!\w)'(?P<single>[^']*)'(?!\w)|\N{LEFT DOUBLE QUOTATION MARK}(?P<curly>[^\N{RIGHT DOUBLE QUOTATION MARK}]*)"
    r"\N{RIGHT DOUBLE QUOTATION MARK}",
    re.DOTALL,
)
_PRIVATE = 0xF0000
_MARK = re.compile("[\U000f0000-\U000ffffd]")


class _Quotes:
    """The quoted texts of a message."""

    def __init__(self, text: str) -> None:
        self._found: list[tuple[str, str]] = []
        self.text = _QUOTED.sub(self._hide, _MARK.sub("\N{REPLACEMENT CHARACTER}", text))

    def _hide(self, match: re.Match[str]) -> str:
        if len(self._found) > 0xFFF0:  # noqa: PLR2004 - the characters of the private plane
            return match[0]
        kind = next(name for name in ("fence", "code", "double", "single", "curly") if match[name] is not None)
        self._found.append((match[0], match[kind]))
        return chr(_PRIVATE + len(self._found) - 1)

    def value(self, text: str) -> str:
        """Return what a matched text means: quotation marks around the whole are taken away."""
        text = text.strip()
        if len(text) == 1 and _MARK.match(text):
            return self._found[ord(text) - _PRIVATE][1]
        return self.raw(text)

    def raw(self, text: str) -> str:
        """Return a text as the user wrote it."""
        return _MARK.sub(lambda match: self._found[ord(match[0]) - _PRIVATE][0], text)


_VERBS = (
    "list|ls|show|read|cat|open|print|find|search|grep|count|how many|run|call|write|create|save|replace|change|what"
    "|tell"
)
_PARTS = {
    "IN_FOLDER": r"( (here|in this folder|(in|from|of|under|below) PATH))?",
    "PATH": r"(the )?(FOLDER )?@?(?P<path>WORD)( FOLDER)?",
    "JSON": r"(?P<text>\{[^\n]*\})",
    "TOOL": r"(the )?(tool )?(?P<new>WORD)",
    "FOLDER": r"(file|folder|directory)",
    "WORD": r"([\U000f0000-\U000ffffd]|[^\s,;]+?)",
    "QUOTED": r"(?P<text>[\U000f0000-\U000ffffd])",
    "LINE": r"(?P<text>[^\n]+?)",
    "TEXT": r"(?P<text>[^\n]{1,200}?)",
    "NEW": r"(?P<new>[^\n]{1,200}?)",
    "FIRST_OR_LAST": r"(?P<end>first|last) ((?P<count>\d+) )?lines?",
    "UNITS": r"(?P<units>((,\s*|\s*and )?(the )?(number of )?(lines|words|characters))+)",
    " ": r"\s+",
}
"""What the words in capitals of a phrase mean, and a space."""
_END = rf"(?=\s*([,;.?!:]+(\s|$)|$|\n|(,\s*)?(and|then|also)\s+((then|also|finally)\s+)?({_VERBS})\b))"
_LINE_END = rf"(?=\s*($|\n|[,;.]?\s*\b(and\s+)?then\s+({_VERBS})\b))"
"""A text to write extends to the end of the line, or to a "then" that opens another request."""
_COMMAND_END = rf"(?=\s*($|\n|[,;.]?\s*\b(and|then)\s+({_VERBS})\b))"

_NEW_FILE = r"(write|create) (an? )?(new )?(file )?((called|named) )?PATH(:\s*|( with the (text|content)| containing) )"
_PHRASES: tuple[tuple[Kind, str, str], ...] = (
    ("call", r"(call|use) TOOL( with)?:?( the arguments)? JSON", _END),
    ("call", r"call TOOL", _END),
    ("run", r"run( the command)?:? QUOTED", _END),
    ("run", r"run(:\s*|\s+(?!the\b))LINE", _COMMAND_END),
    ("write", r"create an empty file PATH", _END),
    ("write", _NEW_FILE + "QUOTED", _END),
    ("write", _NEW_FILE + "LINE", _LINE_END),
    ("write", r"(write|save|put) TEXT (to|into|in) PATH", _END),
    ("replace", r"(replace|change) (all occurrences of )?TEXT (with|by|to) NEW in PATH", _END),
    ("replace", r"(in|edit) PATH[,:]? (replace|change) TEXT (with|by|to) NEW", _END),
    ("count files", r"(count|how many)( all)?( the)? files( are)?( there)?IN_FOLDER", _END),
    ("count", r"count UNITS (in|of) PATH", _END),
    ("count", r"how many UNITS (does|are in) PATH( have)?", _END),
    ("list", r"(list|show( me)?)( all)?( the)? filesIN_FOLDER", _END),
    ("list", r"(what|which) files are( there)?IN_FOLDER", _END),
    ("list", r"(ls( -\w+)*|list) PATH", _END),
    ("list", r"ls( -\w+)*", _END),
    ("read", r"(show|read|print|cat) (me )?(the )?FIRST_OR_LAST (of|in|from) PATH", _END),
    ("search", r"(search|grep|look)( for)?( the (text|word))? TEXT in PATH", _END),
    ("search", r"(search|grep|look)( for)?( the (text|word))? TEXT", _END),
    ("find", r"find (all )?(files )?((named|called) )?(?P<text>WORD)( files)?IN_FOLDER", _END),
    ("read", r"(read|show|cat|open|print) (me )?(the )?(contents? of )?PATH", _END),
    ("read", r"what(\s+is|'s) in PATH", _END),
)
"""Kind, phrase and where it may end; the first that fits counts."""


@cache
def _rules() -> list[tuple[Kind, re.Pattern[str]]]:
    expanded = [(kind, reduce(lambda text, part: text.replace(*part), _PARTS.items(), phrase) + end)
                for kind, phrase, end in _PHRASES]  # fmt: skip
    return [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in expanded]


_LEAD = re.compile(
    r"(?:[\s,;.?!:]|\d+[.)]\s|[-*]\s|(?:please|kindly|now|and|then|also|finally|first|next|tell\s+me"
    r"|(?:could|can|would|will)\s+you)\b)+",
    re.IGNORECASE,
)
_NEXT = re.compile(rf"[,;.?!](?=\s|$)|\n|\b(?:and|then)\s+(?=(?:then\s+)?(?:{_VERBS})\b)", re.IGNORECASE)
_POLITE = re.compile(r"(?:hello|hi|hey|thanks?|thank you|help|what can you do)\b.*", re.IGNORECASE)
_IT = re.compile(r"(?:it|its|that(?: file)?|them|there)\Z", re.IGNORECASE)


def parse(message: str, last: str | None = None) -> list[Request]:
    """Return the requests of a message, in order; what no phrase fits is one of kind ``unknown``.

    "it" is ``last``, the file or folder named last before, until the message names another.
    """
    quotes = _Quotes(message)
    requests: list[Request] = []
    at, text = 0, quotes.text
    while at < len(text):
        lead = _LEAD.match(text, at)
        if lead is not None:
            at = lead.end()
            continue
        line = text[at : at + 4000]  # of one request; a quoted text counts as one character
        found = next(((kind, match) for kind, pattern in _rules() if (match := pattern.match(line))), None)
        if found is not None:
            requests.append(_request(*found, quotes.value, last))
            last = requests[-1].path if requests[-1].path != "." else last
            at += found[1].end()
            continue
        end = _NEXT.search(text, at + 1)
        words = text[at : end.start() if end else len(text)]
        if not _POLITE.fullmatch(words):
            requests.append(Request(kind="unknown", text=quotes.raw(words).strip()))
        at += len(words)
    return requests


def _request(kind: Kind, match: re.Match[str], value: Callable[[str], str], last: str | None) -> Request:
    groups = match.groupdict()
    path: str | None = value(groups["path"]) if groups.get("path") else "."
    if path is not None and _IT.match(path):
        path = last
    text, new = (value(groups[name]) if groups.get(name) else "" for name in ("text", "new"))
    count = int(groups.get("count") or 1) if groups.get("end") else None
    first = -count if count is not None and groups["end"].lower() == "last" else 1
    if kind == "read" and count is None and path is not None and "what" in match[0][:4].lower() and "." not in path:
        kind = "list"  # "what is in src" asks for a folder, "what is in a.txt" for a file
    units = tuple(unit for unit in UNITS if unit in (groups.get("units") or "").lower())
    return Request(kind=kind, path=path, text=text, new=new, first=first, count=count, units=units)
