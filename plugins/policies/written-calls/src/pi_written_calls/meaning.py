"""Decides whether a text means a call, or quotes, explains, repeats or refuses one.

A text means a call if it is nothing else, or if all that stands before the call announces it: "I will list the files."
Whatever a model explains, quotes or refuses has other words before it, words after it, or stands in a fence, a list
or a quotation. And a call that stands in a message of the user or in the result of a tool, a file for example, is
repeated from there.
"""

# ruff: noqa: RUF001 - models write typographic apostrophes

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_provider_kit import CallForm, known_call_forms, misfit, opening_of, read_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Meaning", "Written", "announces", "can_announce"]


@frozen
class Written:
    """Calls in a text.

    Attributes:
        calls: Names and arguments.
        before: The text before the calls.
        after: The text after them.
        problem: Why they are no calls that can run, as a sentence for the model; None if they can.
    """

    calls: list[tuple[str, dict[str, Any]]]
    before: str = ""
    after: str = ""
    problem: str | None = None


@frozen
class Meaning:
    """Reads texts for one request.

    Attributes:
        tools: The names of the offered tools, with the JSON schemas of their arguments.
        near: Whether the model runs on a computer of the user: elsewhere only unmistakable marks count.
        others: Returns the texts of the user and of tools in the conversation, which the model may repeat.
    """

    tools: Mapping[str, Any]
    near: bool
    others: Callable[[], Iterable[str]]

    def find(self, text: str) -> Written | None:
        """Return what a text means; None if it is a text.

        Calls with a ``problem`` are meant as calls, and cannot run.
        """
        found = self._find(text)
        if found is None:
            return None
        region = text[len(found.before) : len(text) - len(found.after)]
        return None if _is_in(region, self.others()) else found

    def opening(self, text: str, before: str) -> str:
        """Return whether a call may begin here: ``yes``, ``maybe`` if more of the text has to be known, or ``no``.

        Args:
            text: The text from the beginning of a line on.
            before: The text before it.
        """
        begin = text.lstrip()
        if self.near and begin and "```".startswith(begin):
            return "maybe"
        if self.near and begin.startswith("```"):
            return self._fence_opening(begin)
        forms = self._forms(alone=not before.strip())
        return opening_of(text, self.tools, forms) if _indent(text) <= _MOST_INDENT else "no"

    def _fence_opening(self, text: str) -> str:
        label, newline, inner = text.removeprefix("```").partition("\n")
        if not newline:
            return "maybe" if any(each.startswith(label.strip()) for each in _LABELS) else "no"
        if label.strip() not in _LABELS:
            return "no"
        if label.strip() == "tool_code":
            return "yes"
        return opening_of(inner, self.tools, _in_fences())

    def _forms(self, *, alone: bool) -> list[CallForm]:
        return [form for form in known_call_forms() if (self.near or form.sure) and (alone or not form.alone)]

    def _find(self, text: str) -> Written | None:
        thought = _thought(text)
        start = len(thought)
        for at in _line_starts(text, start):
            before = text[start:at]
            if before.strip() and not can_announce(before):
                return None
            region = text[at:]
            opening = self.opening(region, before)
            if opening == "no" or not region.strip() or not announces(before):
                continue
            found = self._calls_in(region, is_all=not before.strip())
            if found is not None:
                return Written(found.calls, text[:at], found.after, found.problem)
            if opening == "yes":
                return Written([], text[:at], problem=_CUT) if self._is_cut(region) else None
        return None

    def _is_cut(self, region: str) -> bool:
        """Return whether a text begins as only a call does."""
        if opening_of(region, self.tools, self._forms(alone=False)) == "yes":
            return True
        call = _BEGUN.match(region.strip()) if self.near else None
        return call is not None and call["name"] in self.tools

    def _calls_in(self, region: str, *, is_all: bool) -> Written | None:
        fence = _FENCE.fullmatch(region.strip()) if self.near else None
        if fence is not None:
            fenced = (_TOOL_CODE,) if fence["label"] == "tool_code" else _in_fences()
            calls = read_calls(fence["inner"], self.tools, fenced)
            return self._checked(calls) if calls and len(calls) == 1 else None
        forms = self._forms(alone=is_all)
        calls = read_calls(region, self.tools, forms)
        if calls:
            return self._checked(calls)
        text, after = _without_wait(region)
        calls = read_calls(text, self.tools, self._forms(alone=False)) if after else None
        return self._checked(calls, after) if calls else None

    def _checked(self, calls: list[tuple[str, dict[str, Any]]], after: str = "") -> Written:
        return Written(calls, after=after, problem=self._problem(calls))

    def _problem(self, calls: list[tuple[str, dict[str, Any]]]) -> str | None:
        for name, arguments in calls:
            if name not in self.tools:
                return f"there is no tool {name!r}"
            wrong = misfit(arguments, self.tools[name])
            if wrong is not None:
                return f"the call of {name!r} is wrong: {wrong}"
        return None


_LABELS = ("", "json", "tool_call", "tool_code")
_FENCE = re.compile(r"```(?P<label>json|tool_call|tool_code|)[ \t]*\n(?P<inner>(?:(?!```).)*?)\n?[ \t]*```", re.DOTALL)
_TOOL_CODE = CallForm(id="tool-code", models="Gemma 3", body=("python",), alone=True, offered=True)
_BEGUN = re.compile(
    r"(?:```(?:json|tool_call)?\s*)?\{\s*\"name\"\s*:\s*\"(?P<name>[\w.-]+)\"\s*,\s*\"(?:arguments|parameters)\"\s*:\s*\{"
)
_CUT = "the call is incomplete, or its form is wrong"
_MOST_INDENT = 3
"""Columns; more is a block of code in Markdown."""


def _in_fences() -> tuple[CallForm, ...]:
    return tuple(form for form in known_call_forms() if form.id == "json")


def _indent(text: str) -> int:
    line = text.lstrip("\n")
    return len(line) - len(line.lstrip(" \t"))


def _thought(text: str) -> str:
    """Return the thinking at the beginning of a text, which some servers leave there."""
    begin = text.lstrip()
    if not begin.startswith("<think>"):
        return ""
    end = text.find("</think>")
    return "" if end < 0 else text[: end + len("</think>")]


def _line_starts(text: str, start: int) -> Iterable[int]:
    yield start
    at = start + len(text[start:]) - len(text[start:].lstrip())
    while (at := text.find("\n", at)) >= 0:
        at += 1
        if at < len(text) and text[at] != "\n":
            yield at


# Announcements

_LONGEST = 600
"""Characters of an announcement."""

_STARTS = (
    r"(?:ok(?:ay)?|sure|certainly|great|alright|all right|right|good|yes|now|next|first(?:ly)?|second(?:ly)?|then|so"
    r"|also|finally|of course|to begin|to start)[,.!:]?\s+"
)
_INTENT = re.compile(
    rf"(?:{_STARTS})*(?:(?:to|in order to)\s[^.!?\n]{{1,160}}?,\s+(?:{_STARTS})*)?"
    r"(?:i(?:['’]ll|\s+will|['’]m\s+going\s+to|\s+am\s+going\s+to|\s+need\s+to|\s+have\s+to|\s+should|\s+can)"
    r"|we(?:['’]ll|\s+will|\s+need\s+to|\s+have\s+to|\s+should|\s+can|\s+are\s+going\s+to)"
    r"|let\s+me(?!\s+know)|let['’]?s|let\s+us"
    r"|(?:reading|running|listing|checking|looking|searching|opening|editing|creating|writing|updating|fixing|calling"
    r"|using))\b",
    re.IGNORECASE,
)
"""How a sentence begins that says what the model does next."""

_OTHERWISE = re.compile(
    r"""(?ix)\b(?: no | not | never | cannot | \w+n['’]t | nothing | neither | refus\w+ | declin\w+ | avoid\w* | against
        | stop\w* | skip\w* | without | unless | instead | rather | example\w* | e\.g | sample\w* | syntax | notation
        | forms? | format\w* | template\w* | looks | look\s+like | like\s+(?:this|so|that)
        | following\s+(?:text|form|lines?|contents?|output) | would | could | might | may | had | if | document\w*
        | docs? | quot\w+ | cit\w+ | says? | said | wrote | written | writes | contains? | contained | ends? | begins
        | literal\w* | verbatim | repeat\w* | copy | copied | paste\w* | echo\w* | assistant | the\s+model | the\s+user
        | attacker\w* | inject\w* | malicious | danger\w* | unsafe | harm\w* | destructive | pretend | imagin\w*
        | suppos\w* | hypothe\w* | explain\w* | show\w* | demonstrat\w* | illustrat\w* | describ\w* | schema | tags?
        | mean\w* | discuss\w* | mention\w* | previous\w* | earlier | translat\w* | warn\w* | only\s+after
        | before\s+(?:i|we) | once | until | confirm\w* | permission | approv\w* | allow\w* | ask\w*
        | you(?:['’]?r?e?)? | your )\b""",
)
"""Words of texts that explain, quote, refuse or ask, rather than announce."""

_MARKUP = re.compile(r"(?m)^\s*(?:[>#|*+-]|\d+[.)]|```|~~~|<|\{|\[)|[\"“”„«»]|^(?: {4}|\t)")
"""Lists, quotations, headings, code and quotation marks."""


def can_announce(before: str) -> bool:
    """Return whether a text can be, or become, the announcement of a call."""
    text = _FOR_YOU.sub("", before)
    return len(before) <= _LONGEST and not _MARKUP.search(text) and not _OTHERWISE.search(text)


def announces(before: str) -> bool:
    """Return whether a text announces the call that follows it; an empty one does."""
    text = before.strip()
    if not text:
        return True
    last = re.split(r"(?<=[.!?])\s+|\n+", text)[-1]
    return can_announce(before) and _INTENT.match(last) is not None


_FOR_YOU = re.compile(r"(?i)\bfor you\b")

_WAIT = re.compile(
    r"(?i)(?:now,?\s+|then,?\s+)?(?:i(?:['’]ll|\s+will|['’]m|\s+am)?|let\s+me|let['’]s|we(?:['’]ll|\s+will)?)?\s*"
    r"(?:now\s+)?wait(?:ing)?\b[^\n<`{]{0,120}"
)
"""The only text that may follow a call: models say that they wait for the result."""


def _without_wait(region: str) -> tuple[str, str]:
    """Return a region without a last line that says that the model waits, and that line with the space before it."""
    stripped = region.rstrip()
    cut = stripped.rfind("\n")
    line = stripped[cut + 1 :]
    if cut < 0 or not _WAIT.fullmatch(line.strip()) or _OTHERWISE.search(_FOR_YOU.sub("", line)):
        return region, ""
    return region[:cut], region[cut:]


# Repeated texts


def _is_in(region: str, others: Iterable[str]) -> bool:
    """Return whether a text occurs in others, however it is wrapped, indented or escaped there."""
    wanted = _core(region)
    return bool(wanted) and any(wanted in _core(each) for each in others)


def _core(text: str) -> str:
    fence = _FENCE.fullmatch(text.strip())
    return re.sub(r"[\s\\]+", "", fence["inner"] if fence is not None else text)
