"""Which files a program writes: operands, option values, and the folders that it unpacks into."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_guardrails.git import reads_only
from pi_guardrails.sed import sed_operands
from pi_guardrails.words import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_guardrails.call import Call

__all__ = ["READERS", "TARS", "How", "extracts_into", "files_of", "is_option", "written_files"]

How: TypeAlias = Literal["named", "changed", "overwritten"]
"""A file that is ``named`` may or may not be written; ``changed`` includes creating it."""

READERS = frozenset(
    ". [ [[ alias basename cat cd cksum cmp comm cut diff dirname du echo egrep export false fgrep file grep head jq "
    "less ls md5sum more nl od printf pushd pwd read readlink realpath rg set sha1sum sha256sum source stat strings "
    "tail test tr tree true type wc which".split()
)
TARS = frozenset({"tar", "gtar", "bsdtar"})
_UNPACKERS = TARS | {"unzip", "7z", "cpio", "jar", "unrar"}
_LAST = frozenset("convert cp ditto ffmpeg install ln magick mv qpdf rsync scp sox".split())
_ALL = frozenset(
    "bunzip2 bzip2 dos2unix ed ex gunzip gzip lz4 patch sponge tee truncate unix2dos unlz4 unxz unzstd xz zstd".split()
)
_CHANGED = frozenset("chgrp chmod chown mkdir rm rmdir shred touch unlink".split())
_PACKERS = frozenset("bunzip2 bzip2 gunzip gzip lz4 unlz4 unxz unzstd xz zstd".split())
_IN_PLACE = re.compile(r"-[a-zA-Z0]*i.*|--in-?place(=.*)?")
_PLACE = re.compile(r"[\w.-]+(@[\w.-]+)?:(?!/?/?\w:)")
"""A folder on another computer: ``host:folder``."""

_WRITES = {
    "7z": "-o",
    "age": "-o --output",
    "aria2c": "-d --dir -o --out",
    "cc": "-o",
    "clang": "-o",
    "cpio": "-D --directory -O",
    "curl": "-o --output --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --hsts"
    " --alt-svc --etag-save --libcurl",
    "gcc": "-o",
    "git archive": "-o --output",
    "git diff": "--output",
    "git format-patch": "-o --output-directory --output",
    "git log": "--output",
    "git show": "--output",
    "gpg": "-o --output",
    "iconv": "-o --output",
    "jar": "-C",
    "less": "-o -O --log-file --LOG-FILE",
    "openssl": "-out -keyout",
    "pandoc": "-o --output",
    "patch": "-o -d --output --directory",
    "rsync": "--log-file --write-batch --backup-dir",
    "shuf": "-o --output",
    "sort": "-o --output",
    "strace": "-o --output",
    "time": "-o --output",
    "unrar": "-op",
    "unzip": "-d",
    "wget": "-O -P -o -a --output-document --directory-prefix --output-file --append-output --save-cookies",
    **dict.fromkeys(TARS, "-C --directory --one-top-level"),
}
_ONE_TARGET = 2
_LONG_SINGLE = re.compile(r"-\w\w+")


def files_of(call: Call) -> Iterator[tuple[Word, How]]:
    """Yield the files that a program may write, and how."""
    name = call.name
    yield from ((word, "overwritten") for word in _overwritten(call))
    if name in READERS or (name == "git" and reads_only(call.arguments)) or _shows_certificate(call):
        return
    operands = call.operands
    if name == "mv":
        yield from ((word, "changed") for word in operands[:-1])
    if name in _CHANGED:
        yield from ((word, "changed") for word in operands)
    for word in call.arguments:
        yield word, "named"
        yield from ((part, "named") for part in _parts(word))


def _shows_certificate(call: Call) -> bool:
    """Whether a program only displays or checks certificates, which are no secret: ``openssl x509 -in cert.pem``."""
    words = [word.text for word in call.operands[:2]]
    if call.name == "step":
        return words in (["certificate", "inspect"], ["certificate", "verify"], ["certificate", "fingerprint"])
    reads = words[:1] in (["x509"], ["verify"], ["crl"], ["s_client"], ["ocsp"])
    return call.name == "openssl" and reads and not {"-out", "-signkey", "-key", "-CAkey", "-respout"} & set(call.texts)


def written_files(name: str, arguments: Sequence[Word]) -> Iterator[Word]:
    """Yield the files that a program's options make it write.

    Args:
        name: The program, with its subcommand if it has subcommands.
        arguments: What follows the name.
    """
    options = _WRITES.get(name, "").split()
    for word, after in zip_longest(arguments, arguments[1:]):
        for option in options:
            if not is_option(option, word.text):
                continue
            value = word.text.partition("=" if option.startswith("--") else option[1])[2]
            if _LONG_SINGLE.fullmatch(option):
                value = word.text[len(option) :]
            if value:
                yield Word(value, word.source)
            elif after is not None:
                yield after


def extracts_into(call: Call) -> list[Word]:
    """Return the folders into which a program unpacks an archive; empty if it unpacks nothing."""
    name, letters = call.name, call.letters
    first = call.arguments[0].text if call.arguments else ""
    if name in TARS:
        if not first.startswith("-"):
            return _extracts_by_letters(first, call.arguments[1:])
        unpacks = "x" in letters or call.has_long("--extr", "--get")
    elif name == "unzip":
        unpacks = letters.isdisjoint("ltpZcvz")
    elif name in ("7z", "7za", "7zr", "unrar", "jar"):
        unpacks = first in ("x", "e", "xf", "xvf", "-xf")
        name = "7z" if name.startswith("7z") else name
    elif name in ("cpio", "pax"):
        unpacks = not letters.isdisjoint("ir") or call.has_long("--extr")
    else:
        return []
    return (list(written_files(name, call.arguments)) or [Word(".", ".")]) if unpacks else []


def _extracts_by_letters(letters: str, arguments: Sequence[Word]) -> list[Word]:
    """The same for ``tar xCf FOLDER FILE``, where letters have no dash and their values follow in the same order."""
    if "x" not in letters:
        return []
    with_value = [letter for letter in letters if letter in "bCfFgHIKLNTVX"]
    into = [word for letter, word in zip(with_value, arguments, strict=False) if letter == "C"]
    return [*into, *written_files("tar", arguments)] or [Word(".", ".")]


def is_option(option: str, text: str) -> bool:
    """Whether an argument is an option of a table, in any of the notations that programs accept.

    Args:
        option: ``-c`` also among other letters, ``--rsh`` also shortened; ``+``, ``--on-`` and what has a ``=`` are
            the beginning of an argument; ``*`` matches every argument.
        text: The argument.
    """
    name = text.partition("=")[0]
    if option == "*":
        return True
    if not option.startswith("-") or option.endswith("-") or "=" in option:
        return text.startswith(option)
    if option.startswith("--"):
        return name == option or (len(name) >= len("--abc") and option.startswith(name))
    if len(option) == len("-x"):
        return text.startswith("-") and not text.startswith("--") and option[1] in text
    return name == option


def _overwritten(call: Call) -> Iterator[Word]:
    name, operands = call.name, call.operands
    if name in _LAST:
        into = list(_values(call.arguments, "-t", "--target-directory"))
        last = -1 if not operands or operands[-1].known else -2  # behind which another may have been added
        wanted = into or (operands[last:] if len(operands) >= _ONE_TARGET else [])
        yield from (word for word in wanted if not _PLACE.match(word.text))
    elif name in _ALL and not (name in _PACKERS and call.has_letter("clt")):
        yield from operands
    elif name in ("sed", "gsed") and _edits(call):
        yield from sed_operands(call.arguments)
    elif name in ("perl", "ruby", "yq", "sd", "clang-format") and _edits(call):
        yield from operands
    elif name == "split":
        yield from operands[1:]
    elif name == "dd":
        yield from (Word(word.text[3:], word.source) for word in call.arguments if word.text.startswith("of="))
    if name not in _UNPACKERS:
        yield from written_files(name, call.arguments)
    yield from extracts_into(call)


def _edits(call: Call) -> bool:
    return any(_IN_PLACE.fullmatch(word.text) for word in call.arguments)


def _values(arguments: Sequence[Word], short: str, long: str) -> Iterator[Word]:
    for word, after in zip_longest(arguments, arguments[1:]):
        if word.text in (short, long) and after is not None:
            yield after
        elif word.text.startswith(f"{long}="):
            yield Word(word.text.partition("=")[2], word.source)
        elif word.text.startswith(short) and not word.text.startswith("--") and word.text != short:
            yield Word(word.text[len(short) :], word.source)


def _parts(word: Word) -> Iterator[Word]:
    """Yield what may be a path inside an argument: ``--output=x``, ``-ox``, ``of=x``, ``@x``, ``name=@x``."""
    _, equals, value = word.text.partition("=")
    if equals:
        yield Word(value.removeprefix("@"), word.source)
    elif re.match(r"-\w.", word.text):
        yield Word(word.text[2:].removeprefix("@"), word.source)
    elif word.text.startswith("@"):
        yield Word(word.text[1:], word.source)
