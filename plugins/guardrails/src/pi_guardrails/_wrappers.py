"""Programs that start the program named in their arguments: ``sudo``, ``env``, ``xargs`` and their like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from pi_guardrails._words import UNKNOWN, Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["WRAPPERS", "Wrapper", "commands_of_find", "inner_commands"]

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@frozen
class Wrapper:
    """How a program's own arguments end and the inner command begins.

    Attributes:
        flags: Letters of its options without a value.
        values: Letters of its options with one.
        operands: How many arguments come before the command.
        assigns: Whether ``NAME=value`` may come before it.
        adds: Whether it adds arguments that nobody knows yet.
        text: Whether the rest is one text for a shell.
    """

    flags: str = ""
    values: str = ""
    operands: int = 0
    assigns: bool = False
    adds: bool = False
    text: bool = False


WRAPPERS: dict[str, Wrapper] = {
    "busybox": Wrapper(),
    "builtin": Wrapper(),
    "caffeinate": Wrapper(flags="dimsu", values="tw"),
    "chroot": Wrapper(operands=1),
    "chrt": Wrapper(flags="abfiormv", values="TPD", operands=1),
    "command": Wrapper(flags="pvV"),
    "coproc": Wrapper(),
    "doas": Wrapper(flags="nsL", values="uC"),
    "env": Wrapper(flags="i0v", values="uC", assigns=True),
    "exec": Wrapper(flags="cl", values="a"),
    "fakeroot": Wrapper(),
    "flock": Wrapper(flags="sxnoFe", values="wE", operands=1),
    "ionice": Wrapper(flags="t", values="cnp"),
    "ltrace": Wrapper(flags="fcSCirtT", values="eopuns"),
    "nice": Wrapper(flags="0123456789", values="n"),
    "nohup": Wrapper(),
    "nsenter": Wrapper(flags="aF", values="tSG"),
    "pkexec": Wrapper(),
    "prlimit": Wrapper(),
    "runuser": Wrapper(flags="lm", values="ug"),
    "setpriv": Wrapper(),
    "setsid": Wrapper(flags="cfw"),
    "stdbuf": Wrapper(values="ioe"),
    "strace": Wrapper(flags="fcqtTvxyCi", values="eopsauPSbIOE"),
    "sudo": Wrapper(flags="AbEHnPSkKisB", values="ughpCrtTUDR", assigns=True),
    "taskset": Wrapper(flags="ac", values="p", operands=1),
    "time": Wrapper(flags="pvaq", values="fo"),
    "timeout": Wrapper(flags="fpv", values="ks", operands=1),
    "toybox": Wrapper(),
    "unshare": Wrapper(flags="imnpuUCTfrc"),
    "watch": Wrapper(flags="bcdegtxpw", values="n", text=True),
    "xargs": Wrapper(flags="0rtpxo", values="ILnPdEsa", adds=True),
}


def inner_commands(name: str, arguments: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands that a wrapper may start: one, or after an option that is not known here, every later word.

    What comes out is words, name first; the name may be ``UNKNOWN``.
    """
    wrapper = WRAPPERS[name]
    rest, certain = _after_options(wrapper, list(arguments))
    added = (Word(UNKNOWN, "what it reads", splits=True),) if wrapper.adds else ()
    if rest and wrapper.operands:
        rest = rest[wrapper.operands :]
    if rest:
        yield (*rest, *added)
    if not certain:
        yield from ((*arguments[start:], *added) for start in range(1, len(arguments)))


def _after_options(wrapper: Wrapper, rest: list[Word]) -> tuple[list[Word], bool]:
    certain = True
    while rest:
        text = rest[0].text
        if wrapper.assigns and _ASSIGNMENT.match(text):
            rest.pop(0)
        elif text == "--":
            rest.pop(0)
            while wrapper.assigns and rest and _ASSIGNMENT.match(rest[0].text):
                rest.pop(0)
            break
        elif text.startswith("--"):
            certain = certain and "=" in text
            rest.pop(0)
        elif text.startswith("-") and len(text) > 1:
            rest.pop(0)
            letters = text[1:].lstrip(wrapper.flags)
            if letters and letters[0] not in wrapper.values:
                certain = False
            elif len(letters) == 1 and rest:
                rest.pop(0)
        else:
            break
    return rest, certain


def commands_of_find(arguments: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands that ``find`` starts for what it finds; the names of the files are not known."""
    rest = list(arguments)
    while rest:
        if rest.pop(0).text not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        inner: list[Word] = []
        while rest and rest[0].text not in (";", "+"):
            word = rest.pop(0)
            inner.append(Word(UNKNOWN, word.source) if "{}" in word.text else word)
        yield tuple(inner)
