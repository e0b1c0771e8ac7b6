"""What is tried: the commands that ``/help`` lists, with arguments where they take some."""

from __future__ import annotations

import re

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "bug": ("", "The screen went blank"),
    "agents": ("", "0000"),
    "almanac": ("high",),
    "budget": ("",),
    "changelog": ("", "1.1.0", "all", "nothing"),
    "compact": ("", "the tides", "undo"),
    "copy": ("", "print"),
    "export": ("", "talk.html", "talk.md", "talk.jsonl"),
    "help": ("", "screen"),
    "import": ("{session}", "missing.jsonl"),
    "llama": ("", "list"),
    "login": ("", "nowhere"),
    "logout": ("", "nowhere"),
    "model": ("", "harbour/tide-small", "nothing-like-it", "harbour/tide-large"),
    "name": ("", "High water"),
    "plugins": ("", "tools", "nothing"),
    "processes": ("", "stop 9"),
    "rewind": ("", "undo", "zzzz files"),
    "search": ("water", ""),
    "share": ("file", "nowhere"),
    "skill:tides": ("",),
    "theme": ("", "light", "nothing", "dark"),
    "thinking": ("", "high", "show", "nothing"),
    "todo": ("", "add buy milk", "done 1", "remove 1", "clear"),
    "tree": ("", "all", "user-only", "nothing"),
}
"""Arguments of commands; one that is not here is tried without."""

LEAVING = ("compact", "fork", "clone", "resume", "import", "new")
"""Commands after which the session is another one: they come after all others."""

LAST = "quit"
"""The command that ends the program."""

_ROW = re.compile(r"^ ?/(?P<name>[\w:.-]+) {2,}(?P<description>\S.*)$|^ ?/(?P<long>[\w:.-]{14,}) (?P<about>\S.*)$")
_WITH_ARGUMENTS = re.compile(r"/(?P<name>\S+) \[?[A-Z]{2}")

LEAST = 25
"""Fewer commands than any front end has."""

TALL = (120, 200)
"""Columns and rows in which all commands fit."""

_BUGS = re.compile(
    r"unexpected\s+\w*(?:Error|Exception|Group|Exit)\b|Traceback\s+\(most\s+recent"
    r"|has\s+no\s+attribute|NoneType|is\s+not\s+defined|object\s+at\s+0x",
    re.IGNORECASE,
)
"""What no screen and no output may say; a change log may speak of tracebacks."""


def commands_of(help_text: str) -> dict[str, str]:
    """Return the descriptions of the commands in the text of ``/help``, by name."""
    rows = (_ROW.match(line) for line in help_text.splitlines())
    return {row["name"] or row["long"]: row["description"] or row["about"] for row in rows if row is not None}


def lines_of(names: list[str], session: str) -> list[str]:
    """Return what is typed for each command, all its arguments, but for the last one."""
    staying = [name for name in names if name not in LEAVING and name != LAST]
    leaving = [name for name in LEAVING if name in names]
    return [*_lines(staying), "!echo tide", "!!echo tide", "/nothing-like-it", *_lines(leaving, session=session)]


def _lines(names: list[str], **values: str) -> list[str]:
    return [f"/{name} {argument.format(**values)}".strip() for name in names for argument in ARGUMENTS.get(name, ("",))]


def without_arguments(commands: dict[str, str]) -> set[str]:
    """Return the commands whose description names an argument for which the matrix has none."""
    named = {match["name"] for text in commands.values() for match in _WITH_ARGUMENTS.finditer(text)}
    return {name for name in named & commands.keys() if not any(ARGUMENTS.get(name, ()))}


def said(text: str) -> list[str]:
    """Return which of the words that may not be said a text has."""
    return _BUGS.findall(text)
