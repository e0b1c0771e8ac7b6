"""What is said: before calls, what is going to be done; after them, what came of every request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_provider_offline._outcomes import (
    Counts,
    Entries,
    Failed,
    FileCounts,
    Lines,
    Missing,
    Outcome,
    Outline,
    Output,
    Replaced,
    Said,
    Written,
)
from pi_provider_offline._requests import (
    CountFiles,
    FindFiles,
    Help,
    ListFiles,
    ReadEnd,
    ReadFile,
    Request,
    Run,
    SearchText,
    Unclear,
    Unknown,
    code,
    files_in,
    joined,
    line_range,
    lines,
    quoted,
    within,
)
from pi_provider_offline._steps import count_lines
from pi_provider_offline._summary import outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_provider_offline._plan import Planned

LABEL = "offline/rules is a rule-based stand-in, not a language model"

SIGNATURE = f"({LABEL}.)"
"""Closes every answer, so that nobody takes it for a model's."""

ABILITIES = (
    "I can list files, read a file or some lines of it, find files by name, search for a text, count words, lines, "
    "characters or files, run a command (run `cmd`), write a file (write FILE: text), replace text in a file "
    "(replace A with B in FILE) and summarise a file by its headings. Names with spaces go in quotation marks."
)


def thoughts(planned: Sequence[Planned]) -> str:
    """Return the short thinking block: what was recognised and what comes next."""
    calls = [each.call.tool for each in planned if each.call is not None]
    known = [each for each in planned if not isinstance(each.request, Unknown | Unclear)]
    done = sum(each.outcome is not None for each in known)
    todo = f"Next: {', '.join(calls)}." if calls else "Now I answer."
    return f"({LABEL}.) {_number(len(known), 'request')} recognised, {done} done. {todo}"


def announcement(planned: Sequence[Planned]) -> str:
    """Return what is said before calls."""
    return f"I will {joined([str(each.request) for each in planned if each.call is not None])}."


def answer(planned: Sequence[Planned], images: int = 0, *, silent: bool = False) -> str:
    """Return the final answer: a paragraph per request, then what was not understood, then the label."""
    parts = [_part(each.request, each.outcome) for each in planned if each.outcome and each.request != Help()]
    parts += _not_understood([each.request for each in planned])
    if images:
        parts.append(f"I cannot look at the {_number(images, 'image')} that came with your message.")
    if not planned:
        parts.append(
            f"I found no request in your message. {ABILITIES}" if silent else f"There is no open request. {ABILITIES}"
        )
    elif Help() in [each.request for each in planned]:
        parts.append(ABILITIES)
    return "\n\n".join(part for part in [*parts, SIGNATURE] if part)


def _not_understood(requests: Iterable[Request]) -> list[str]:
    texts = list(dict.fromkeys(request.text for request in requests if isinstance(request, Unknown)))
    if not texts:
        return []
    shown = [quoted(text) for text in texts[:_MOST_QUOTED]]
    if len(texts) > _MOST_QUOTED:
        shown.append(_number(len(texts) - _MOST_QUOTED, "other passage"))
    return [f"I did not understand {joined(shown)}: I am a rule-based stand-in, not a language model. {ABILITIES}"]


_MOST_QUOTED = 5


def _part(request: Request, outcome: Outcome) -> str:  # noqa: C901, PLR0911 - one case per kind of outcome
    """Return the paragraph on one request."""
    match outcome:
        case Failed(why):
            return _failed(request, why)
        case Missing(needs):
            sets = " or ".join(" and ".join(f"`{name}`" for name in names) for names in needs)
            return f"I cannot {request}: none of the tools I was given can do it (needs {sets})."
        case Lines():
            return _lines(request, outcome)
        case Entries():
            return _entries(request, outcome)
        case Counts(numbers):
            found = joined([_number(number, unit.removesuffix("s")) for unit, number in numbers.items()])
            return f"{_path(request)} has {found}."
        case FileCounts():
            return _file_counts(request, outcome)
        case Output():
            return _output(request, outcome)
        case Written(line_count, characters):
            return f"Wrote {_path(request)} ({_number(line_count, 'line')}, {_number(characters, 'character')})."
        case Replaced(times):
            return f"Replaced {_number(times, 'occurrence')}: {str(request).removeprefix('replace ')}."
        case Outline(text, rest):
            return outline(_path(request), text, rest)
        case Said():
            return _said(request)


def _said(request: Request) -> str:
    if isinstance(request, Unclear):
        return f"I cannot tell which file you mean in {quoted(request.text)}: no file was named before."
    return ""


def _failed(request: Request, why: str) -> str:
    text = why.strip() or "no reason was given"
    if "\n" in text:
        return f"I could not {request}:\n{fence(text)}"
    return f"I could not {request}: {text if text.endswith(('.', '!', '?', ']', ')')) else text + '.'}"


def _lines(request: Request, found: Lines) -> str:
    """Return the shown lines under a heading that says which they are."""
    path = _path(request)
    number = count_lines(found.text)
    if found.first == 1 and not found.text:
        return f"{path} is empty."
    heading = f"{path}:"
    match request:
        case ReadFile(_, 1, int(count)):
            short = found.rest is None and number < count
            heading = f"{path} has only {_number(number, 'line')}:" if short else f"The first {lines(count)} of {path}:"
        case ReadFile(_, first, count) if first > 1:
            if not found.text:
                return f"{path} has nothing from line {first} on."
            heading = f"{path}, {line_range(first, count)}:" if count else f"{path} from line {first} on:"
        case ReadEnd(_, count):
            if not found.text:
                return f"{path} is empty."
            heading = f"The last {lines(count)} of {path}:"
    return "\n".join(part for part in (_capitalised(heading), fence(found.text), found.rest or "") if part)


def _entries(request: Request, found: Entries) -> str:
    number = len(found.names)
    match request:
        case ListFiles(folder):
            if not number:
                return f"{_capitalised('this folder' if folder == '.' else folder)} is empty."
            heading = f"{_capitalised(files_in(folder))} ({_number(number, 'entry')}):"
        case FindFiles(pattern, folder):
            if not number:
                return f"No files match {code(pattern)} {within(folder)}."
            heading = f"{_number(number, 'match')} for {code(pattern)} {within(folder)}:"
        case SearchText(text):
            if not number:
                return f"No matches for {code(text)} {request.place}."
            heading = f"{_number(number, 'match')} for {code(text)} {request.place}:"
        case _:
            heading = f"{_capitalised(str(request))}:"
    notice = f"There may be more: {found.notice.rstrip('.')}." if found.notice else ""
    return "\n".join(part for part in (heading, fence("\n".join(found.names)), notice) if part)


def _file_counts(request: Request, found: FileCounts) -> str:
    least = "at least " if found.at_least else ""
    files = _number(found.files, "file")
    if isinstance(request, CountFiles) and request.pattern is not None:
        matching = f"{'matches' if found.files == 1 else 'match'} {code(request.pattern)} {within(request.folder)}"
        return f"{_capitalised(least)}{files} {matching}."
    place = "This folder" if not isinstance(request, CountFiles) or request.folder == "." else request.folder
    return f"{place} has {least}{files} and {_number(found.folders, 'folder')}."


_EXIT = re.compile(r"(?:\n\n)?Command exited with code (\d+)\s*\Z")


def _output(request: Request, found: Output) -> str:
    command = code(request.command) if isinstance(request, Run) else str(request)
    exit_code = _EXIT.search(found.text) if found.failed else None
    if found.failed and exit_code is None:
        return _failed(request, found.text)
    text = found.text if exit_code is None else found.text[: exit_code.start()]
    heading = f"{command} failed with exit code {exit_code[1]}" if exit_code else f"{command} ran"
    if text.strip() in ("", "(no output)"):
        return f"{heading} and printed nothing."
    return f"{heading}; its output:\n{fence(text)}"


def fence(text: str) -> str:
    """Return a text as a Markdown code block, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    bar = "`" * (longest + 1)
    return f"{bar}\n{text.removesuffix(chr(10))}\n{bar}"


def _path(request: Request) -> str:
    path: str = getattr(request, "path", "")
    return path


def _capitalised(text: str) -> str:
    """Return a text with a capital first, unless it begins with a name."""
    return text[:1].upper() + text[1:] if text.startswith(("the ", "this ", "at ", "read ", "list ")) else text


_PLURALS = {"entry": "entries", "match": "matches"}


def _number(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else _PLURALS.get(noun, noun + 's')}"
