"""What programs do with their arguments that somebody may regret: deleting, disks, permissions, processes, data.

Each judge gets the arguments after the program's name and yields ``(verdict, rule, reason)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from pi_guardrails._git import git
from pi_guardrails._sed import LONGEST, sed_is_harmless, sed_programs
from pi_guardrails._words import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_guardrails._findings import Verdict
    from pi_guardrails._paths import Places
    from pi_guardrails._words import Word

__all__ = ["SQL_CLIENTS", "judge_program", "sql_danger"]

Judgement: TypeAlias = "tuple[Verdict, str, str]"
Arguments: TypeAlias = "Sequence[Word]"

_WORLD_WRITABLE = re.compile(
    r"[0-7]?[0-7]{2}[2367]|(?:[ugoa]*[oa][ugoa]*|)\+[rxst]*w[rwxst]*|[ugoa]*[oa][ugoa]*=[rx]*w.*"
)
_SET_ID = re.compile(r"[2467][0-7]{3}|[ugoa]*[+=][rwxt]*s[rwxst]*")
SQL_CLIENTS = frozenset("psql mysql mariadb sqlite3 sqlcmd clickhouse-client cockroach duckdb sqlplus".split())
_AWK_STRING = re.compile(r'"(\\.|[^"\\])*"')
_AWK = re.compile(r"\bsystem\b|\bgetline\b|@|\bprintf?\b[^;}\n]*(>|(?<!\|)\|(?!\|))|\|&")
_SUBSTITUTED_INDEX = re.compile(r"\[[^]]*(\$\(|`|\x00)")
_PROGRAM = ("inline-code", "its program may run commands or write files")
_SQL = (
    (
        re.compile(
            r"\\!|(^|\n|-cmd )\s*(\.(shell|system|output|once|load|import|excel|log)|system|\\o)\b|\bto\s+program\b"
            r"|\binto\s+(out|dump)file\b|load_extension",
            re.IGNORECASE,
        ),
        "runs a command, or writes a file",
    ),
    (re.compile(r"\bdrop\s+(database|schema|table)\b", re.IGNORECASE), "drops a database, schema or table"),
    (re.compile(r"\btruncate\s+(table\s+)?\w", re.IGNORECASE), "empties a table"),
    (re.compile(r"\bdelete\s+from\s+[\w.\"`]+\s*(;|$)", re.IGNORECASE), "deletes every row of a table"),
)


def judge_program(name: str, arguments: Arguments, places: Places) -> Iterator[Judgement]:
    """Yield what speaks against a program with these arguments."""
    judge = _JUDGES.get(name) or (_disk_tool if name.startswith(("mkfs", "newfs")) else None)
    if judge is not None:
        yield from judge(arguments, places)
    if name in _ALWAYS:
        yield "ask", *_ALWAYS[name]
    if name in _UNLESS:
        harmless, rule, why = _UNLESS[name]
        if not arguments or arguments[0].text not in harmless.split():
            yield "ask", rule, why
    for needed, rule, why in _WITH_WORDS.get(name, ()):
        if _has_words(arguments, needed):
            yield "ask", rule, why


def sql_danger(text: str) -> str | None:
    """Return what a text would do to a database that cannot be undone; None where it does no such thing."""
    return next((why for pattern, why in _SQL if pattern.search(text)), None)


def _has_words(arguments: Arguments, needed: str) -> bool:
    """Whether the words stand among the arguments in this order; what is not known may be any of them."""
    wanted = needed.split()
    for word in arguments:
        if wanted and (word.text == wanted[0] or (not word.known and word.splits)):
            wanted.pop(0)
    return not wanted


def _operands(arguments: Arguments) -> list[Word]:
    """Return the arguments that are no options."""
    plain: list[Word] = []
    for number, word in enumerate(arguments):
        if word.text == "--":
            return [*plain, *arguments[number + 1 :]]
        if not word.text.startswith("-") or word.text == "-":
            plain.append(word)
    return plain


def _flags(arguments: Arguments) -> tuple[set[str], list[str]]:
    """Return the letters of short options, and the long options."""
    letters: set[str] = set()
    long: list[str] = []
    for word in arguments:
        if word.text == "--":
            break
        if word.text.startswith("--"):
            long.append(word.text)
        elif word.text.startswith("-"):
            letters |= set(word.text[1:])
    return letters, long


def _is_recursive(arguments: Arguments) -> bool:
    letters, long = _flags(arguments)
    return bool(letters & {"r", "R"}) or any(each.startswith("--r") for each in long)


def _remove(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    targets, recursive = _operands(arguments), _is_recursive(arguments)
    if any(each.startswith("--no-p") for each in _flags(arguments)[1]):
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


def _disk_tool(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    device = any(word.known and places.is_device(word.text) for word in arguments)
    yield "deny" if device else "ask", "disk", "it makes a new file system, or erases what is on a disk"


def _dd(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    for word in arguments:
        if not word.text.startswith("of=") and not (word.splits and word.text.startswith(UNKNOWN)):
            continue
        target = word.text.removeprefix("of=")
        if not word.known:
            yield "ask", "disk", f"where it writes is known only when it runs: {word.source}"
        elif places.is_device(target):
            yield "deny", "disk", f"it overwrites the device {target!r}"


def _chmod(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    operands = _operands(arguments)
    modes = [word.text for word in arguments if word not in operands[1:]]
    yield from _recursive_change("chmod", arguments, operands[1:], places)
    if any(_WORLD_WRITABLE.fullmatch(part) for mode in modes for part in mode.lstrip("-").split(",")):
        yield "ask", "permissions", "it lets everybody write"
    if any(_SET_ID.fullmatch(part) for mode in modes for part in mode.split(",")):
        yield "ask", "permissions", "it lets a program run with its owner's rights"
    if operands and not operands[0].known:
        yield "ask", "permissions", f"the mode is known only when it runs: {operands[0].source}"


def _chown(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    yield from _recursive_change("chown", arguments, _operands(arguments)[1:], places)
    if _is_recursive(arguments):
        yield "ask", "permissions", "it changes the owner of everything below a folder"


def _recursive_change(name: str, arguments: Arguments, targets: Sequence[Word], places: Places) -> Iterator[Judgement]:
    if not _is_recursive(arguments):
        return
    for word in targets:
        if not word.known:
            yield "ask", "permissions", f"what {name} changes is known only when it runs: {word.source}"
        elif places.is_precious(word.text) and not _is_own(word.text, places):
            yield "deny", "permissions", f"it changes {word.text!r} with everything below it"


def _is_own(path: str, places: Places) -> bool:
    return places.meanings(path)[0] == places.cwd


def _kill(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    texts = [word.text for word in arguments]
    if "-1" in texts[1:] or ("--" in texts and "-1" in texts[texts.index("--") :]):
        yield "ask", "processes", "it ends every process that it may"
    if any(not word.known for word in arguments):
        yield "ask", "processes", "which process it ends is known only when it runs"


def _find(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    texts = {word.text for word in arguments}
    if "-delete" in texts:
        yield "ask", "delete", "it deletes every file that it finds"
    if texts & {"-fls", "-fprint", "-fprint0", "-fprintf"}:
        yield "ask", "writes", "it writes what it finds into a file"
    if any(not word.known and word.splits for word in arguments):
        yield "ask", "delete", "what it does with the files is known only when it runs"


def _awk(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    for word in arguments:
        if not word.known or len(word.text) > LONGEST or _AWK.search(_AWK_STRING.sub('""', word.text)):
            yield "ask", *_PROGRAM
            return


def _sed(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    if not all(sed_is_harmless(program) for program in sed_programs(arguments)):
        yield "ask", *_PROGRAM


def _subscript(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    if any(_SUBSTITUTED_INDEX.search(word.text) for word in arguments):
        yield "ask", "dynamic-command", "the shell runs what stands in the index of a variable"


def _netcat(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    letters, long = _flags(arguments)
    if letters & {"e", "c"} or any(each.startswith(("--exec", "--sh-exec", "--lua")) for each in long):
        yield "ask", "remote-code", "it lets another computer use a program of this one"


def _socat(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    if any(not word.known or re.search(r"exec:|system:|shell:", word.text, re.IGNORECASE) for word in arguments):
        yield "ask", "remote-code", "it lets another computer use a program of this one"


def _docker(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    texts = [word.text for word in arguments]
    if any(text.startswith(("--privileged", "--pid=host", "--volume=/:", "-v/:", "/:")) for text in texts):
        yield "ask", "privileges", "the container may change the whole computer"


def _truncate(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    yield "ask", "delete", "it cuts off what files hold"


def _tar(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    letters, long = _flags(arguments)
    bare = set(arguments[0].text) if arguments and "=" not in arguments[0].text else set()
    if "P" in letters | bare or any(each.startswith("--abs") for each in long):
        yield "ask", "writes", "what it unpacks may lie anywhere"


def _rsync(arguments: Arguments, places: Places) -> Iterator[Judgement]:
    if any(each.startswith(("--del", "--remove-s")) for each in _flags(arguments)[1]):
        yield "ask", "delete", "it deletes files"


_JUDGES: dict[str, Callable[[Arguments, Places], Iterator[Judgement]]] = {
    **dict.fromkeys(("rm", "unlink", "srm"), _remove),
    **dict.fromkeys(
        "mkswap wipefs blkdiscard fdisk sfdisk sgdisk cfdisk gdisk parted mke2fs diskutil".split(), _disk_tool
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("test", "let", "printf", "read", "unset", "declare", "typeset", "local"), _subscript),
    **dict.fromkeys(("nc", "ncat", "netcat"), _netcat),
    **dict.fromkeys(("docker", "podman"), _docker),
    **dict.fromkeys(("chown", "chgrp"), _chown),
    "chmod": _chmod,
    "dd": _dd,
    "find": _find,
    "git": lambda arguments, _: git(arguments),
    "kill": _kill,
    "rsync": _rsync,
    "socat": _socat,
    "tar": _tar,
    "truncate": _truncate,
}

_REMOTE = ("remote-code", "it reaches another computer, where nothing is guarded")
_POWER = ("system", "it stops the computer")
_RULES = ("system", "it changes the firewall")
_USERS = ("system", "it changes who may use the computer")
_KERNEL = ("system", "it changes the running system")
_VOLUMES = ("disk", "it changes volumes or partitions")
_LATER = ("schedule", "it runs commands later, without anybody looking")

_TERMINAL = ("dynamic-command", "it runs what it is told in another terminal, where nobody sees it")
_JOBS = ("schedule", "it changes what runs later, without anybody looking")
_SERVICES = ("system", "it changes services of the computer")

_UNLESS: dict[str, tuple[str, str, str]] = {
    "abduco": ("-l", *_TERMINAL),
    "byobu": ("ls", *_TERMINAL),
    "crontab": ("-l", *_JOBS),
    "dtach": ("--help", *_TERMINAL),
    "screen": ("-ls -list -v", *_TERMINAL),
    "systemctl": (
        "status show cat is-active is-enabled is-failed list-units list-unit-files --version",
        *_SERVICES,
    ),
    "tmux": (
        "ls list-sessions lsw list-windows lsp list-panes has has-session capturep capture-pane info -V",
        *_TERMINAL,
    ),
    "zellij": ("ls list-sessions --version", *_TERMINAL),
}
"""The arguments that are harmless when they come first, and what speaks against all others."""

_ALWAYS: dict[str, tuple[str, str]] = {
    **dict.fromkeys("shutdown reboot halt poweroff init telinit".split(), _POWER),
    **dict.fromkeys("iptables ip6tables nft ufw firewall-cmd pfctl".split(), _RULES),
    **dict.fromkeys("useradd userdel usermod groupadd groupdel passwd chpasswd visudo chsh adduser".split(), _USERS),
    **dict.fromkeys("insmod rmmod modprobe kexec mount umount swapoff chattr setfacl".split(), _KERNEL),
    **dict.fromkeys("cryptsetup lvremove vgremove pvremove mdadm hdparm".split(), _VOLUMES),
    **dict.fromkeys("at batch systemd-run launchctl".split(), _LATER),
    **dict.fromkeys("killall pkill xkill".split(), ("processes", "it ends processes by name, others than meant too")),
    "dropdb": ("database", "it drops a database"),
    "shred": ("delete", "it destroys what files hold"),
    "parallel": ("dynamic-command", "what it runs is known only when it runs"),
    **dict.fromkeys("ssh mosh ansible ansible-playbook".split(), _REMOTE),
}

_PUBLISH = ("publish", "it publishes, for everybody and often for good")
_CLOUD = ("infrastructure", "it deletes or changes what others may use")
_IMAGES = ("infrastructure", "it deletes images, volumes or containers")
_PACKAGES = ("system", "it takes programs off the computer")


def _rows(words: str, reason: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    return tuple((each.replace("_", " "), *reason) for each in words.split())


_WITH_WORDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "cargo", "uv", "poetry", "flit", "hatch"), _rows("publish unpublish", _PUBLISH)
    ),
    **dict.fromkeys(("apt", "apt-get", "dnf", "yum"), _rows("remove purge autoremove erase", _PACKAGES)),
    **dict.fromkeys(
        ("docker", "podman"), _rows("system_prune volume_rm volume_prune image_prune container_prune", _IMAGES)
    ),
    "twine": _rows("upload", _PUBLISH),
    "gem": _rows("push", _PUBLISH),
    "gh": (
        *_rows("repo_delete release_delete repo_edit secret_set", _CLOUD),
        *_rows("alias_set extension_install", ("dynamic-command", "it adds commands that run any program")),
    ),
    "vagrant": _rows("ssh destroy", _REMOTE),
    "kubectl": _rows("delete drain", _CLOUD),
    "helm": _rows("uninstall delete", _CLOUD),
    "terraform": _rows("destroy apply", _CLOUD),
    "tofu": _rows("destroy apply", _CLOUD),
    "pulumi": _rows("destroy", _CLOUD),
    "aws": _rows("s3_rm s3_rb terminate-instances delete-stack delete-bucket delete-table", _CLOUD),
    "gcloud": _rows("delete", _CLOUD),
    "az": _rows("delete", _CLOUD),
    "zfs": _rows("destroy", _VOLUMES),
    "zpool": _rows("destroy", _VOLUMES),
    "redis-cli": _rows("FLUSHALL FLUSHDB flushall flushdb", ("database", "it empties a database")),
}
