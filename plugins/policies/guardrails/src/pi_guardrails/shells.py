"""How shells and interpreters are started: with inline code, with a file, or with their standard input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from pi_guardrails.words import Word, is_stdin

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["INTERPRETERS", "SHELLS", "Start", "after_shell_options", "interpreter", "only_parses", "started"]

SHELLS = frozenset("sh bash dash zsh ksh mksh ash fish rbash yash".split())
INTERPRETERS = {
    **dict.fromkeys(("python", "pypy", "ipython"), "c"),
    **dict.fromkeys(("node", "bun", "tsx", "ts-node"), "ep"),
    **dict.fromkeys("ruby osascript rscript r elixir iex lua luajit groovy groovysh scala scala-cli".split(), "e"),
    **dict.fromkeys("csh tcsh nu elvish xonsh pwsh powershell guile".split(), "c"),
    **dict.fromkeys("deno octave sbcl erl tclsh wish mongo mongosh crystal make gmake m4 ed irb pry".split(), ""),
    **dict.fromkeys("bpython ptpython micropython jython".split(), "c"),
    **dict.fromkeys("bb clojure clj janet nim scheme gosh newlisp ocaml utop jshell runghc gforth ghc".split(), "e"),
    **dict.fromkeys("ghci gnuplot racket raku dc swift kotlin mix lein".split(), "e"),
    **dict.fromkeys("rebar3 maxima zx vite-node".split(), ""),
    **dict.fromkeys(("jbang", "amm"), "c"),
    "julia": "eE",
    "matlab": "r",
    "swipl": "gt",
    "clisp": "x",
    **dict.fromkeys(("expect", "sage", "wolframscript", "gap"), "c"),
    **dict.fromkeys(("rust-script", "mysqlsh"), "e"),
    "cmd": "",
    "perl": "eE",
    "php": "rBE",
}
"""Letters of the options that take inline code; the words in ``_INLINE`` work with all interpreters."""

_INLINE = re.compile(
    r"(--eval|--print|--execute|--code|--batch-string)([=:].*)?|-Command|-EncodedCommand|-eval|-code|-batch|eval|/[cCkK]",
    re.DOTALL,
)
_JOINS = frozenset(
    "python pypy ipython bpython ptpython micropython jython node bun tsx ts-node perl ruby php julia csh tcsh".split()
)
"""Interpreters whose options of one letter can follow each other after one dash; those of others may be words."""

_VERSIONED = re.compile(r"(python|pypy|perl|ruby|lua|php|node|ipython)[\d.]+")
_MODULE = re.compile(r"-[bBdEhiIOqsSuvxP]*m(.*)", re.DOTALL)
_VALUES = {
    "bun": "-r --preload --cwd -c --config",
    "node": "-r --require --import -C --conditions --loader --experimental-loader --env-file --inspect-port",
    "perl": "-I",
    "php": "-c -d -z",
    "pypy": "-W -X --check-hash-based-pycs",
    "python": "-W -X --check-hash-based-pycs",
    "ruby": "-C -E -I -K -r",
}
"""Options that take the next argument, for programs whose own options end at the file that they run."""

_ALWAYS_READS = frozenset({"ed"})
"""Programs that read commands from standard input even if a file is given."""

_FILE_OPTIONS = {"make": "-f --file --makefile", "gmake": "-f --file --makefile"}


@frozen
class Start:
    """How an interpreter is started.

    Attributes:
        inline: Whether an option contains code.
        file: What it runs.
        module: The name after Python's ``-m``.
        rest: The arguments after file or module.
        reads: Whether it runs its standard input.
    """

    inline: bool = False
    file: Word | None = None
    module: str | None = None
    rest: tuple[Word, ...] = ()
    reads: bool = False


def interpreter(name: str) -> str | None:
    """Return the interpreter that a program is, without its version; None for other programs."""
    plain = "node" if name == "nodejs" else _VERSIONED.sub(r"\1", name)
    return plain if plain in INTERPRETERS else None


def started(name: str, arguments: Sequence[Word]) -> Start:
    """Return how an interpreter is started.

    Args:
        name: As ``interpreter`` returned it.
        arguments: What follows the name.
    """
    if name in _FILE_OPTIONS:
        return _with_file_option(_FILE_OPTIONS[name].split(), arguments)
    if name in _VALUES:
        return _up_to_file(name, list(arguments))
    files = [word for word in arguments if not word.text.startswith("-") and not is_stdin(word)]
    inline = any(_is_inline(name, word) for word in arguments)
    return Start(inline, files[0] if files else None, rest=tuple(files[1:]), reads=_reads(name, arguments, files))


def _up_to_file(name: str, rest: list[Word]) -> Start:
    """Parse the options of a program that end at the file it runs."""
    values = _VALUES[name].split()
    while rest:
        word = rest.pop(0)
        module = _MODULE.fullmatch(word.text) if name in ("python", "pypy") else None
        if is_stdin(word) or not word.text.startswith("-"):
            return Start(file=word, rest=tuple(rest), reads=is_stdin(word))
        if module is not None:
            given = module[1] or (rest.pop(0).text if rest else "")
            return Start(module=given, rest=tuple(rest))
        if word.text in values:
            del rest[:1]
        elif word.text[:2] not in values and _is_inline(name, word):
            return Start(inline=True, rest=tuple(rest))
    return Start(reads=True)


def only_parses(name: str, arguments: Sequence[Word]) -> bool:
    """Whether a shell checks the syntax of a script without running it: ``bash -n run.sh``."""
    flags = []
    for word in arguments:
        if not re.fullmatch(r"-[a-zA-Z]+", word.text) or "o" in word.text.lower():
            break
        flags.append(word.text)
    return name in SHELLS and "n" in "".join(flags) and "i" not in "".join(flags)


def after_shell_options(name: str, rest: list[Word]) -> tuple[list[Word], bool]:
    """Return the arguments after a shell's options, and whether they begin with a script; ``su`` takes a user first."""
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
            if "s" in option and not takes_text and name != "su":
                return [], False
        if takes_text and name == "su":
            break
    return rest, takes_text


def _reads(name: str, arguments: Sequence[Word], files: Sequence[Word]) -> bool:
    return not files or name in _ALWAYS_READS or any(is_stdin(word) for word in arguments)


def _is_inline(name: str, word: Word) -> bool:
    letters = INTERPRETERS[name]
    if _INLINE.fullmatch(word.text):
        return True
    if not letters:
        return False
    if name in _JOINS:
        return re.match(rf"-[a-zA-Z0-9]*[{letters}]", word.text) is not None
    return re.fullmatch(rf"-[inpq]{{0,3}}[{letters}]([\w:.-]*[^\w:.-].*)?", word.text, re.DOTALL) is not None


def _with_file_option(options: Sequence[str], arguments: Sequence[Word]) -> Start:
    inline = any(word.text.startswith("--eva") for word in arguments)
    for place, word in enumerate(arguments):
        option, _, value = word.text.partition("=")
        if (option in options or re.fullmatch(r"-[a-zA-Z]*f", option)) and not value:
            files = arguments[place + 1 : place + 2]
        elif option in options or re.match(r"-f.", word.text):
            files = [Word(value or word.text[2:], word.source)]
        else:
            continue
        if files:
            return Start(file=files[0], reads=is_stdin(files[0]), inline=inline)
    return Start(inline=inline)
