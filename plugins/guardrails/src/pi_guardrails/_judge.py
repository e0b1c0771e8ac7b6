"""Judges a shell command by what it would run, through wrappers, inner shells and text that becomes a script."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from attrs import evolve

from pi_guardrails import _git as git_rules
from pi_guardrails._findings import Finding
from pi_guardrails._options import can_start_programs, starts_program, written_files
from pi_guardrails._programs import SQL_CLIENTS, judge_program, sql_danger
from pi_guardrails._script import Command, read_script
from pi_guardrails._variables import ASSIGNMENT, effect_of
from pi_guardrails._words import UNKNOWN, Word, joined
from pi_guardrails._wrappers import WRAPPERS, commands_of_find, inner_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails._paths import Places
    from pi_guardrails._script import Redirect, Script

__all__ = ["judge_command"]

_DEEPEST = 6
_MOST_COMMANDS = 500
_MOST_FOLDERS = 8
_MOST_ARGUMENTS = 500
_LONGEST_PATH = 4096

_SHELLS = frozenset("sh bash dash zsh ksh mksh ash fish rbash".split())
_INTERPRETERS = {
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3"), "c"),
    **dict.fromkeys(("node", "nodejs", "bun"), "ep"),
    **dict.fromkeys("ruby osascript rscript r julia elixir iex lua luajit groovy scala kotlin swift".split(), "e"),
    **dict.fromkeys("csh tcsh nu elvish xonsh pwsh powershell guile".split(), "c"),
    **dict.fromkeys("deno octave sbcl erl tclsh wish mongo mongosh crystal make gmake".split(), ""),
    **dict.fromkeys(("ghci", "gnuplot", "racket", "raku", "dc"), "e"),
    "clisp": "x",
    "cmd": "",
    "perl": "eE",
    "php": "rBE",
}
"""Letters of the options that take a text of the language; the words below do with all of them."""

_INLINE = re.compile(r"(--eval|--print|--execute)(=.*)?|-Command|-EncodedCommand|-eval|eval|/[cCkK]", re.DOTALL)
_ASSIGNS = frozenset("env sudo doas make gmake export declare typeset readonly local".split())
_VERSIONED = re.compile(r"(python|pypy|perl|ruby|lua|php|node)[\d.]+")
_PRIVILEGED = frozenset("sudo doas su pkexec runuser chroot nsenter setpriv".split())
_DOWNLOADERS = re.compile(r"\b(curl|wget|fetch|aria2c|http|https|xh|lwp-request)\b")
_READERS = frozenset(
    ". [ [[ alias basename cat cd cksum cmp comm cut diff dirname du echo egrep export false fgrep file grep head jq "
    "less ls md5sum more nl od printf pushd pwd read readlink realpath rg set sha1sum sha256sum source stat strings "
    "tail test tr tree true type wc which".split()
)
_STARTED = (
    _SHELLS | _PRIVILEGED | set(_INTERPRETERS) | frozenset("dd env eval mkfs rm shred unlink wipefs xargs".split())
)
"""Programs that are looked for behind the names of programs which may start others, though nobody here knows it."""

_WRITES_LAST = frozenset("cp mv install ln rsync scp".split())
_WRITES_ALL = frozenset("chgrp chmod chown curl gsed mkdir mv rm rmdir sed shred tee touch truncate wget".split())


def judge_command(text: str, places: Places) -> list[Finding]:
    """Return everything that was found in a shell command; empty for a text without a command. Never raises for it."""
    judge = _Judge(places)
    judge.script(text, 0)
    return list(dict.fromkeys(judge.findings))


class _Judge:
    """What is known while the commands of a text are gone through.

    Attributes:
        bases: The folders that relative paths may be relative to: where the command starts, and wherever it goes.
        lost: Whether it goes to a folder that is not known.
    """

    def __init__(self, places: Places) -> None:
        self.bases = [evolve(places, project=places.root)]
        self.lost = False
        self.findings: list[Finding] = []
        self.judged = 0
        self.variables = {"IFS": " \t\n", "HOME": places.home}

    def add(self, verdict: str, rule: str, why: str, command: str | None = None, path: str | None = None) -> None:
        self.findings.append(Finding(verdict, rule, why, command, path))  # type: ignore[arg-type]

    def script(self, text: str, depth: int) -> None:
        if depth > _DEEPEST:
            self.add("ask", "unparsed", "commands stand inside commands, too deeply to follow")
            return
        script = read_script(text, self.variables)
        for problem in dict.fromkeys(script.problems):
            self.add("ask", "unparsed", problem)
        for bomb in script.bombs:
            self.add("deny", "fork-bomb", f"a function that starts itself again and again: {bomb[:40]}")
        for name, value in script.assignments:
            self._variable(name, value, depth)
        self._follow(script)
        for redirect in script.redirects:
            self._redirect(redirect)
        self._databases(script)
        for command in script.commands:
            self.command(command, depth)

    def command(self, command: Command, depth: int) -> None:
        self.judged += 1
        if self.judged > _MOST_COMMANDS or depth > _DEEPEST:
            self.add("ask", "unparsed", f"it has more than {_MOST_COMMANDS} commands, or they are nested too deeply")
            return
        if not command.words:
            return
        first, arguments = command.words[0], command.words[1:]
        text = joined(command.words)
        name = first.text.rsplit("/", 1)[-1].lower()  # some file systems do not tell RM from rm
        if not first.known or first.globs or not name or " " in name:
            self.add("ask", "dynamic-command", f"which program {first.source!r} is, is known only when it runs", text)
            return
        self.add("allow", "known", "nothing speaks against it", text)
        name = name.removesuffix(".exe")
        for base in self.bases:
            for verdict, rule, why in judge_program(name, arguments, base):
                self.add(verdict, rule, why, text)
        self._code(name, command, depth, text)
        self._options(name, arguments, text)
        self._files(name, arguments)

    # Programs that run others

    def _code(self, name: str, command: Command, depth: int, text: str) -> None:
        arguments = command.words[1:]
        if name in _PRIVILEGED:
            self.add("ask", "privileges", f"{name} gives it the rights of another user", text)
        if name in WRAPPERS:
            self._wrapped(name, command, depth, text)
        elif name in _SHELLS or name == "su":
            self._shell(name, command, depth, text)
        else:
            self._runs_text(name, command, depth, text)
        for word in arguments:
            assigned = ASSIGNMENT.fullmatch(word.text)
            if assigned is not None and name in _ASSIGNS:
                self._variable(assigned[1], Word(assigned[2], word.source), depth)

    def _options(self, name: str, arguments: tuple[Word, ...], text: str) -> None:
        """Judge the options of a program that can start another one, or write files."""
        called, rest = _subcommand(name, arguments)
        started = starts_program(called, rest)
        unclear = next((word for word in rest if word.splits and not word.known), None)
        if started is not None:
            self.add("ask", "dynamic-command", f"{called} can start another program with {started}", text)
        elif unclear is not None and can_start_programs(called):
            why = f"which options {called} gets is known only when it runs, as {unclear.source} has no quotes"
            self.add("ask", "dynamic-command", why, text)
        for word in written_files(called, rest):
            self._file(word, writes=True)

    def _variable(self, name: str, value: Word, depth: int) -> None:
        """Judge a variable that is given a value."""
        effect = effect_of(name, value.text, known=value.known)
        if effect == "code":
            self.add("ask", "environment", f"it sets {name}, which changes what later commands do")
        elif effect == "command":
            self._text(value.text, depth, f"{name}={value.source}")

    def _runs_text(self, name: str, command: Command, depth: int, text: str) -> None:
        arguments = command.words[1:]
        if name == "eval":
            self._text(" ".join(word.text for word in arguments), depth, text)
        elif name in ("trap", "alias"):
            for word in arguments[:1] if name == "trap" else arguments:
                self._text(word.text.partition("=")[2] if name == "alias" else word.text, depth, text)
        elif name == "find":
            for words in commands_of_find(arguments):
                self.command(Command(words), depth + 1)
        elif name in (".", "source") and arguments and not (arguments[0].known and arguments[0].text[:5] != "/dev/"):
            self.add("ask", "dynamic-command", "the script that it runs is known only when it runs", text)
        else:
            self._interpreter(_VERSIONED.sub(r"\1", name), command, text)
            if name != "git" and name not in _READERS:
                self._started(command, depth)

    def _started(self, command: Command, depth: int) -> None:
        """Judge what a program may start that is not known as one that does: ``uv run rm -rf /``."""
        for place, word in enumerate(command.words[1:], 1):
            if word.text.rsplit("/", 1)[-1].lower() in _STARTED:
                self.command(evolve(command, words=command.words[place:]), depth + 1)
                return

    def _wrapped(self, name: str, command: Command, depth: int, text: str) -> None:
        arguments = command.words[1:]
        if name == "command" and any(word.text in ("-v", "-V") for word in arguments[:1]):
            return
        if any(re.match(r"-\w*[Sc]|--split|--command", word.text) for word in arguments) and name in (
            "env",
            "flock",
            "unshare",
        ):
            self.add("ask", "dynamic-command", f"{name} takes a text apart to find its command", text)
        if name == "sudo" and any(re.match(r"-\w*[is]|--(login|shell)", word.text) for word in arguments[:1]):
            self._shell("sh", Command((Word("sh"),), command.stdin, command.piped, command.feeds), depth + 1, text)
        for words in inner_commands(name, arguments):
            if WRAPPERS[name].text:
                self._text(" ".join(word.text for word in words), depth, text)
                continue
            stdin = Command(words, command.stdin, piped=command.piped and name != "xargs", feeds=command.feeds)
            self.command(stdin, depth + 1)

    def _shell(self, name: str, command: Command, depth: int, text: str) -> None:
        """A shell runs the text after ``-c``, a file, or else what it reads."""
        rest, takes_text = _after_shell_options(name, list(command.words[1:]))
        if takes_text or (rest and not rest[0].known):
            self._text(rest[0].text if rest else UNKNOWN, depth, text)
        elif not rest:
            self._reads_script(name, command, depth, text)

    def _reads_script(self, name: str, command: Command, depth: int, text: str) -> None:
        for script in command.stdin:
            self._text(script, depth, text)
        if command.piped:
            if any(_DOWNLOADERS.search(each) for each in command.feeds):
                self.add("ask", "remote-code", f"{name} runs what was downloaded, before anybody has seen it", text)
            else:
                self.add("ask", "dynamic-command", f"{name} runs what another command writes", text)

    def _text(self, script: str, depth: int, text: str) -> None:
        """Judge a text that becomes a script."""
        if UNKNOWN in script:
            self.add("ask", "dynamic-command", "part of the script that it runs is known only when it runs", text)
        self.script(script.replace(UNKNOWN, '"$unknown"'), depth + 1)

    def _interpreter(self, name: str, command: Command, text: str) -> None:
        if name not in _INTERPRETERS:
            return
        letters, arguments = _INTERPRETERS[name], command.words[1:]
        inline = any(
            _INLINE.fullmatch(word.text) or (letters and re.match(rf"-\w*[{letters}]", word.text)) for word in arguments
        )
        files = [word for word in arguments if not word.text.startswith("-")]
        reads = (command.piped or command.stdin) and not files
        if reads and any(_DOWNLOADERS.search(each) for each in command.feeds):
            self.add("ask", "remote-code", f"{name} runs what was downloaded, before anybody has seen it", text)
        elif inline or reads:
            self.add("ask", "inline-code", f"it runs code in the language of {name}, which is not read here", text)

    # Files

    def _follow(self, script: Script) -> None:
        """Find the folders that a script goes to; which command runs where is not told apart."""
        for command in script.commands:
            if not command.words or command.words[0].text not in ("cd", "pushd"):
                continue
            target = next((word for word in command.words[1:] if not word.text.startswith("-")), None)
            if target is None or not target.known or target.globs or len(self.bases) >= _MOST_FOLDERS:
                self.lost = True
                continue
            folders = (os.path.normpath(os.path.join(base.cwd, target.text)) for base in self.bases)
            known = {base.cwd for base in self.bases}
            self.bases += [evolve(self.bases[0], cwd=each) for each in dict.fromkeys(folders) if each not in known]

    def _redirect(self, redirect: Redirect) -> None:
        word = redirect.target
        if not word.known:
            self.add("ask", "writes", f"where it writes is known only when it runs: {redirect.source}")
        elif word.text.startswith(("/dev/tcp/", "/dev/udp/")):
            self.add("ask", "remote-code", f"it opens a connection to another computer: {word.text!r}", path=word.text)
        elif any(base.is_device(word.text) for base in self.bases):
            self.add("deny", "disk", f"it overwrites the device {word.text!r}", path=word.text)
        else:
            self._file(word, writes=True)

    def _files(self, name: str, arguments: tuple[Word, ...]) -> None:
        if name in _READERS or (name == "git" and git_rules.reads_only(arguments)):
            return
        operands = [word for word in arguments if not word.text.startswith("-")]
        last = operands[-1:] if name in _WRITES_LAST else []
        if len(arguments) > _MOST_ARGUMENTS:
            self.add("ask", "unparsed", f"it has more than {_MOST_ARGUMENTS} arguments")
            return
        for word in arguments:
            self._file(word, writes=name in _WRITES_ALL or word in last)
            for part in _parts(word):
                self._file(part, writes=name == "dd" and word.text.startswith("of="))

    def _file(self, word: Word, *, writes: bool) -> None:
        path = word.text
        if not word.known or not path or "\n" in path or len(path) > _LONGEST_PATH:
            return
        for base in self.bases:
            real = base.meanings(path)[1]
            names = (path, *(base.matches(path) if word.globs else ()))
            named = next((each for each in names if base.protection(each)), None)
            if named is not None:
                self.add("ask", "protected-path", f"it may change {named!r}, which is protected", path=real)
            elif writes and (folder := base.system(path)) is not None:
                self.add("ask", "system-path", f"it writes {path!r}, in {folder}", path=real)
            elif writes:
                self.add("allow", "known", "nothing speaks against it", path=real)
        if writes and self.lost and not os.path.isabs(path):
            self.add("ask", "writes", f"where {path!r} lies is known only when it runs, because of cd")

    def _databases(self, script: Script) -> None:
        names = [
            command
            for command in script.commands
            if any(word.text.rsplit("/", 1)[-1] in SQL_CLIENTS for word in command.words)
        ]
        if not names:
            return
        for command in script.commands:
            for text in (*(word.text for word in command.words), *command.stdin):
                if (why := sql_danger(text)) is not None:
                    self.add("ask", "database", f"it {why}", joined(command.words))


def _after_shell_options(name: str, rest: list[Word]) -> tuple[list[Word], bool]:
    """Return what follows a shell's options, and whether it begins with a script as text; ``su`` takes a user first."""
    takes_text = False
    while rest and (rest[0].text[:1] in "-+" or name == "su") and rest[0].known:
        option = rest.pop(0).text
        if not option.startswith(("-", "+")) or option in ("-", "--"):
            continue
        if option in ("--command", "--rcfile", "--init-file"):
            takes_text = takes_text or option == "--command"
            del rest[: option != "--command"]
        elif not option.startswith("--"):
            del rest[: sum(letter in "oO" for letter in option)]
            takes_text = takes_text or (option[0] == "-" and "c" in option)
            if option == "-s":
                return [], False
        if takes_text and name == "su":
            break
    return rest, takes_text


def _subcommand(name: str, arguments: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    """Return a program's name and arguments; of git and go, the subcommand is part of the name."""
    if name == "git":
        arguments = git_rules.without_options(arguments)
    elif name != "go":
        return name, arguments
    return f"{name} {arguments[0].text}" if arguments else name, arguments[1:]


def _parts(word: Word) -> Iterator[Word]:
    """Yield what may be a path inside an option: ``--output=x``, ``-ox``, ``of=x``."""
    _, equals, value = word.text.partition("=")
    if equals:
        yield Word(value, word.source)
    elif re.match(r"-\w.", word.text):
        yield Word(word.text[2:], word.source)
