"""The folders in which a script may run, and the findings so far: each file is judged in all of these folders."""

from __future__ import annotations

import os
from itertools import zip_longest
from typing import TYPE_CHECKING

from attrs import evolve

from pi_guardrails.findings import Finding
from pi_guardrails.words import UNKNOWN, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_guardrails.files import How
    from pi_guardrails.paths import Places
    from pi_guardrails.script import Command, Redirect, Script

__all__ = ["Ground"]

_MOST_FOLDERS = 8
_LONGEST_PATH = 4096
_MOST_FILES = 2000


class Ground:
    """Where commands run; which command runs in which folder is not tracked.

    Attributes:
        bases: The folders that relative paths may refer to: where the script starts, and every folder it changes to.
        lost: Whether it changes to an unknown folder.
        findings: The findings so far.
    """

    def __init__(self, places: Places) -> None:
        self.bases = [evolve(places, project=places.root)]
        self.lost = False
        self.findings: list[Finding] = []
        self._judged: set[tuple[str, bool, How, str]] = set()
        self._matched = 0

    def add(self, verdict: str, rule: str, why: str, command: str | None = None, path: str | None = None) -> None:
        """Add a finding."""
        self.findings.append(Finding(verdict, rule, why, command, path))  # type: ignore[arg-type]

    def follow(self, script: Script) -> None:
        """Find the folders that a script changes to."""
        for command in script.commands:
            words = [word for word in command.words if word.text not in ("builtin", "command", "--")]
            if not words or words[0].text not in ("cd", "pushd") or (words[1:] and words[1].text == "-"):
                continue
            target = next((word for word in words[1:] if not word.text.startswith("-")), None)
            self._enter(target or (Word(self.bases[0].home) if words[0].text == "cd" else None))

    def follow_options(self, arguments: Sequence[Word]) -> None:
        """Find the folder that ``env`` or ``sudo`` changes to before it starts a program."""
        for word, after in zip_longest(arguments, arguments[1:]):
            if word.text in ("-C", "-D", "--chdir"):
                self._enter(after)
            elif word.text.startswith("--chdir="):
                self._enter(Word(word.text.partition("=")[2], word.source))

    def redirect(self, redirect: Redirect) -> None:
        """Judge the target of a redirection."""
        word = redirect.target
        if not word.known:
            self.add("ask", "writes", f"where it writes is known only at run time: {redirect.source}")
        elif word.text.startswith(("/dev/tcp/", "/dev/udp/")):
            self.add("ask", "remote-code", f"it opens a connection to another computer: {word.text!r}", path=word.text)
        elif any(base.is_device(word.text) for base in self.bases):
            self.add("deny", "disk", f"it overwrites the device {word.text!r}", path=word.text)
        else:
            if redirect.writer is not None and _is_endless(redirect.writer, word.text):
                self.add("ask", "disk", f"it fills {word.text!r} endlessly", path=word.text)
            self.file(word, "overwritten")

    def file(self, word: Word, how: How) -> None:
        """Judge a file in each of the folders."""
        for base in self.bases:
            self.file_in(word, how, base)

    def file_in(self, word: Word, how: How, base: Places) -> None:
        """Judge a file that is named, changed or overwritten by a command that runs in a certain folder."""
        path, written = word.text, how != "named"
        if UNKNOWN in path and "/" in (tail := path.rpartition(UNKNOWN)[2]):  # the folder is not known, its files are
            word, path = Word(tail.partition("/")[2], word.source), tail.partition("/")[2]
            how = "changed" if written else how
        key = (path, word.globs, how, base.cwd)
        if not word.known or not path or "\n" in path or len(path) > _LONGEST_PATH or key in self._judged:
            return
        self._judged.add(key)
        real = base.meanings(path)[1]
        names = (path, *self._matches(path, base)) if word.globs else (path,)
        named = next((each for each in names if base.protection(each, written=written)), None)
        if named is not None and base.runs_later(str(base.protection(named))):
            self.add("ask", "runs-later", f"it may change {named!r}, which other programs run or follow", path=real)
        elif named is not None:
            self.add("ask", "protected-path", f"it may change {named!r}, which is protected", path=real)
        elif written and (folder := base.system(path)) is not None:
            self.add("ask", "system-path", f"it writes {path!r}, in {folder}", path=real)
        elif how == "overwritten" and base.is_outside(path):
            self.add("ask", "outside", f"it writes {path!r}, outside the working directory", path=real)
        elif written:
            self.add("allow", "known", "no rule objects to it", path=real)
        if written and self.lost and not os.path.isabs(path):
            self.add("ask", "writes", f"where {path!r} is located is known only at run time, because of cd")

    def empty(self, word: Word, base: Places, command: str | None = None) -> None:
        """Judge a file that a command empties: its content is lost, unless it is a log or does not exist yet."""
        path = word.text
        if not word.known:
            self.add("ask", "delete", f"which file it empties is known only at run time: {word.source}", command)
        elif base.may_hold_work(path):
            self.add("ask", "delete", f"it empties {path!r}", command, path=None if command else base.meanings(path)[1])

    def _matches(self, path: str, base: Places) -> tuple[str, ...]:
        if self._matched > _MOST_FILES:
            self.add("ask", "unparsed", "its patterns match too many files to analyse")
            return ()
        found = tuple(base.matches(path))
        self._matched += len(found) + 1
        return found

    def _enter(self, target: Word | None) -> None:
        if target is None or not target.known or target.globs or len(self.bases) >= _MOST_FOLDERS:
            self.lost = True
            return
        folders = (os.path.normpath(os.path.join(base.cwd, target.text)) for base in self.bases)
        known = {base.cwd for base in self.bases}
        self.bases += [evolve(self.bases[0], cwd=each) for each in dict.fromkeys(folders) if each not in known]


def _is_endless(writer: Command, path: str) -> bool:
    """Whether a command writes into a file until the disk is full."""
    words = [word.text for word in writer.words]
    if words[:1] == ["yes"]:
        return not path.startswith("/dev/")
    sources = {*words[1:], *(word.text for word in writer.reads)}
    return words[:1] == ["cat"] and bool(sources & {"/dev/zero", "/dev/urandom", "/dev/random"})
