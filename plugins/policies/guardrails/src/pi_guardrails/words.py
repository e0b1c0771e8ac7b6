"""Expands a word like the shell, as far as possible before run time: quotes, escapes, ``$IFS``, ``~``."""

from __future__ import annotations

import re
from os.path import dirname, normpath
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

__all__ = [
    "UNKNOWN",
    "Word",
    "as_written",
    "fields",
    "for_parser",
    "has_index_that_runs",
    "is_stdin",
    "joined",
    "source",
    "text_between",
]

UNKNOWN = "\0"
"""Placeholder for text that is known only at run time; no command line can contain this character."""

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_AFTER_COLON = re.compile(r"(\$\w+|\}):\$([A-Za-z_]\w*)/")
_HEX = {0x10 + value: digit for value, digit in enumerate("0123456789abcdef")}
_DIGITS = {ord(digit): chr(character) for character, digit in _HEX.items()}
_END = "\x01"
_RUN = re.compile(f"([\x10-\x1f]+){_END}")

_SPLIT = UNKNOWN + "IFS"
_GLOB = re.compile(r"[*?\[]")
_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_STRING = re.compile(r'\\([\n$`"\\])')
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|c.|.)", re.DOTALL)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LARGEST_CODE_POINT = 0x10FFFF
_ASSIGNED_HOME = re.compile(r"([A-Za-z_]\w*=)~(?=/|$)", re.ASCII)
_INDEX = re.compile(r"\w\[|\]|\$\(|`|\x00")
_WITH_DEFAULT = re.compile(r"(?<=\w):?[-?=].*", re.DOTALL)
"""The part of an expansion for variables without a value: ``${HOME:?}``."""

_STDIN = re.compile(r"-|/dev/stdin|/dev/fd/\d+|/proc/(self|thread-self|\d+)(/task/\d+)?/fd/\d+")


@frozen
class Word:
    """One argument.

    Attributes:
        text: As the program receives it; ``UNKNOWN`` replaces what is decided at run time.
        source: As it was written.
        globs: Whether the shell may expand it to file names.
        splits: Whether it may become several arguments, or none.
    """

    text: str
    source: str = ""
    globs: bool = False
    splits: bool = False

    @property
    def known(self) -> bool:
        """Whether the whole text is known."""
        return UNKNOWN not in self.text


@frozen
class _Piece:
    text: str
    quoted: bool


def for_parser(text: str) -> bytes:
    """Encode a text for the parser: each non-ASCII character becomes a run of control characters.

    The grammar's scanner looks such characters up in C's tables for ASCII, beyond their end: a brace before one can end
    the process. To a shell they are parts of words and of no variable's name, and so are the control characters, which
    no text may hold itself. The grammar also loses the name of a variable between a colon and a slash, as in
    ``$PATH:$HOME/bin``, unless it has braces.
    """
    text = _AFTER_COLON.sub(r"\1:${\2}/", text)
    return _BEYOND_ASCII.sub(lambda match: f"{ord(match[0]):x}".translate(_DIGITS) + _END, text).encode()


def as_written(raw: bytes) -> str:
    """Decode a part of what ``for_parser`` returned."""
    return _RUN.sub(lambda match: chr(int(match[1].translate(_HEX), 16)), raw.decode(errors="replace"))


def source(node: Node) -> str:
    """Return a node as it was written."""
    return as_written(node.text or b"")


def joined(words: tuple[Word, ...]) -> str:
    """Return words as one line, the way that rules of the user are compared with it."""
    return " ".join(word.text if word.known else word.source for word in words)


def is_stdin(word: Word) -> bool:
    """Whether a program that gets this as a file reads what is open already: its standard input, or another number."""
    path = word.text.replace(UNKNOWN, "0")  # /proc/$$/fd/0
    if path.startswith("/"):
        path = normpath(path.replace("//", "/"))
        if word.globs and path.startswith(("/dev/", "/proc/")):
            return True
    return _STDIN.fullmatch(path) is not None


def has_index_that_runs(text: str) -> bool:
    """Whether a text contains an array index with a command, which arithmetic would run."""
    is_open = False
    for found in _INDEX.findall(text):
        if found in ("$(", "`", UNKNOWN) and is_open:
            return True
        is_open = found.endswith("[") or (is_open and found != "]")
    return False


def fields(node: Node, variables: Mapping[str, str]) -> list[Word]:
    """Return the arguments that a node expands to: several if it contains an unquoted ``$IFS``.

    Args:
        node: A word of any kind.
        variables: Variables with known values.
    """
    groups: list[list[_Piece]] = [[]]
    for piece in _pieces(node, variables):
        if piece.text == _SPLIT and not piece.quoted:
            groups.append([])
        else:
            groups[-1].append(piece)
    written = source(node)
    return [_word(group, written, variables) for group in groups if group or len(groups) == 1]


def text_between(node: Node, variables: Mapping[str, str], start: int, end: int, *, quotes: str = "") -> str:
    """Return the text of a string or here-document between two bytes of the source, with expansions in place."""
    whole, base = node.text or b"", node.start_byte
    parts, at = [], start
    for child in node.named_children:
        if child.type in _EXPANSIONS:
            parts.append(_literal(whole[at - base : child.start_byte - base], quotes))
            parts.append("".join(" \t\n" if each.text == _SPLIT else each.text for each in _pieces(child, variables)))
            at = child.end_byte
    parts.append(_literal(whole[at - base : end - base], quotes))
    return "".join(parts)


def _literal(raw: bytes, quotes: str) -> str:
    text = as_written(raw)
    return _ESCAPED_IN_STRING.sub(_unescaped, text) if quotes != "'" else text


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


_EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)


def _pieces(node: Node, variables: Mapping[str, str]) -> list[_Piece]:
    kind, written = node.type, source(node)
    if kind in ("word", "number") or not node.is_named:
        return _bare(written)
    if kind in ("raw_string", "ansi_c_string"):
        text = written[1:-1] if kind == "raw_string" else _ANSI.sub(_ansi, written[2:-1])
        return [_Piece(text, quoted=True)]
    if kind == "string":
        text = text_between(node, variables, node.start_byte + 1, node.end_byte - 1)
        several = any("@" in source(child) for child in node.named_children if child.type in _EXPANSIONS)
        return [_Piece(text, quoted=not several)]  # "$@" becomes several words
    if kind in ("simple_expansion", "expansion"):
        return [_variable(written, variables)]
    if kind in ("concatenation", "command_name"):
        return [piece for child in node.children for piece in _pieces(child, variables)]
    return [_Piece(UNKNOWN, quoted=False)]


def _bare(written: str) -> list[_Piece]:
    """Split an unquoted text at its escapes: escaped characters count as quoted."""
    pieces, at = [], 0
    for match in _ESCAPED.finditer(written):
        if match.start() > at:
            pieces.append(_Piece(written[at : match.start()], quoted=False))
        pieces.append(_Piece(_unescaped(match), quoted=True))
        at = match.end()
    if at < len(written):
        pieces.append(_Piece(written[at:], quoted=False))
    return pieces


def _variable(written: str, variables: Mapping[str, str]) -> _Piece:
    name = written[2:-1] if written.startswith("${") else written[1:]
    if name == "IFS" and name in variables:
        return _Piece(_SPLIT, quoted=False)
    plain = _WITH_DEFAULT.sub("", name)
    return _Piece(variables.get(plain) or (variables.get(name, UNKNOWN)), quoted=False)


def _word(pieces: list[_Piece], written: str, variables: Mapping[str, str]) -> Word:
    bare = "".join(piece.text for piece in pieces if not piece.quoted)
    text = "".join(piece.text for piece in pieces)
    if "{" in bare and ("," in bare or ".." in bare):  # brace expansion: one word or twenty
        return Word(UNKNOWN, written, globs=True, splits=True)
    if pieces and not pieces[0].quoted and text.startswith("~"):
        text = _home(text[1:].partition("/")[0], variables) + "".join(text[1:].partition("/")[1:])
    elif pieces and not pieces[0].quoted and (assigned := _ASSIGNED_HOME.match(text)):  # as bash does in dd of=~/x
        text = assigned[1] + variables.get("HOME", UNKNOWN) + text[assigned.end() :]
    return Word(text, written, globs=_GLOB.search(bare) is not None, splits=UNKNOWN in bare)


def _home(user: str, variables: Mapping[str, str]) -> str:
    """Return the folder of ``~user``, assumed to be next to this user's folder."""
    home = variables.get("HOME", UNKNOWN)
    if not user or UNKNOWN in home:
        return home + user
    if not user.replace("-", "").replace("_", "").isalnum():  # ~+ and ~- are folders of cd
        return UNKNOWN
    return "/root" if user == "root" else f"{dirname(home)}/{user}"


def _ansi(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        return _character(int(code[1:], 16))
    if code[0] in "01234567":
        return _character(int(code, 8) & 0xFF)
    if code[0] == "c":
        return _character(ord(code[1]) & 0x1F) if len(code) > 1 else code
    if code in "\\'\"?":
        return code
    return _ANSI_LETTERS.get(code, match[0])


def _character(number: int) -> str:
    return chr(number) if 0 < number <= _LARGEST_CODE_POINT else UNKNOWN
