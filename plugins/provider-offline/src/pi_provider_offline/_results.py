"""What the texts of tool results mean: which part is content, which is a tool's own notice (pi.md 6.3).

A notice counts as one only where it agrees with the text before it, so that a file that quotes such a line is not cut.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from pi_hookspecs import ToolResultMessage

NO_OUTPUT = "(no output)"
"""What bash answers for a command that printed nothing."""

_SHOWING = re.compile(
    r"\n\n\[Showing lines (?P<first>\d+)-(?P<last>\d+)(?: of (?P<total>\d+))?(?: \([^()]+ limit\))?\."
    r"(?: More lines follow\.)? Use offset=(?P<next>\d+) to continue\.\]\Z"
)
_MORE = re.compile(r"\n\n\[(?P<more>\d+) more lines in file\. Use offset=(?P<next>\d+) to continue\.\]\Z")
_TOO_BIG = re.compile(r"\[(?P<what>Line \d+ is [^,\n]+, exceeds [^,\n]+ limit)\. Use bash: [^\n]*\]\Z")
_NOT_TEXT = re.compile(r"\[?(?:Read image|Binary|Image) file\b[^\n]{0,300}(?:\n\[[^\n]*\])*\Z", re.IGNORECASE)
_TAIL_ONLY = re.compile(
    r"(?:\A|\n\n)\[Showing (?:lines \d+-\d+ of \d+|last [^\n]{1,80} of line \d+)[^\n]*Full output: [^\n]*\]\Z"
)
_LIMIT = re.compile(r"(?:\A|\n\n)\[(?P<notice>[^\n]*(?:limit reached|truncated to)[^\n]*)\]\Z")


@frozen
class Reply:
    """A tool's result as the rules look at it."""

    text: str
    is_error: bool = False
    has_image: bool = False

    @classmethod
    def of(cls, message: ToolResultMessage) -> Reply:
        """Return the text of a result message, and whether an image came with it."""
        image = any(getattr(block, "type", "") == "image" for block in message.content)
        return cls(message.text, message.is_error, image)


@frozen
class Chunk:
    """What one call of ``read`` showed of a file.

    Attributes:
        text: The lines, without a notice.
        next_line: Where the file goes on; None at its end.
        total: Lines of the file as read counts them: the piece after the last line end is one too, empty or not.
    """

    text: str
    next_line: int | None = None
    total: int | None = None


@frozen
class NotText:
    """What cannot be read as text, and why, in the tool's words."""

    why: str


def chunk_of(reply: Reply, first: int) -> Chunk | NotText:
    """Split a result of ``read`` with ``offset=first`` into content and notice."""
    text = reply.text
    if reply.has_image or _NOT_TEXT.match(text):
        return NotText(text.strip("[]\n").partition("\n")[0])
    if too_big := _TOO_BIG.match(text):
        return NotText(too_big["what"])
    if match := _SHOWING.search(text):
        body = text[: match.start()]
        start, last, after = int(match["first"]), int(match["last"]), int(match["next"])
        if start == first and body.count("\n") == last - start and after == last + 1:
            return Chunk(body, after, int(match["total"]) if match["total"] else None)
    elif match := _MORE.search(text):
        body, after = text[: match.start()], int(match["next"])
        if body.count("\n") + 1 == after - first or (after == first and not body):
            return Chunk(body, after, after - 1 + int(match["more"]))
    return Chunk(text)


def output_of(reply: Reply) -> tuple[str, bool]:
    """Return what a command printed, and whether that is all: long output is cut to its end."""
    cut = _TAIL_ONLY.search(reply.text)
    if cut is not None:
        return reply.text[: cut.start()], False
    return "" if reply.text.strip() == NO_OUTPUT else reply.text, True


def entries_of(reply: Reply, nothing: str) -> tuple[tuple[str, ...], str | None]:
    """Return the lines of a listing and the notice that it was cut, if any; ``nothing`` is the text of an empty one."""
    text, notice = reply.text, None
    if match := _LIMIT.search(text):
        text, notice = text[: match.start()], match["notice"]
    if text.strip() in ("", nothing, NO_OUTPUT):
        return (), notice
    return tuple(line for line in text.split("\n") if line), notice
