"""Destructive things that programs do with their arguments: deleting, moving, disks, permissions, processes.

Each judge gets the call of a program of its family and yields ``(verdict, rule, reason)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve

from pi_guardrails.files import extracts_into
from pi_guardrails.git import git
from pi_guardrails.network import SENDERS, addresses, sends
from pi_guardrails.packages import MANAGERS, installs
from pi_guardrails.pi import pi
from pi_guardrails.processes import kill, kill_by_name
from pi_guardrails.sed import LONGEST, sed_is_harmless, sed_programs
from pi_guardrails.tables import by_name
from pi_guardrails.words import UNKNOWN, Word, has_index_that_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_guardrails.call import Call, Judgement

__all__ = ["SQL_CLIENTS", "judge_program", "sql_danger"]

SQL_CLIENTS = frozenset(
    "psql mysql mariadb sqlite3 sqlcmd clickhouse-client cockroach duckdb sqlplus cqlsh pgcli mycli litecli usql trino "
    "presto hive beeline snowsql bq isql tsql vsql impala-shell spark-sql turso d1 pg:psql".split()
)

_EVERYTHING = re.compile(r"(.*/)?(\*|\.\*|\*\*|\*\.\*|\.\[!\.\]\*|\{,\.\}\*)")
_UNREADABLE = re.compile(
    r"0*[0-3]?[0-3][0-7]{2}|0+|[ugoa]*[ua][ugoa]*-[wx]*r[rwx]*|-[wx]*r[rwx]*|[ugoa]*[ua][ugoa]*=|a?-x|[ugoa]*u[goa]*-x"
)
"""Modes that take the owner's right to read, or to enter folders."""

_WORLD_WRITABLE = re.compile(
    r"[0-7]?[0-7]{2}[2367]|(?:[ugoa]*[oa][ugoa]*|)\+[rxst]*w[rwxst]*|[ugoa]*[oa][ugoa]*=[rx]*w.*"
)
_SET_ID = re.compile(r"[2467][0-7]{3}|[ugoa]*[+=][rwxt]*s[rwxst]*")
_AWK_STRING = re.compile(r'"(\\.|[^"\\])*"')
_AWK = re.compile(r"\bsystem\b|\bgetline\b|@|\bprintf?\b[^;}\n]*(>|(?<!\|)\|(?!\|))|\|&")
_MOUNT = re.compile(
    r"(?:-v|--volume=)(?P<folder>[./~\x00][^:]*):(?P<rest>.*)"
    r"|(?:-v|--mount=)(?=.*type=bind).*(?:source|src)=(?P<source>[^,]*)(?P<more>.*)"
)
_CONTAINER_RIGHTS = (
    *"--privileged --pid=host --ipc=host --userns=host --cap-add --device --security-opt".split(),
    *"--volume=/: -v/: /:".split(),
)
_HERE = re.compile(r"(-v|--volume=)?\"?(\$PWD|\$\{PWD\}|\$\(pwd\))[\"/:]")
_PROGRAM = ("inline-code", "its program may run commands or write files")
_RENAMES = re.compile(r"(s|y|tr)/[^/]*/[^/`@]*/[gi]*")
_SIZE = re.compile(r"(\d+)([KMGTP]?)(i?B)?", re.IGNORECASE)
_SQL = (
    (
        re.compile(
            r"\\!|(^|\n|-cmd )\s*(\.(shell|system|output|once|load|import|excel|log)|system|\\o)\b|\bto\s+program\b"
            r"|\binto\s+(out|dump)file\b|load_extension|\bwritefile\s*\(",
            re.IGNORECASE,
        ),
        "runs a command, or writes a file",
    ),
    (
        re.compile(r"\bdrop\s+(database|schema|table|keyspace|catalog|warehouse)\b", re.IGNORECASE),
        "drops a database, schema or table",
    ),
    (re.compile(r"\bdrop\s+(column|view|index|user|role|owned|type)\b", re.IGNORECASE), "drops a part of a database"),
    (re.compile(r"\bupdate\s+\S+\s+set\b(?!.*\bwhere\b)", re.IGNORECASE | re.DOTALL), "changes every row of a table"),
    (re.compile(r"\bgrant\s+all\b|\bsuperuser\b", re.IGNORECASE), "gives rights to a database"),
    (re.compile(r"\btruncate\s+(table\s+)?\w", re.IGNORECASE), "empties a table"),
    (
        re.compile(r"\bdelete\s+from\s+(only\s+)?[\w.\"`\[\]]+(\s+(as\s+)?\w+)?\s*(;|$|returning\b)", re.IGNORECASE),
        "deletes every row of a table",
    ),
    (
        re.compile(
            r"\b(?:delete\s+from|update)\b[^;]*\b(?:where|or)\s+\(*\s*(?:not\s+(?:false|0)\b"
            r"|(?:true|[1-9]\d*)\s*\)*\s*(?:;|$|or\b|returning\b|['\"]?$)"
            r"|(?P<side>'[^']*'|\"[^\"]*\"|[\w.]+)\s*(?:=|<=|>=|is|like)\s*(?P=side)(?![\w.])|\d+\s*(?:<>|!=|<|>)\s*\d+)",
            re.IGNORECASE | re.DOTALL,
        ),
        "changes every row of a table, as its condition is always true",
    ),
    (
        re.compile(r"\balter\s+table\s+(if\s+exists\s+)?(only\s+)?\S+\s+drop\b", re.IGNORECASE),
        "drops a part of a table",
    ),
    (
        re.compile(
            r"\bdrop\s+(function|procedure|trigger|sequence|extension|materialized|policy|role|constraint|database)\b",
            re.IGNORECASE,
        ),
        "drops a part of a database",
    ),
)


def judge_program(call: Call) -> Iterator[Judgement]:
    """Yield findings about a program with these arguments."""
    name = call.name
    judge = _JUDGES.get(name) or (_disk_tool if name.startswith(("mkfs", "newfs")) else None)
    if judge is not None:
        yield from judge(call)
    yield from by_name(call)
    if name in MANAGERS:
        yield from installs(call)
    yield from sends(call) if name in SENDERS else addresses(call)


def sql_danger(text: str) -> str | None:
    """Describe what SQL would irreversibly do to a database; None if it is harmless."""
    return next((why for pattern, why in _SQL if pattern.search(text)), None)


def _is_recursive(call: Call) -> bool:
    return call.has_letter("rR") or call.has_long("--r")


# Deleting and moving away


def _remove(call: Call) -> Iterator[Judgement]:
    targets, recursive, places = call.operands, _is_recursive(call), call.places
    if call.has_long("--no-p"):
        yield "deny", "delete-root", "it turns off rm's own protection of '/'"
    for word in targets:
        if not word.known:
            yield "ask", "delete", f"what it deletes is known only when it runs: {word.source}"
        elif recursive and places.is_precious(word.text):
            yield "deny", "delete-root", f"it deletes {word.text!r} with everything below it"
        elif not recursive and places.is_outside(word.text):
            yield "ask", "delete", f"it deletes {word.text!r}, outside the working directory"
    if recursive and targets:
        yield "ask", "delete", "it deletes folders with everything below them"
    elif any(_EVERYTHING.fullmatch(word.text) and word.globs for word in targets):
        yield "ask", "delete", "it deletes every file of a folder"


def _remove_tree(call: Call) -> Iterator[Judgement]:
    """Judge programs that delete folders without an option, such as ``rimraf``."""
    yield from _remove(evolve(call, arguments=(Word("-r"), *call.arguments)))


def _cmake(call: Call) -> Iterator[Judgement]:
    texts = call.texts
    if texts[:1] != ["-E"] or len(texts) < 2:  # noqa: PLR2004 - the command after -E
        return
    rest = call.arguments[2:]
    if texts[1] in ("remove_directory", "rm", "remove"):
        yield from (_remove_tree if texts[1] == "remove_directory" else _remove)(
            evolve(call, name="rm", arguments=rest)
        )
    elif texts[1] == "rename":
        yield from _move(evolve(call, name="mv", arguments=rest))


def _venv(call: Call) -> Iterator[Judgement]:
    if call.has_long("--clear"):
        yield from _remove_tree(evolve(call, name="rm", arguments=tuple(call.operands)))


def _make(call: Call) -> Iterator[Judgement]:
    """Judge where ``make`` works: the rules of another folder delete and install there."""
    for before, word in zip(("", *call.texts), call.arguments, strict=False):
        folder = word.text if before in ("-C", "--directory") else re.sub(r"^(-C|--directory=)", "", word.text)
        if before not in ("-C", "--directory") and folder == word.text:
            continue
        if (
            word.known
            and (call.places.is_precious(folder) or call.places.is_outside(folder))
            and folder not in (".", "")
        ):
            yield "ask", "outside", f"it follows the rules of {folder!r}, outside the working directory"


def _php(call: Call) -> Iterator[Judgement]:
    if call.has_letter("S"):
        yield from _http_server(call)


def _redis(call: Call) -> Iterator[Judgement]:
    """Judge ``redis-cli`` where the keys that it deletes are not known."""
    texts = [text.lower() for text in call.texts]
    if {"del", "unlink"} & set(texts) and any(not word.known or word.globs for word in call.arguments):
        yield "ask", "database", "it deletes keys that are known only when it runs"


def _move(call: Call) -> Iterator[Judgement]:
    """Moving a file out of the working directory, or from elsewhere, is like deleting it there."""
    places, sources = call.places, call.operands
    if not sources:
        return
    pairs = zip(call.texts, call.arguments[1:], strict=False)
    last = next((word for word in reversed(sources) if word.known), sources[-1])
    into = next((word for before, word in pairs if before in ("-t", "--target-directory")), last)
    sources = [word for word in sources if word is not into]
    for word in sources:
        if not word.known:
            gone = into.known and places.leaves_project(into.text)
            if gone:
                yield "ask", "delete", f"what it moves away is known only when it runs: {word.source}"
        elif places.is_precious(word.text) or places.is_outside(word.text):
            yield "ask", "delete", f"it moves {word.text!r}, which lies outside the working directory"
        elif into.known and not places.leaves_project(word.text) and places.leaves_project(into.text):
            yield "ask", "delete", f"it moves {word.text!r} out of the working directory"
    if into.known and into.text.startswith("/dev/"):
        yield "ask", "delete", f"it moves files to {into.text!r}, where they are lost"


def _truncate(call: Call) -> Iterator[Judgement]:
    """A file may be created or extended; the user is asked about a size that truncates it."""
    pairs = zip(call.texts, [*call.texts[1:], ""], strict=True)
    sizes = [
        after if text in ("-s", "--size") else re.sub(r"^(-s|--size=)", "", text)
        for text, after in pairs
        if re.match(r"-\w*s|--size", text)
    ]
    size = _SIZE.fullmatch(sizes[0]) if len(sizes) == 1 else None
    grows = len(sizes) == 1 and sizes[0].startswith("+")
    files = [word for word in call.operands if word.text not in sizes]
    if size is not None and int(size[1]) > 0 and files:
        wanted = int(size[1]) * 1024 ** " KMGTP".index(size[2].upper() or " ")
        grows = all(word.known and not word.globs and (call.places.size(word.text) or 0) <= wanted for word in files)
    if not grows:
        yield "ask", "delete", "it cuts off what files hold"


def _rsync(call: Call) -> Iterator[Judgement]:
    if call.has_long("--del", "--remove-s"):
        yield "ask", "delete", "it deletes files"


def _gpg(call: Call) -> Iterator[Judgement]:
    if call.has_long("--delete", "--export-secret"):
        yield "ask", "delete", "it deletes keys, or writes secret ones"


# Disks and archives


def _shred(call: Call) -> Iterator[Judgement]:
    device = any(word.known and call.places.is_device(word.text) for word in call.operands)
    yield ("deny", "disk", "it overwrites a device") if device else ("ask", "delete", "it destroys what files hold")


def _unpack(call: Call) -> Iterator[Judgement]:
    for word in extracts_into(call):
        if not word.known:
            yield "ask", "writes", f"where it unpacks is known only when it runs: {word.source}"


def _disk_tool(call: Call) -> Iterator[Judgement]:
    device = any(word.known and call.places.is_device(word.text) for word in call.arguments)
    yield "deny" if device else "ask", "disk", "it makes a new file system, or erases what is on a disk"


def _dd(call: Call) -> Iterator[Judgement]:
    for word in call.arguments:
        if not word.text.startswith("of=") and not (word.splits and word.text.startswith(UNKNOWN)):
            continue
        target = word.text.removeprefix("of=")
        if not word.known:
            yield "ask", "disk", f"where it writes is known only when it runs: {word.source}"
        elif call.places.is_device(target):
            yield "deny", "disk", f"it overwrites the device {target!r}"


def _pack(call: Call) -> Iterator[Judgement]:
    """Yield findings about an archiver: files that it deletes after adding them."""
    if (call.name == "zip" and call.has_letter("m")) or call.has_long("--move") or "-sdel" in call.texts:
        yield "ask", "delete", "it deletes the files that it packs"
    yield from _unpack(call)


def _tar(call: Call) -> Iterator[Judgement]:
    yield from _unpack(call)
    if call.has_long("--remove"):
        yield "ask", "delete", "it deletes the files that it packs"
    first = call.arguments[0].text if call.arguments else ""
    bare = set(first) if "=" not in first else set()
    if "P" in call.letters | bare or call.has_long("--abs"):
        yield "ask", "writes", "what it unpacks may lie anywhere"


# Permissions


def _chmod(call: Call) -> Iterator[Judgement]:
    plain = call.operands
    modes = [word.text for word in call.arguments if word not in plain[1:]]
    yield from _recursive_change(call, plain[1:])
    if any(_WORLD_WRITABLE.fullmatch(part) for mode in modes for part in mode.lstrip("-").split(",")):
        yield "ask", "permissions", "it lets every user write"
    if any(_SET_ID.fullmatch(part) for mode in modes for part in mode.split(",")):
        yield "ask", "permissions", "it lets a program run with its owner's rights"
    if _is_recursive(call) and any(_UNREADABLE.fullmatch(part) for mode in modes for part in mode.split(",")):
        yield "ask", "permissions", "it takes the right to read everything below a folder"
    if plain and not plain[0].known:
        yield "ask", "permissions", f"the mode is known only when it runs: {plain[0].source}"


def _chown(call: Call) -> Iterator[Judgement]:
    yield from _recursive_change(call, call.operands[1:])
    if _is_recursive(call):
        yield "ask", "permissions", "it changes the owner of everything below a folder"


def _recursive_change(call: Call, targets: Sequence[Word]) -> Iterator[Judgement]:
    if not _is_recursive(call):
        return
    places = call.places
    for word in targets:
        if not word.known:
            yield "ask", "permissions", f"what {call.name} changes is known only when it runs: {word.source}"
        elif places.is_precious(word.text) and places.meanings(word.text)[0] != places.cwd:
            yield "deny", "permissions", f"it changes {word.text!r} with everything below it"


# Programs with a language of their own


def _find(call: Call) -> Iterator[Judgement]:
    texts = set(call.texts)
    if "-delete" in texts:
        yield "ask", "delete", "it deletes every file that it finds"
    if texts & {"-fls", "-fprint", "-fprint0", "-fprintf"}:
        yield "ask", "writes", "it writes what it finds into a file"
    if any(not word.known and word.splits for word in call.arguments):
        yield "ask", "delete", "what it does with the files is known only when it runs"


def _awk(call: Call) -> Iterator[Judgement]:
    if any(word.text == "inplace" for word in call.arguments) and not any(
        re.search(r"print|\}\s*1|^1$", word.text) for word in call.arguments
    ):
        yield "ask", "delete", "it empties the files that it edits"
    for word in call.arguments:
        if not word.known or len(word.text) > LONGEST or _AWK.search(_AWK_STRING.sub('""', word.text)):
            yield "ask", *_PROGRAM
            return


def _sed(call: Call) -> Iterator[Judgement]:
    unclear = any(not word.known and "(" in word.source for word in call.arguments)
    if unclear or not all(sed_is_harmless(program) for program in sed_programs(call.arguments)):
        yield "ask", *_PROGRAM


def _subscript(call: Call) -> Iterator[Judgement]:
    if any(has_index_that_runs(word.text) for word in call.arguments):
        yield "ask", "dynamic-command", "the shell runs a command in the index of a variable"
    if call.name in ("declare", "typeset", "local") and call.has_letter("n"):
        yield "ask", "dynamic-command", "it gives a variable another name, under which it may be set"


def _rename(call: Call) -> Iterator[Judgement]:
    """One of the programs of that name takes an expression of Perl."""
    expression = next((word.text for word in call.operands), "")
    if re.match(r"(s|y|tr)\W", expression) and _RENAMES.fullmatch(expression) is None:
        yield "ask", "inline-code", "it runs code in the language of perl, which is not analysed here"


# Containers and servers


def _docker(call: Call) -> Iterator[Judgement]:
    texts = call.texts
    if any(text.startswith(_CONTAINER_RIGHTS) for text in texts):
        yield "ask", "privileges", "the container may change the whole computer"
    for word in _mounted(call):
        if not word.known or call.places.is_outside(word.text):
            target = repr(word.text) if word.known else word.source
            yield "ask", "privileges", f"the container may change {target}, outside the working directory"


def _mounted(call: Call) -> Iterator[Word]:
    """Yield the folders of this computer that a container gets to write."""
    for before, word in zip(("", *call.texts), call.arguments, strict=False):
        mount = _MOUNT.fullmatch(word.text if before not in ("-v", "--volume", "--mount") else f"-v{word.text}")
        if mount is None or _HERE.match(word.source):
            continue
        if not (mount["rest"] or mount["more"] or "").endswith((":ro", ",readonly", ",ro")):
            yield Word(mount["folder"] or mount["source"], word.source)


def _http_server(call: Call) -> Iterator[Judgement]:
    pairs = zip(call.texts, call.arguments[1:], strict=False)
    folders = [word for before, word in pairs if before in ("-d", "--directory", "-t")]
    for text in [word.text for word in folders] or ["."]:
        if UNKNOWN in text or call.places.is_outside(text):
            yield "ask", "exfiltration", f"it offers {text!r}, outside the working directory, to the network"


_JUDGES: dict[str, Callable[[Call], Iterator[Judgement]]] = {
    **dict.fromkeys(("rm", "unlink", "srm"), _remove),
    **dict.fromkeys(
        "mkswap wipefs blkdiscard fdisk sfdisk sgdisk cfdisk gdisk parted mke2fs diskutil".split(), _disk_tool
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(
        "test [ [[ let printf read unset declare typeset local export readonly wait getopts mapfile readarray".split(),
        _subscript,
    ),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _docker),
    **dict.fromkeys(("chown", "chgrp"), _chown),
    **dict.fromkeys(("gpg", "gpg2"), _gpg),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(("shred", "wipe", "scrub"), _shred),
    **dict.fromkeys(("unzip", "7z", "7za", "7zr", "unrar", "cpio", "pax", "zip", "jar"), _pack),
    **dict.fromkeys(("pi", "pluggypi", "pi_cli"), pi),
    **dict.fromkeys(("killall", "pkill"), kill_by_name),
    "chmod": _chmod,
    "cmake": _cmake,
    **dict.fromkeys(("make", "gmake"), _make),
    "php": _php,
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _redis),
    **dict.fromkeys(("rimraf", "rm-rf"), _remove_tree),
    **dict.fromkeys(("venv", "virtualenv"), _venv),
    "dd": _dd,
    "find": _find,
    "git": git,
    "http.server": _http_server,
    "kill": kill,
    "mv": _move,
    **dict.fromkeys(("rename", "prename", "file-rename", "perl-rename"), _rename),
    "rsync": _rsync,
    "truncate": _truncate,
}
