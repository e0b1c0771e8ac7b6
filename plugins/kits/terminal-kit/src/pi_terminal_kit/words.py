"""Words that terminal front ends use alike: durations, ages, tokens, sessions, results, paths; and their widths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "age",
    "compacted",
    "count",
    "duration",
    "fitting",
    "is_path",
    "path_end",
    "session_title",
    "tokens",
    "width_of",
]

_AGES = (("y", 365 * 86_400), ("mo", 30 * 86_400), ("w", 7 * 86_400), ("d", 86_400), ("h", 3600), ("m", 60))

_ATTACHED = re.compile(r'<file name="([^"\n]*)">.*?(?:</file>|\Z)', re.DOTALL)
"""A file in the text of a message; the last one is cut off if the text is."""

_TITLE = 80
"""Characters of a message that name its session."""

_SENTENCE = re.compile(r".{9,79}?(?:[.!?](?= )|[。！？])")  # noqa: RUF001 - full stops of other languages
"""The first sentence of a message, if it can be its title; what is shorter says too little."""

_FENCE = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?(?:^ *\1`* *$|\Z)", re.DOTALL | re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_PROGRAM = re.compile(
    r"[-+](?=[^ ]|$)|@@|[{}\[\]<>|$=]|diff --git|index [0-9a-f]{6}|Traceback \(|File \"|\w*(?:Error|Exception)\b"
    r"|\d{2,4}[-:/]\d\d|\d+[:|]|at \S+\(| {4}|\t"
)
"""How lines begin that programs write: differences, logs, reports of errors, JSON, code."""

_CHANGED_FILE = re.compile(r"^diff --git a/(\S+)|^\+\+\+ b/(\S+)", re.MULTILINE)
_MOST_READ, _MOST_FILES = 20_000, 3

_MINUTE, _HOUR = 60, 3600


def count(number: int, thing: str) -> str:
    """Return a number of things: ``1 message``, ``1,200 messages``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(milliseconds: int) -> str:
    """Return a formatted duration: ``0.004 s``, ``0.3 s``, ``3.4 s``, ``2 min 5 s``, ``1 h 2 min``."""
    if milliseconds < 100:  # noqa: PLR2004 - one digit after the point would say nothing
        return f"{milliseconds / 1000:g} s"
    if milliseconds < _MINUTE * 1000:
        return f"{milliseconds / 1000:.1f} s"
    seconds = milliseconds // 1000
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min {seconds % _MINUTE} s"
    return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE} min"


def tokens(number: int) -> str:
    """Return a number of tokens in a short form: ``600``, ``1.5k``, ``200k``, ``1.5M`` or ``12M``."""
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number // size if number >= 10 * size else f'{number / size:.1f}'.removesuffix('.0')}{unit}"
    return str(number)


def age(seconds: float) -> str:
    """Return a time that has passed in one unit, such as ``now``, ``5m`` or ``2d``."""
    return next((f"{int(seconds // each)}{unit}" for unit, each in _AGES if seconds >= each), "now")


def session_title(name: str | None, first_message: str) -> str:
    """Return what a stored session is called in a list, on one line: its name, or else its first message.

    Of files that were attached to the message, the list has the names alone; of code and of what a program has
    written, nothing if the message says something beside it. A long message is cut after its first sentence, or else
    between words.
    """
    if name:
        return " ".join(name.split()) or "(no messages)"
    words = " ".join(_request(_ATTACHED.sub(_name_of_file, first_message)).split())
    if len(words) <= _TITLE:
        return words or "(no messages)"
    end = _SENTENCE.match(words)
    if end is not None:
        return end[0]
    cut = words[:_TITLE].rpartition(" ")[0]  # empty for a language that has no spaces
    return f"{cut or words[: _TITLE - 1]}…"


def _request(message: str) -> str:
    """Return the first paragraph that a person has written; the whole message if none looks like that."""
    if "\n" not in message.strip():
        return message
    beginning = message[:_MOST_READ]
    for paragraph in _PARAGRAPHS.split(_FENCE.sub("\n\n", beginning)):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if lines and 2 * sum(_PROGRAM.match(line) is not None for line in lines) < len(lines):
            return paragraph
    changed = [*dict.fromkeys(one or other for one, other in _CHANGED_FILE.findall(beginning))]
    if not changed:
        return message
    more = len(changed) - _MOST_FILES
    return f"Changes of {', '.join(changed[:_MOST_FILES])}{f' and {more} more' if more > 0 else ''}"


def _name_of_file(found: re.Match[str]) -> str:
    return f"@{found[1].replace(chr(92), '/').rpartition('/')[2]} "


def compacted(tokens: int, after: int | None = None) -> str:
    """Return the headline of a compaction, by the number of tokens before it and, where it is known, after it."""
    numbers = count(tokens, "token") if after is None else f"{tokens:,} to {count(after, 'token')}"
    return f"Compacted from {numbers}"


def width_of(text: str) -> int:
    """Return the number of columns of a line at a terminal; control characters have none."""
    if text.isascii() and text.isprintable():
        return len(text)
    from wcwidth import width  # 8 ms

    return width(text, control_codes="ignore")


def fitting(text: str, columns: int) -> int:
    """Return how many characters of a line fit into so many columns, without the half of a picture or a letter."""
    if text.isascii() and text.isprintable():
        return max(min(len(text), columns), 0)
    from wcwidth import iter_graphemes

    length = 0
    for cluster in iter_graphemes(text):
        columns -= width_of(cluster)
        if columns < 0:
            break
        length += len(cluster)
    return length


def is_path(text: str) -> bool:
    """Whether a text looks like an absolute path, or one below the home folder."""
    return text.startswith(("/", "~/"))


def path_end(path: str, width: int, cells: Callable[[str], int] = len) -> str:
    """Return the end of a path, which distinguishes it from others, after a mark where it was cut.

    It begins at a folder, unless the last name alone is too long.

    Args:
        path: The path, on one line.
        width: The most cells that the result has.
        cells: Returns the number of cells of a text.
    """
    if cells(path) <= width:
        return path
    place = 0
    while (place := path.find("/", place + 1)) > 0:
        if cells(end := f"…{path[place:]}") <= width:
            return end
    end = path[path.rfind("/") + 1 :]
    while end and cells(end) >= width:
        end = end[1:]
    return f"…{end}" if width > 0 else ""
