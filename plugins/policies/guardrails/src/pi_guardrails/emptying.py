"""Commands that empty a file: a redirection of nothing, a copy of ``/dev/null``, a deletion of every line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails.files import written_files
from pi_guardrails.sed import sed_operands, sed_programs
from pi_guardrails.words import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_guardrails.call import Call
    from pi_guardrails.script import Redirect

__all__ = ["emptied_by", "is_emptying"]

_NOTHING = frozenset({"/dev/null"})
_ENDLESS = frozenset({"/dev/zero", "/dev/urandom", "/dev/random"})
"""They also make new files of a size."""

_EVERY_LINE = re.compile(r"(1,\$|0,\$|//!?|/\.?\*?/|/\^/|)\s*d|(1,\$|)\s*s/\.\*//g?|Q|q0?;?d?|1,\$\s*c.?")
_WRITES_NOTHING = frozenset({":", "true", "false"})
_PRINTS_NOTHING = frozenset({"echo -n", "echo -ne", "printf", "printf %s"})
_SILENT = re.compile(r"\s*(:|true|cat /dev/null|echo -n|printf ''|printf \"\")\s*")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-p")


def is_emptying(redirect: Redirect) -> bool:
    """Return whether a redirection replaces a file by nothing: ``> file``, ``: > file``, ``cat /dev/null > file``."""
    if not re.match(r"[0-9]?>(?!>)", redirect.source) or redirect.target.text.startswith("/dev/"):
        return False
    writer = redirect.writer
    if writer is None:
        return redirect.statement.strip() == redirect.source.strip()
    words = [word.text for word in writer.words]
    if writer.piped or writer.stdin or not words:
        return False
    if words[0] == "cat":
        sources = {*words[1:], *(word.text for word in writer.reads)}
        return bool(sources) and sources <= _NOTHING
    return words[0] in _WRITES_NOTHING or " ".join(words).strip() in _PRINTS_NOTHING


def emptied_by(call: Call) -> Iterator[Word]:
    """Yield the files that a program empties."""
    judge = _EMPTIED.get(call.name)
    if judge is not None:
        yield from judge(call)


def _copied(call: Call) -> Iterator[Word]:
    operands = call.operands
    if operands and operands[0].text in _NOTHING:
        yield from operands[1:]


def _teed(call: Call) -> Iterator[Word]:
    if call.has_letter("a") or call.has_long("--app"):
        return
    feeds = call.command.feeds
    if any(word.text in _NOTHING for word in call.command.reads) or any(_SILENT.fullmatch(each) for each in feeds):
        yield from call.operands


def _dd(call: Call) -> Iterator[Word]:
    values = dict(word.text.split("=", 1) for word in call.arguments if "=" in word.text)
    for word in (Word(word.text[3:], word.source) for word in call.arguments if word.text.startswith("of=")):
        is_empty = values.get("if") in _NOTHING or values.get("count") == "0"
        if is_empty or (values.get("if") in _ENDLESS and (call.places.size(word.text) or 0) > 0):
            yield word


def _edited(call: Call) -> Iterator[Word]:
    silent = any(re.match(r"-[a-zA-Z]*n|--quiet|--silent", word.text) for word in call.arguments)
    if any(_IN_PLACE.match(word.text) for word in call.arguments) and any(
        silent or _EVERY_LINE.fullmatch(program.strip()) for program in sed_programs(call.arguments)
    ):
        yield from sed_operands(call.arguments)


def _sorted(call: Call) -> Iterator[Word]:
    if any(word.text in _NOTHING for word in call.operands):
        yield from written_files("sort", call.arguments)


_EMPTIED: dict[str, Callable[[Call], Iterator[Word]]] = {
    **dict.fromkeys(("cp", "install", "ln"), _copied),
    "dd": _dd,
    "sed": _edited,
    "sort": _sorted,
    "tee": _teed,
}
