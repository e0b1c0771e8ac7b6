"""Restricts this process and all that it will start, by Landlock and seccomp (Linux), and then runs a program.

As a program of its own: ``python -I -S confine.py --read=PATH... --write=PATH... --list=PATH... --sockets=KIND
--port=N... --processes=none --attributes=keep -- PROGRAM ARGUMENT...``. The keeper recognises that command and does the
same in the child that it has forked anyway, which saves the start of an interpreter.

The kernel enforces the restrictions; nothing that runs below them can take them back:

- files can be read only below the paths in ``read`` and ``write``, and changed only below ``write``; folders can be
  listed below ``list``, too;
- sockets: none (``none``), TCP to the listed ports (``tcp``), or all of the internet and of this machine (``all``), but
  not those of virtual machines and of the kernel, apart from the one that lists network interfaces;
- signals and abstract Unix sockets reach no process outside, nor do new limits (a limit of zero seconds kills); memory,
  semaphores and messages of System V and message queues of POSIX are refused, because any process of the user has them
  in common;
- with ``--processes=none``, no further process can be started, only threads;
- with ``--attributes=keep``, no mode, owner, time or attribute of a file changes, no priority of a process, and no file
  is watched, all of which Landlock allows for any path;
- no other process's memory or environment, no io_uring, kernel keys, BPF or typing into the terminal;
- of root's capabilities the one to read and change files of others is left, within these limits; no program gains any
  (set-user-id, file capabilities).
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from contextlib import suppress
from functools import cache

__all__ = ["MIN_ABI", "Rulesets", "call_filter", "enter", "landlock_abi"]

MIN_ABI = 3
"""Before it, truncating a file could not be refused."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_PATH, _PORT = 1, 2
_BY_FILE = 0b1_1000_0000_0000_0111  # execute, write, read, truncate, device ioctl: the rights that a file can have
_READ, _LIST = 0b1101, 0b1000
_IOCTL_DEVICE = 1 << 15
_NO_DEVICES = ~(1 << 6 | 1 << 11)  # no character or block devices can be made
_CONNECT, _BIND = 2, 1
_NET_ABI, _IOCTL_ABI, _SCOPE_ABI = 4, 5, 6

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22
_THIS_PROCESS = struct.pack("Ii", 0x20080522, 0)
"""The header of capget and capset, of version 3."""
_FILE_CAPABILITIES = 0b10  # dac_override, which Landlock limits; not chown and fowner, which it does not

_FIRST_OPTION = 4
_PATHS = ("--read", "--write", "--list")
_OPTIONS = 7
_SOCKETS = (["none"], ["tcp"], ["all"])
_PROCESSES: tuple[list[str], ...] = ([], ["none"])
_ATTRIBUTES: tuple[list[str], ...] = ([], ["keep"])


@cache
def landlock_abi() -> int:
    """Return the version of Landlock that the kernel has; 0 for none."""
    version: int = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(version, 0)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


class Ruleset:
    """What the options of a command allow, as a ruleset of the kernel.

    A rule is about the file that a path led to when it was made, and keeps that file from being freed; ``fits`` checks
    whether the paths still lead there.

    Args:
        options: The words between ``confine.py`` and ``--``.

    Attributes:
        descriptor: The ruleset's; a program that is run does not inherit it.
        sockets: ``none``, ``tcp`` or ``all``.
        processes: Whether further processes can be started.
        attributes: Whether modes, owners, times and attributes of files can be changed.

    Raises:
        OSError: The options are wrong, or the kernel cannot do it.
    """

    def __init__(self, options: list[bytes]) -> None:
        self.options = options
        given = _parsed(options)
        self.sockets = given["--sockets"][0]
        self.processes = not given["--processes"]
        self.attributes = not given["--attributes"]
        ports = [int(port) for port in given["--port"] if port.isdecimal()]
        self._places = [(path, _place(path)) for kind in _PATHS for path in given[kind]]
        read, write, names = (given[kind] for kind in _PATHS)
        self.descriptor = _ruleset(read, write, names, ports if self.sockets == "tcp" else None)

    def fits(self, options: list[bytes]) -> bool:
        """Return whether it does for a command with these options."""
        return self.options == options and all(_place(path) == place for path, place in self._places)

    def calls(self) -> bytes:
        """Return the filter of system calls that goes with it."""
        return call_filter(self.sockets, processes=self.processes, attributes=self.attributes)

    def close(self) -> None:
        """Free it."""
        os.close(self.descriptor)


class Rulesets:
    """Keeps the latest ruleset: most commands have the same options, and building one takes half a millisecond."""

    def __init__(self) -> None:
        self._latest: Ruleset | None = None

    def prepare(self, argv: list[bytes]) -> None:
        """Make the ruleset of a command, if it is this module's own, and load what else ``enter`` needs."""
        options = _options(argv)
        if options is None or (self._latest is not None and self._latest.fits(options)):
            return
        if self._latest is not None:
            self._latest.close()
            self._latest = None
        with suppress(OSError, ValueError):  # the child fails with it, too, and reports it
            self._latest = Ruleset(options)
            _capabilities()
            self._latest.calls()

    def of(self, options: list[bytes]) -> Ruleset:
        """Return the ruleset for options, in the child that was forked after ``prepare``.

        Raises:
            OSError: It cannot be made.
        """
        known = self._latest
        return known if known is not None and known.options == options else Ruleset(options)


def enter(argv: list[bytes], rulesets: Rulesets | None = None) -> list[bytes]:
    """Restrict this process if the command is this module's own, and return the program that is to be run then.

    Raises:
        OSError: The restrictions cannot be applied; the program must not be run.
    """
    options = _options(argv)
    if options is None:
        return argv
    program = argv[_FIRST_OPTION + len(options) + 1 :]
    if not program:
        raise OSError(errno.EINVAL, "wrong options")
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    ruleset = (rulesets or Rulesets()).of(options)
    _drop_capabilities()
    _check(_libc().syscall(_RESTRICT_SELF, ruleset.descriptor, 0), "landlock_restrict_self")
    ruleset.close()
    _filter_calls(ruleset.calls())
    return program


def _options(argv: list[bytes]) -> list[bytes] | None:
    """Return the options of a command of this module; None for any other command."""
    if argv[1:3] != [b"-I", b"-S"] or argv[3:_FIRST_OPTION] != [os.fsencode(__file__)]:
        return None
    return argv[_FIRST_OPTION : argv.index(b"--") if b"--" in argv else len(argv)]


def _parsed(options: list[bytes]) -> dict[str, list[str]]:
    single: tuple[str, ...] = ("--sockets", "--port", "--processes", "--attributes")
    given: dict[str, list[str]] = {kind: [] for kind in (*_PATHS, *single)}
    for word in options:
        name, _, value = os.fsdecode(word).partition("=")
        given.setdefault(name, []).append(value)
    known = len(given) == _OPTIONS and given["--sockets"] in _SOCKETS
    if not known or given["--processes"] not in _PROCESSES or given["--attributes"] not in _ATTRIBUTES:
        raise OSError(errno.EINVAL, "wrong options")
    return given


def _place(path: str) -> tuple[int, int] | None:
    """Return device and number of the file that a path leads to; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _ruleset(read: list[str], write: list[str], names: list[str], ports: list[int] | None) -> int:
    """Return the descriptor of a ruleset. Paths that do not exist are left out.

    Raises:
        OSError: The kernel cannot do it.
    """
    abi = landlock_abi()
    if abi < MIN_ABI or (ports is not None and abi < _NET_ABI):
        raise OSError(errno.ENOSYS, "Landlock is missing or too old")
    files = (1 << (16 if abi >= _IOCTL_ABI else 15)) - 1
    rights = [(path, _READ) for path in read] + [(path, _LIST) for path in names]
    rights += [(path, files & _NO_DEVICES & ~(0 if path.startswith("/dev/") else _IOCTL_DEVICE)) for path in write]
    return _landlock(abi, files, rights, ports)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def _drop_capabilities() -> None:
    """Keep only the capabilities over files; without new privileges no program regains the others, not even as root."""
    low = [value & _FILE_CAPABILITIES for value in _capabilities()]
    _check(_libc().capset(_THIS_PROCESS, struct.pack("6I", *low, 0, 0, 0)), "capset")


def _capabilities() -> tuple[int, ...]:
    """Return the first 32 effective, permitted and inheritable capabilities."""
    data = ctypes.create_string_buffer(24)
    _check(_libc().capget(_THIS_PROCESS, data), "capget")
    return struct.unpack("6I", data.raw)[:3]


def _landlock(abi: int, files: int, rights: list[tuple[str, int]], ports: list[int] | None) -> int:
    libc = _libc()
    net = _CONNECT | _BIND if ports is not None else 0
    scopes = 0b11 if abi >= _SCOPE_ABI else 0
    attributes = struct.pack("QQQ", files, net, scopes)[: 24 if abi >= _SCOPE_ABI else 16 if abi >= _NET_ABI else 8]
    rules: int = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    _check(rules, "landlock_create_ruleset")
    try:
        for path, allowed in rights:
            _allow(libc, rules, path, allowed)
        for port in ports or ():
            rule = struct.pack("QQ", _CONNECT, port)
            _check(libc.syscall(_ADD_RULE, rules, _PORT, rule, 0), "landlock_add_rule")
    except BaseException:
        os.close(rules)
        raise
    return rules


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _BY_FILE
        rule = struct.pack("=Qi", rights, descriptor)
        _check(libc.syscall(_ADD_RULE, rules, _PATH, rule, 0), "landlock_add_rule")
    finally:
        os.close(descriptor)


# --- seccomp: the system calls that Landlock does not judge

_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
_FAST_OPEN = 0x20000000
_TYPING = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_FAMILIES, _NETLINK, _ROUTES = (1, 2, 10), 16, 0
_INTERNET, _STREAM, _TCP = (2, 10), (1,), (0, 6)  # Landlock does not judge MPTCP

_MACHINES = {
    "x86_64": (
        0xC000003E,
        {"socket": 41, "ioctl": 16},
        ((44, 3), (46, 2), (307, 3)),
        (248, 249, 250, 321, 298, 304, 425, 426, 427),
        (56, (57, 58)),
    ),
    "aarch64": (
        0xC00000B7,
        {"socket": 198, "ioctl": 29},
        ((206, 3), (211, 2), (269, 3)),
        (217, 218, 219, 280, 241, 265, 425, 426, 427),
        (220, ()),
    ),
}
"""By machine: its number; calls by name; sendto, sendmsg and sendmmsg, each with its argument that has flags; the
refused calls: kernel keys, bpf, perf_event_open, open_by_handle_at, and io_uring, which opens sockets itself; and
clone, fork and vfork."""

_SHARED = {
    "x86_64": (302, (29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241)),
    "aarch64": (261, (194, 196, 195, 197, 190, 193, 191, 192, 186, 189, 188, 187, 180, 181)),
}
"""By machine: prlimit64, which sets the limits of any process of the user; and what all of them have in common: shmget,
shmat, shmctl, shmdt, semget, semop, semctl, semtimedop, msgget, msgsnd, msgrcv, msgctl, mq_open and mq_unlink."""

_SET_ATTRIBUTES = {
    "x86_64": (
        *(90, 91, 268, 92, 93, 94, 260),  # chmod fchmod fchmodat chown fchown lchown fchownat
        *(132, 235, 261, 280),  # utime utimes futimesat utimensat
        *(188, 189, 190, 197, 198, 199),  # setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
        *(
            141,
            142,
            144,
            203,
            314,
            251,
        ),  # setpriority sched_set{param,scheduler,affinity,attr} ioprio_set
        *(254, 301),  # inotify_add_watch fanotify_mark
    ),
    "aarch64": (
        *(52, 53, 55, 54),  # fchmod fchmodat fchown fchownat
        *(88,),  # utimensat
        *(5, 6, 7, 14, 15, 16),
        *(140, 118, 119, 122, 274, 30),
        *(27, 263),
    ),
}
"""By machine: what Landlock does not judge; the machine without ``chmod`` and the like has them in the C library."""
_SET_ATTRIBUTES_ANYWHERE = (452, 463, 466, 469)  # fchmodat2 setxattrat removexattrat file_setattr: the same everywhere
_SET_FLAGS = (0x40086602, 0x40046602, 0x401C5820)  # FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR

_CLONE3 = 435
_THREAD = 0x10000  # CLONE_THREAD


@cache
def call_filter(sockets: str, *, processes: bool = True, attributes: bool = True, namespaces: bool = False) -> bytes:
    """Return the filter of system calls, as BPF.

    Args:
        sockets: ``none``, ``tcp`` or ``all``.
        processes: Whether further processes can be started.
        attributes: Whether modes, owners, times and attributes of files can be changed.
        namespaces: Whether the program has process numbers and System V memory of its own, so that it may use them.

    Raises:
        OSError: This machine's calls are unknown.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"the system calls of {machine} are unknown")
    architecture, calls, sends, refused, (clone, forks) = _MACHINES[machine]
    code = _only(_ARCHITECTURE, (architecture,))
    code += [_op(_LOAD, _NUMBER), _op(_AT_LEAST, _X32, 0, 1), _refuse(), *_if_one_of(refused)]
    if not namespaces:
        limits, shared = _SHARED[machine]
        code += _if_one_of(shared)
        code += _call(limits, [_op(_LOAD, _argument(0)), _op(_EQUAL, 0, 1), _refuse()])
    if not attributes:
        code += [_op(_LOAD, _NUMBER), *_if_one_of(_SET_ATTRIBUTES[machine]), *_if_one_of(_SET_ATTRIBUTES_ANYWHERE)]
    requests = _TYPING if attributes else (*_TYPING, *_SET_FLAGS)
    code += _call(calls["ioctl"], [_op(_LOAD, _argument(1)), *_if_one_of(requests)])
    if not processes:  # of clone3 the flags cannot be judged; the C library uses clone where it does not exist
        code += _call(_CLONE3, [_refuse(errno.ENOSYS)])
        code += _call(clone, [_op(_LOAD, _argument(0)), _op(_ANY_BIT, _THREAD, 1), _refuse()])
        for number in forks:
            code += _call(number, [_refuse()])
    if sockets == "none":
        code += _call(calls["socket"], [_refuse(errno.EACCES)])
    elif sockets == "tcp":
        kinds = _only(_argument(0), _INTERNET) + _only(_argument(1), _STREAM, 0xF) + _only(_argument(2), _TCP)
        code += _call(calls["socket"], kinds)
        for number, flags in sends:  # a fast open connects without being judged by Landlock
            code += _call(number, [_op(_LOAD, _argument(flags)), _op(_ANY_BIT, _FAST_OPEN, 0, 1), _refuse()])
    else:
        code += _call(calls["socket"], _ordinary_families())
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _refuse(number: int = errno.EPERM) -> bytes:
    return _op(_RETURN, _REFUSE | number)


def _argument(index: int) -> int:
    """Return where the lower half of an argument is (little endian)."""
    return _ARGUMENTS + 8 * index


def _call(number: int, body: list[bytes]) -> list[bytes]:
    return [_op(_LOAD, _NUMBER), _op(_EQUAL, number, 0, len(body)), *body]


def _only(offset: int, allowed: tuple[int, ...], mask: int = 0xFFFFFFFF) -> list[bytes]:
    tests = [_op(_EQUAL, value, len(allowed) - place) for place, value in enumerate(allowed)]
    return [_op(_LOAD, offset), _op(_AND, mask), *tests, _refuse(errno.EACCES)]


def _ordinary_families() -> list[bytes]:
    """Return the test that a socket is of Unix, of the internet, or lists network interfaces."""
    families = [_op(_EQUAL, family, 6 - place) for place, family in enumerate(_FAMILIES)]
    routes = [_op(_EQUAL, _NETLINK, 0, 2), _op(_LOAD, _argument(2)), _op(_EQUAL, _ROUTES, 1)]
    return [_op(_LOAD, _argument(0)), *families, *routes, _refuse(errno.EACCES)]


def _if_one_of(refused: tuple[int, ...]) -> list[bytes]:
    return [op for value in refused for op in (_op(_EQUAL, value, 0, 1), _refuse())]


def _filter_calls(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    length = len(program) // 8
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", length, ctypes.addressof(code)))
    _check(_libc().prctl(_PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


def main(argv: list[str]) -> None:
    """Restrict this process and run the program; exit code 126 when it cannot."""
    command = [os.fsencode(word) for word in (sys.executable, "-I", "-S", __file__, *argv)]
    try:
        program = enter(command)
        os.execve(program[0], program, os.environ)  # noqa: S606 - the program that was asked for
    except OSError as error:
        sys.stderr.write(f"pi: the program was not started, because it cannot be confined: {error}\n")
        sys.exit(126)


if __name__ == "__main__":
    main(sys.argv[1:])
