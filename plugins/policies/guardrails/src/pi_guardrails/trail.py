"""Tracks files that a command line creates and runs: a file that was just downloaded is unreviewed code."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import define, evolve, field

from pi_guardrails.call import has_words
from pi_guardrails.files import extracts_into, written_files
from pi_guardrails.sed import sed_operands, sed_programs
from pi_guardrails.words import Word, is_stdin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call
    from pi_guardrails.paths import Places
    from pi_guardrails.script import Command, Redirect

__all__ = ["DOWNLOADERS", "Reader", "Run", "Trail", "printed"]

Reader: TypeAlias = Literal["shell", "interpreter"]

DOWNLOADERS = re.compile(r"\b(curl|wget|fetch|aria2c|http|https|xh|lwp-request|axel|scp)\b")
_CLONES = {
    "git": (("clone",), ("submodule", "add")),
    "gh": (("repo", "clone"),),
    "hg": (("clone",),),
    "svn": (("checkout",),),
}
_BUILDERS = frozenset(
    "ant bazel bundle cargo cmake composer deno dotnet go gradle grunt gulp just lein make gmake meson mix mvn ninja "
    "jest mocha nose2 nox npm nx phpunit pip pip3 pnpm poetry py.test pytest rake rspec sbt scons stack swift task tox "
    "uv vitest yarn docker docker-compose podman ansible-playbook terraform tofu eslint webpack vite rollup".split()
)
"""Programs that run what files in their folder define."""

_RULES = (
    "Makefile",
    "makefile",
    "GNUmakefile",
    "package.json",
    "Justfile",
    "justfile",
    "Rakefile",
    "setup.py",
    "build.rs",
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "tasks.py",
    "fabfile.py",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "pom.xml",
    "CMakeLists.txt",
    "Taskfile.yml",
    "Gemfile",
    "mix.exs",
    "gulpfile.js",
    "Gruntfile.js",
    "Dockerfile",
    "Containerfile",
    "compose.yml",
    "compose.yaml",
    "docker-compose.yml",
    "docker-compose.yaml",
    ".eslintrc.js",
    ".eslintrc.cjs",
)

_TESTS = re.compile(
    r"test_.*\.py|.*_test\.(py|go|exs)|.*[._-](test|spec)\.[cm]?[jt]sx?|.*_spec\.rb|.*\.(config|setup|conf)\.[cm]?[jt]s"
)
"""Files that test programs run because of their names."""

_IN_PLACE = re.compile(r"-[a-zA-Z]*i.*|--in-place.*")
_PLAIN_EDIT = re.compile(r"[\d,$ ]*([sy])([/|#,:@])[^;`&|]*\2[^()`;&|{}]*\2[gIip\d]*|[\d,$ ]+d|/[^/]*/d")
_FOLDERS = re.compile(r"(?:-C|--(?:directory|prefix|project|manifest-path|cwd|file)=?|-f)(.*)", re.DOTALL)
_URL = re.compile(r"\w+://[^/]+/(?:[^?#]*/)?([^/?#]+)")
_SHEBANG = re.compile(r"#!.*\b(sh|bash|dash|zsh|ksh)\b")
_COMPILERS = frozenset(
    "gcc cc g++ c++ clang clang++ tcc rustc go javac java zig nim ghc v crystal swiftc kotlinc".split()
)
_RUN_SOURCES = frozenset("go java tcc zig nim v crystal".split())
"""Compilers that also run what they compile."""

_WILD = re.compile(r"[*?\[]")
_COPIERS = frozenset("cp mv install ln gunzip unxz unzstd".split())
_PRINTERS = frozenset({"echo", "printf"})


@define(eq=False)
class Run:
    """A file that is run.

    Attributes:
        path: Absolute; a pattern of paths if the shell makes names from it.
        command: The simple command that runs it, as matched by the user's rules.
        reader: The interpreter; None if the file itself names it.
    """

    path: str
    command: str
    reader: Reader | None = None


@define(eq=False)
class Trail:
    """What is known about the files of one command line, regardless of execution order.

    Attributes:
        fetched: Files and folders that were downloaded or unpacked from a download, absolute.
        written: Contents of the files that the line writes, by absolute path; None if unknown.
        runs: The files that it runs.
        builds: The folders whose files define what is run, and the command that reads them.
        remotes: Whether the line sets the address of one of git's remotes.
        pushes: Whether it pushes.
    """

    fetched: set[str] = field(factory=set)
    written: dict[str, str | None] = field(factory=dict)
    runs: list[Run] = field(factory=list)
    builds: list[tuple[str, str]] = field(factory=list)
    remotes: bool = False
    pushes: bool = False

    @property
    def pushes_elsewhere(self) -> bool:
        """Whether git pushes to an address that the line itself sets."""
        return self.remotes and self.pushes

    def follow(self, call: Call, text: str) -> None:
        """Record the files that a program creates, and those that it runs.

        Args:
            call: The program.
            text: The command, as matched by the user's rules.
        """
        places = call.places
        self.fetched |= {_absolute(places, path) for path in _fetched(call)}
        for folder in extracts_into(call):
            archives = (*call.operands, *(Word(word.text.partition("=")[2]) for word in call.arguments))
            archived = any(self._is_fetched(_absolute(places, word.text)) for word in archives if word.known)
            if archived or any(DOWNLOADERS.search(each) for each in call.command.feeds):
                self.fetched.add(_absolute(places, folder.text))
        operands = [word.text for word in call.operands if word.known]
        if call.name in _COMPILERS:
            self._compiled_by(call, text)
        if call.name in _COPIERS and operands:
            self._carry([_absolute(places, each) for each in operands], call.name)
        elif call.name in ("tee", "dd"):
            self._written_by(call)
        elif call.name == "sed" and any(_IN_PLACE.fullmatch(word.text) for word in call.arguments):
            self._edited_by(call)
        elif call.name == "git":
            self.remotes |= has_words(call.arguments, "remote add") or has_words(call.arguments, "remote set-url")
            self.pushes |= has_words(call.arguments, "push")
        elif call.name in _BUILDERS:
            given = [match[1] for word in call.arguments if (match := _FOLDERS.match(word.text))]
            self.builds += [(_absolute(places, each), text) for each in (".", *given, *operands)]

    def _compiled_by(self, call: Call, text: str) -> None:
        """Record that a compiler turns files that the line writes into programs, or runs them."""
        given = [word for word in call.arguments if word.known and _absolute(call.places, word.text) in self.written]
        if not given:
            return
        outputs = [word.text for word in written_files("gcc", call.arguments) if word.known]
        stems = [os.path.splitext(word.text)[0] for word in given]
        for path in (*outputs, "a.out", *stems, *(os.path.basename(each) for each in stems)):
            self.written.setdefault(_absolute(call.places, path), "#!compiled")
        if call.name in _RUN_SOURCES and not {"build", "fmt", "vet", "check"} & set(call.texts[:1]):
            for word in given:
                self.run(call.places, word, text, "interpreter")

    def _written_by(self, call: Call) -> None:
        """Record the files that ``tee`` and ``dd`` write."""
        command = call.command
        text = "\n".join(command.stdin) if command.stdin and call.name == "tee" and not command.piped else None
        for word in call.arguments:
            path = word.text.removeprefix("of=") if call.name == "dd" else word.text
            if word.known and (call.name == "tee" or path != word.text):
                self.write(call.places, path, text, " ".join(command.feeds))

    def _edited_by(self, call: Call) -> None:
        """Record the files that ``sed -i`` changes: words inserted into a shell script are code, elsewhere not."""
        is_plain = all(map(_PLAIN_EDIT.fullmatch, sed_programs(call.arguments)))
        for word in sed_operands(call.arguments):
            if word.known and (not is_plain or word.text.endswith((".sh", ".bash", ".zsh")) or "." not in word.text):
                self.write(call.places, word.text, None, "")

    def redirect(self, redirect: Redirect, places: Places) -> None:
        """Record what is written into a file."""
        if redirect.target.known:
            text = printed(redirect.writer) if redirect.writer is not None else None
            self.write(places, redirect.target.text, text, redirect.statement)

    def write(self, places: Places, path: str, text: str | None, statement: str) -> None:
        """Record the contents of a file.

        Args:
            places: What the path is relative to.
            path: The file.
            text: Its contents; None if unknown.
            statement: The commands that write it.
        """
        whole = _absolute(places, path)
        if DOWNLOADERS.search(statement) and text is None:
            self.fetched.add(whole)
        known = self.written.get(whole, "")
        self.written[whole] = None if text is None or known is None else f"{known}{text}\n"

    def run(self, places: Places, word: Word, command: str, reader: Reader | None) -> None:
        """Record that a file is run."""
        if word.known and not is_stdin(word):
            self.runs.append(Run(_absolute(places, word.text), command, reader))

    def unseen(self) -> Iterator[str]:
        """Yield the commands that run what was downloaded in the same line."""
        for run in self.runs:
            if self._is_fetched(run.path):
                yield run.command
        for folder, command in self.builds:
            if self._is_fetched(folder):
                yield command

    def rules(self) -> Iterator[str]:
        """Yield the commands that follow rules which the same line writes."""
        for folder, command in self.builds:
            if any(self._defines(path, folder) for path in self.written):
                yield command

    def scripts(self) -> Iterator[tuple[Run, str | None]]:
        """Yield the runs of files that the line writes, with their contents; None if unknown."""
        seen: set[str] = set()
        for run in self.runs:  # which grows, as a script may run the next one
            for path in [each for each in self.written if _is_of(each, run.path)]:
                if path in seen or self._is_fetched(path):
                    continue
                seen.add(path)
                text, reader = self.written[path], run.reader
                if reader is None:
                    is_shell = text is None or not text.startswith("#!") or _SHEBANG.match(text) is not None
                    reader = "shell" if is_shell else "interpreter"
                yield evolve(run, path=path, reader=reader), text

    def _defines(self, path: str, folder: str) -> bool:
        """Whether a file that the line writes defines what a builder runs in a folder."""
        parent, name = os.path.split(path)
        is_inside = f"{parent}/".startswith(f"{folder.rstrip('/')}/")
        return (parent == folder and name in _RULES) or (
            (is_inside or path == folder) and (name == "conftest.py" or _TESTS.fullmatch(name) is not None)
        )

    def _is_fetched(self, path: str) -> bool:
        return any(_is_of(each, path) or path.startswith(each.rstrip("/") + "/") for each in self.fetched)

    def _carry(self, paths: list[str], name: str) -> None:
        """A copy of a downloaded file counts as downloaded; an unpacked file loses its suffix."""
        *sources, target = paths
        if name in ("gunzip", "unxz", "unzstd"):
            self.fetched |= {os.path.splitext(each)[0] for each in paths if self._is_fetched(each)}
        for each in sources:
            if self._is_fetched(each):
                self.fetched |= {target, os.path.join(target, os.path.basename(each))}
            if each in self.written:
                self.written.setdefault(target, self.written[each])


def printed(command: Command) -> str | None:
    """Return what a command prints, if its arguments or a here-document contain it literally; else None.

    Also None if the text has escapes, about which the ``echo`` of shells disagree.
    """
    if not command.words or not command.words[0].known:
        return None
    name, *rest = (word.text for word in command.words)
    name = name.rsplit("/", 1)[-1]
    if name == "cat" and not rest and command.stdin and not command.piped:
        return "\n".join(command.stdin)
    if name not in _PRINTERS:
        return None
    while rest and rest[0] in ("-n", "-e", "-E", "-ne", "-en", "--"):
        rest.pop(0)
    if name == "echo":
        text = " ".join(rest)
        return text if "\\" not in text else None
    return _formatted(rest[0], rest[1:]) if rest else ""


def _formatted(pattern: str, values: list[str]) -> str | None:
    """Return the output of ``printf`` for a format of plain text and newlines."""
    pattern = pattern.replace("\\n", "\n")
    parts = pattern.split("%s")
    if "\\" in pattern or "%" in "".join(parts):
        return None
    if len(parts) == 1:
        return pattern
    turns, waiting = [], list(values) or [""]
    while waiting:
        taken, waiting = waiting[: len(parts) - 1], waiting[len(parts) - 1 :]
        taken += [""] * (len(parts) - 1 - len(taken))
        turns.append("".join(part + value for part, value in zip(parts, [*taken, ""], strict=True)))
    return "".join(turns)


def _is_of(path: str, pattern: str) -> bool:
    """Whether a path is one that a pattern of the shell names, or lies on the way to one."""
    if path == pattern or not _WILD.search(pattern):
        return path == pattern
    depth = path.count("/") + 1
    return fnmatchcase(path, "/".join(pattern.split("/")[:depth]))


def _absolute(places: Places, path: str) -> str:
    return places.meanings(path)[0]


def _fetched(call: Call) -> Iterator[str]:
    """Yield the files and folders that a program downloads."""
    name, operands = call.name, [word for word in call.operands if word.known]
    texts = [word.text for word in operands]
    words = next((each for each in _CLONES.get(name, ()) if tuple(texts[: len(each)]) == each), None)
    if words is not None:
        rest = [word.text for word in operands[len(words) :]]
        yield from rest[1:]
        yield from (re.sub(r"\.git/?$", "", each).rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1] for each in rest)
    elif name in ("curl", "wget", "aria2c", "axel"):
        outputs = [word.text for word in written_files(name, call.arguments) if word.known]
        yield from outputs
        names = [match[1] for word in operands if (match := _URL.match(word.text))]
        if name != "curl" or call.has_letter("O") or call.has_long("--remote-name"):
            yield from names
            yield from (os.path.join(folder, each) for folder in outputs for each in names)
    elif name in ("scp", "rsync", "aws", "gsutil") and operands:
        source = " ".join(word.text for word in operands[:-1])
        if re.search(r"[\w.-]+:|s3://|gs://", source):
            yield operands[-1].text
            yield from (os.path.join(operands[-1].text, each.text.rsplit("/", 1)[-1]) for each in operands[:-1])
