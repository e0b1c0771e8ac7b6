"""Destructive things that programs do with their arguments: deleting, moving, disks, permissions, processes.

Each judge gets the call of a program of its family and yields ``(verdict, rule, reason)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve

from pi_guardrails.credentials import reads_credentials
from pi_guardrails.databases import redis
from pi_guardrails.elsewhere import from_elsewhere
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

__all__ = ["judge_program"]

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
_UNREAD = ("inline-code", "it runs code that is not analysed")
_CHANGES = re.compile(
    r"delete|destroy|drop|truncate|update|insert|save|create|system|exec|eval|File|Dir|`|\.\w+!", re.IGNORECASE
)
_CONSOLES = frozenset("shell shell_plus dbshell console c dbconsole db tinker".split())
_HUGE = 100 * 1024**3
"""Bytes; a new file of this size may fill the disk."""

_PROGRAM = ("inline-code", "its program may run commands or write files")
_RENAMES = re.compile(r"(s|y|tr)/[^/]*/[^/`@]*/[gi]*")
_SIZE = re.compile(r"(\d+)([KMGTP]?)(i?B)?", re.IGNORECASE)


def judge_program(call: Call) -> Iterator[Judgement]:
    """Yield findings about a program with these arguments."""
    name = call.name
    judge = _JUDGES.get(name) or (_disk_tool if name.startswith(("mkfs", "newfs")) else None)
    if judge is not None:
        yield from judge(call)
    yield from by_name(call)
    yield from reads_credentials(call)
    yield from from_elsewhere(call)
    if name in MANAGERS:
        yield from installs(call)
    yield from sends(call) if name in SENDERS else addresses(call)


def _is_recursive(call: Call) -> bool:
    return call.has_letter("rR") or call.has_long("--r")


# Deleting and moving away


def _remove(call: Call) -> Iterator[Judgement]:
    targets, recursive, places = call.operands, _is_recursive(call), call.places
    if call.has_long("--no-p"):
        yield "deny", "delete-root", "it turns off rm's own protection of '/'"
    for word in targets:
        if not word.known:
            yield "ask", "delete", f"what it deletes is known only at run time: {word.source}"
        elif recursive and places.is_precious(word.text):
            yield "deny", "delete-root", f"it deletes {word.text!r} and everything in it"
        elif not recursive and places.is_outside(word.text):
            yield "ask", "delete", f"it deletes {word.text!r}, outside the working directory"
    if recursive and targets:
        yield "ask", "delete", "it deletes folders and everything in them"
    elif any(_EVERYTHING.fullmatch(word.text) and word.globs for word in targets):
        yield "ask", "delete", "it deletes every file in a folder"


def _remove_tree(call: Call) -> Iterator[Judgement]:
    """Judge programs that delete folders without an option, such as ``rimraf``."""
    yield from _remove(evolve(call, arguments=(Word("-r"), *call.arguments)))


def _cmake(call: Call) -> Iterator[Judgement]:
    texts = call.texts
    prefixes = [after for before, after in zip(texts, call.arguments[1:], strict=False) if before == "--prefix"]
    inside = bool(prefixes) and all(word.known and not call.places.is_outside(word.text) for word in prefixes)
    if ("--install" in texts and not inside) or any(text.startswith("-P") for text in texts):
        yield "ask", "outside", "it installs what it builds, or runs a script, usually outside the working directory"
    if texts[:1] != ["-E"] or len(texts) < 2:  # noqa: PLR2004 - the command after -E
        return
    rest = call.arguments[2:]
    if texts[1] in ("remove_directory", "rm", "remove"):
        yield from (_remove_tree if texts[1] == "remove_directory" else _remove)(
            evolve(call, name="rm", arguments=rest)
        )
    elif texts[1] == "rename" and rest:
        yield from _move(evolve(call, name="mv", arguments=rest))


def _venv(call: Call) -> Iterator[Judgement]:
    if call.has_long("--clear"):
        yield from _remove_tree(evolve(call, name="rm", arguments=tuple(call.operands)))


def _make(call: Call) -> Iterator[Judgement]:
    """Judge where ``make`` works: the rules of another folder delete and install there."""
    if not call.has_letter("n") and not any(re.match(r"(DESTDIR|PREFIX|prefix)=(?!/$)", text) for text in call.texts):
        yield from _installs(call)
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


def _installs(call: Call) -> Iterator[Judgement]:
    """Judge builders that copy what they have built into folders of the system."""
    if any(re.fullmatch(r"(un)?install(-\w+|/\w+)?", word.text) for word in call.operands):
        yield "ask", "outside", "it installs what it builds, usually outside the working directory"


def _gradle(call: Call) -> Iterator[Judgement]:
    tasks = (word.text.rsplit(":", 1)[-1] for word in call.operands)
    if any(task.startswith("publish") and not task.startswith("publishToMavenLocal") for task in tasks):
        yield "ask", "publish", "it publishes, which often cannot be undone"


def _php(call: Call) -> Iterator[Judgement]:
    if call.has_letter("S"):
        yield from _http_server(call)


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
                yield "ask", "delete", f"what it moves away is known only at run time: {word.source}"
        elif places.is_precious(word.text) or places.is_outside(word.text):
            yield "ask", "delete", f"it moves {word.text!r}, which is outside the working directory"
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
    if size is not None and _bytes(size) >= _HUGE:
        yield "ask", "disk", f"it creates a file of {sizes[0]}"
    if size is not None and int(size[1]) > 0 and files:
        wanted = _bytes(size)
        grows = all(word.known and not word.globs and (call.places.size(word.text) or 0) <= wanted for word in files)
    if not grows:
        yield "ask", "delete", "it truncates files"


def _bytes(size: re.Match[str]) -> int:
    power = " KMGTP".index(size[2].upper() or " ")
    return int(size[1]) << (10 * power)


def _rsync(call: Call) -> Iterator[Judgement]:
    if call.has_long("--del", "--remove-s") and not call.has_letter("n") and not call.has_long("--dry"):
        yield "ask", "delete", "it deletes files"


def _gpg(call: Call) -> Iterator[Judgement]:
    if call.has_long("--delete", "--export-secret"):
        yield "ask", "delete", "it deletes keys, or writes secret ones"


# Disks and archives


def _shred(call: Call) -> Iterator[Judgement]:
    device = any(word.known and call.places.is_device(word.text) for word in call.operands)
    yield (
        ("deny", "disk", "it overwrites a device") if device else ("ask", "delete", "it destroys the contents of files")
    )


def _unpack(call: Call) -> Iterator[Judgement]:
    for word in extracts_into(call):
        if not word.known:
            yield "ask", "writes", f"where it unpacks is known only at run time: {word.source}"


def _disk_tool(call: Call) -> Iterator[Judgement]:
    device = any(word.known and call.places.is_device(word.text) for word in call.arguments)
    yield "deny" if device else "ask", "disk", "it creates a file system, or erases a disk"


def _dd(call: Call) -> Iterator[Judgement]:
    if any(re.fullmatch(r"if=/dev/(zero|u?random)", text) for text in call.texts) and not any(
        text.startswith("count=") for text in call.texts
    ):
        yield "ask", "disk", "it writes endlessly, until the disk is full"
    for word in call.arguments:
        if not word.text.startswith("of=") and not (word.splits and word.text.startswith(UNKNOWN)):
            continue
        target = word.text.removeprefix("of=")
        if not word.known:
            yield "ask", "disk", f"where it writes is known only at run time: {word.source}"
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
        yield "ask", "writes", "it may unpack files anywhere"


def _fallocate(call: Call) -> Iterator[Judgement]:
    if call.has_letter("pcz") or call.has_long("--punch", "--collapse", "--zero"):
        yield "ask", "delete", "it punches holes into a file"
    sizes = [size for text in call.texts if (size := _SIZE.fullmatch(text.removeprefix("-l"))) is not None]
    if any(_bytes(size) >= _HUGE for size in sizes):
        yield "ask", "disk", "it creates a file that may fill the disk"


def _format(call: Call) -> Iterator[Judgement]:
    if any(re.fullmatch(r"[a-zA-Z]:", text) for text in call.texts):
        yield "ask", "disk", "it creates a file system"


def _windows_remove(call: Call) -> Iterator[Judgement]:
    if any(text.lower() == "/s" for text in call.texts):
        yield "ask", "delete", "it deletes folders and everything in them"


def _writes_outside(call: Call) -> Iterator[Judgement]:
    for word in call.operands:
        if word.known and call.places.is_outside(word.text):
            yield "ask", "outside", f"it writes {word.text!r}, outside the working directory"


# Permissions


def _chmod(call: Call) -> Iterator[Judgement]:
    plain = call.operands
    modes = [word.text for word in call.arguments if word not in plain[1:]]
    yield from _recursive_change(call, plain[1:])
    if any(_WORLD_WRITABLE.fullmatch(part) for mode in modes for part in mode.lstrip("-").split(",")):
        yield "ask", "permissions", "it lets every user write"
    if any(_SET_ID.fullmatch(part) for mode in modes for part in mode.split(",")):
        yield "ask", "permissions", "it lets a program run with its owner's privileges"
    if _is_recursive(call) and any(_UNREADABLE.fullmatch(part) for mode in modes for part in mode.split(",")):
        yield "ask", "permissions", "it makes everything in a folder unreadable"
    if plain and not plain[0].known:
        yield "ask", "permissions", f"the mode is known only at run time: {plain[0].source}"


def _chown(call: Call) -> Iterator[Judgement]:
    yield from _recursive_change(call, call.operands[1:])
    if _is_recursive(call):
        yield "ask", "permissions", "it changes the owner of everything in a folder"


def _recursive_change(call: Call, targets: Sequence[Word]) -> Iterator[Judgement]:
    if not _is_recursive(call):
        return
    places = call.places
    for word in targets:
        if not word.known:
            yield "ask", "permissions", f"what {call.name} changes is known only at run time: {word.source}"
        elif places.is_precious(word.text) and places.meanings(word.text)[0] != places.cwd:
            yield "deny", "permissions", f"it changes {word.text!r} and everything in it"


# Programs with a language of their own


def _find(call: Call) -> Iterator[Judgement]:
    texts = set(call.texts)
    if "-delete" in texts:
        yield "ask", "delete", "it deletes every file that it finds"
    if texts & {"-fls", "-fprint", "-fprint0", "-fprintf"}:
        yield "ask", "writes", "it writes its results to a file"
    if any(not word.known and word.splits for word in call.arguments):
        yield "ask", "delete", "what it does with the files is known only at run time"


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


def _set(call: Call) -> Iterator[Judgement]:
    if call.texts == ["+o", "history"]:
        yield "ask", "environment", "it turns off the shell's history"


def _ps(call: Call) -> Iterator[Judgement]:
    if call.texts and re.fullmatch(r"[a-df-z]*e[a-z]*", call.texts[0]):
        yield "ask", "secrets", "it prints the variables of all processes"


def _sysctl(call: Call) -> Iterator[Judgement]:
    if any("=" in word.text for word in call.operands):
        yield "ask", "system", "it changes the running system"


def _rails(call: Call) -> Iterator[Judgement]:
    texts = [word.text for word in call.operands]
    if texts[:1] in (["runner"], ["r"]) and any(
        not word.known or _CHANGES.search(word.text) for word in call.operands[1:]
    ):
        yield "ask", *_UNREAD
    yield from _console(call)


def _console(call: Call) -> Iterator[Judgement]:
    """Judge a framework's console that gets its commands from somewhere."""
    if _CONSOLES & set(call.texts[:2]) and (call.command.piped or call.command.stdin):
        yield "ask", *_UNREAD


def _subscript(call: Call) -> Iterator[Judgement]:
    if call.name == "unset" and any(text.startswith("HIST") for text in call.texts):
        yield "ask", "environment", "it turns off the shell's history"
    if any(has_index_that_runs(word.text) for word in call.arguments):
        yield "ask", "dynamic-command", "the shell runs a command in the index of a variable"
    if call.name in ("declare", "typeset", "local") and call.has_letter("n"):
        yield "ask", "dynamic-command", "it gives a variable another name, under which it may be set"


def _editor(call: Call) -> Iterator[Judgement]:
    if any(text in ("-u", "-U", "-l", "-s", "-w", "-W") for text in call.texts):
        yield "ask", "dynamic-command", "it follows a script of the editor"


def _compiler(call: Call) -> Iterator[Judgement]:
    if any(text.startswith(("-wrapper", "-fplugin", "-specs", "-B")) for text in call.texts):
        yield "ask", "dynamic-command", f"{call.name} can start another program with such an option"


def _rename(call: Call) -> Iterator[Judgement]:
    """One of the programs of that name takes an expression of Perl."""
    expression = next((word.text for word in call.operands), "")
    if re.match(r"(s|y|tr)\W", expression) and _RENAMES.fullmatch(expression) is None:
        yield "ask", "inline-code", "it runs code for perl, which is not analysed"


# Containers and servers


def _docker(call: Call) -> Iterator[Judgement]:
    texts = call.texts
    if {"stop", "restart", "pause", "kill"} & set(texts[:2]) and any(not word.known for word in call.operands):
        yield "ask", "infrastructure", "which containers it stops is known only at run time"
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


_SERVED = ("-d", "--directory", "-t", "-h", "-r", "--root", "--path", "-p")
_SERVES_OPERAND = frozenset("miniserve darkhttpd updog serve http.server".split())


def _http_server(call: Call) -> Iterator[Judgement]:
    pairs = zip(call.texts, call.arguments[1:], strict=False)
    folders = [word for before, word in pairs if before in _SERVED]
    if call.name in _SERVES_OPERAND:
        folders += [word for word in call.operands[-1:] if "/" in word.text or word.text == ".." or not word.known]
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
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), redis),
    **dict.fromkeys(("rimraf", "rm-rf"), _remove_tree),
    **dict.fromkeys(("venv", "virtualenv"), _venv),
    "dd": _dd,
    **dict.fromkeys(("gradle", "gradlew"), _gradle),
    "set": _set,
    "ps": _ps,
    "sysctl": _sysctl,
    "rails": _rails,
    **dict.fromkeys(("manage.py", "artisan"), _console),
    **dict.fromkeys(("ninja", "meson"), _installs),
    "fallocate": _fallocate,
    **dict.fromkeys(("vim", "vi", "nvim", "gvim"), _editor),
    **dict.fromkeys(("gcc", "cc", "g++", "c++", "clang", "clang++"), _compiler),
    **dict.fromkeys(("mkfifo", "mknod", "strip", "objcopy"), _writes_outside),
    "format": _format,
    **dict.fromkeys(("rd", "rmdir"), _windows_remove),
    **dict.fromkeys(("miniserve", "darkhttpd", "updog", "webfsd", "httpd", "twistd", "caddy", "serve"), _http_server),
    "find": _find,
    "git": git,
    "http.server": _http_server,
    "kill": kill,
    "mv": _move,
    **dict.fromkeys(("rename", "prename", "file-rename", "perl-rename"), _rename),
    "rsync": _rsync,
    "truncate": _truncate,
}
