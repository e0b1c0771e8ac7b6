"""The parameters of the available tools, and the interpretation of their results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_hookspecs import Tool


@frozen(eq=False)
class Call:
    """A tool call to make."""

    tool: str
    arguments: dict[str, Any]


class Failed(Exception):
    """A request that cannot be done; the message is the reason."""


class Toolbox:
    """The tools of a request by name; one of the right name that takes other arguments counts as missing."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._schemas: dict[str, Mapping[str, Any]] = {tool.name: tool.parameters or {} for tool in tools}

    def call(self, name: str, **arguments: Any) -> Call | None:
        """Return a call of a tool with the arguments that are not None; None if it cannot be called so."""
        schema = self._schemas.get(name)
        if schema is None:
            return None
        given = {key: value for key, value in arguments.items() if value is not None}
        known, required = schema.get("properties"), schema.get("required") or ()
        fits = (not known or set(given) <= set(known)) and set(required) <= set(given)
        return Call(name, given) if fits else None

    def named(self, name: str, arguments: dict[str, Any]) -> Call:
        """Return the call that the user asks for, with whatever arguments; raises ``Failed`` without such a tool."""
        if name not in self._schemas:
            known = ", ".join(f"`{each}`" for each in self._schemas) or "none"
            raise Failed(f"I was given no such tool (I have {known})")
        return Call(name, arguments)

    def first(self, **arguments: Mapping[str, Any]) -> Call:
        """Return the first call that can be made, of the arguments by tool; raises ``Failed`` where none can."""
        for name, given in arguments.items():
            call = self.call(name, **given)
            if call is not None:
                return call
        names = " or ".join(f"`{name}`" for name in arguments)
        raise Failed(f"none of the tools I was given can do it (needs {names})")


@frozen
class Reply:
    """The result of a call: its text, and whether it failed."""

    text: str
    is_error: bool = False

    def output(self) -> str:
        """Return the text of a call that succeeded; raises ``Failed`` for any other."""
        if self.is_error:
            raise Failed(self.text)
        return self.text


@frozen
class Page:
    """Lines of a file as ``read`` showed them; ``next_line`` is the next one's number, None at the end."""

    text: str
    next_line: int | None = None


_GOES_ON = re.compile(r"\n\n\[(?:Showing lines [^\n]*|\d+ more lines in file\. )Use offset=(\d+) to continue\.\]\Z")
_NO_TEXT = re.compile(r"\[?(?:Read image|Binary|Image) file\b|\[Line \d+ is [^\n]+ exceeds ", re.IGNORECASE)
_LIMIT = re.compile(r"(?:\A|\n\n)\[(?P<notice>[^\n]*(?:limit reached|truncated to|Full output:)[^\n]*)\]\Z")
_NOTHING = ("", "(empty directory)", "(no output)", "No files found matching pattern", "No matches found")


def page_of(reply: Reply) -> Page:
    """Return what one call of ``read`` showed; raises ``Failed`` for what is not text."""
    text = reply.output()
    if _NO_TEXT.match(text):
        raise Failed(f"it cannot be shown as text ({text.strip('[]').partition(chr(10))[0]})")
    notice = _GOES_ON.search(text)
    return Page(text) if notice is None else Page(text[: notice.start()] + "\n", int(notice[1]))


def listing_of(reply: Reply) -> tuple[list[str], str]:
    """Return the lines of a listing, and the tool's notice that there are more; empty if there is none."""
    text = reply.output()
    cut = _LIMIT.search(text)
    if cut is not None:
        text = text[: cut.start()]
    lines = [] if text.strip() in _NOTHING else [line.removeprefix("./") for line in text.split("\n") if line]
    return lines, f"There may be more: {cut['notice'].rstrip('.')}." if cut is not None else ""
