"""Restricts this process and all that it will start, by Landlock and seccomp (Linux), and then runs a program.

As a program of its own: ``python -I -S confine.py --read=PATH... --write=PATH... --list=PATH... --sockets=KIND
--port=N... -- PROGRAM ARGUMENT...``. The keeper recognises that command and does the same in the child that it has
forked anyway, which saves the start of an interpreter.

The kernel enforces the restrictions; nothing that runs below them can take them back:

- files are read below the paths of ``read`` and ``write`` only, and changed below those of ``write`` only; folders are
  listed below those of ``list``, too;
- sockets: none (``none``), TCP to the listed ports (``tcp``), or all (``all``);
- signals and abstract Unix sockets reach no process outside;
- no other process's memory or environment, no io_uring, kernel keys, BPF or typing into the terminal;
- of root's capabilities those over files alone are left, and no program gains any (set-user-id, file capabilities).
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from contextlib import suppress

__all__ = ["MIN_ABI", "enter", "landlock_abi", "restrict"]

MIN_ABI = 3
"""Before it, truncating a file could not be refused."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_PATH, _PORT = 1, 2
_BY_FILE = 0b1_1000_0000_0000_0111  # execute, write, read, truncate, device ioctl: the rights that a file can have
_READ, _LIST = 0b1101, 0b1000
_IOCTL_DEVICE = 1 << 15
_NO_DEVICES = ~(1 << 6 | 1 << 11)  # nobody makes character or block devices
_CONNECT, _BIND = 2, 1
_NET_ABI, _IOCTL_ABI, _SCOPE_ABI = 4, 5, 6

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22
_FILE_CAPABILITIES = 0b11011  # chown, dac_override, fowner, fsetid; not dac_read_search, which opens files by handle

_OPTIONS = 5
_SOCKETS = (["none"], ["tcp"], ["all"])


def landlock_abi() -> int:
    """Return the version of Landlock that the kernel has; 0 for none."""
    version: int = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(version, 0)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def enter(argv: list[bytes]) -> list[bytes]:
    """Restrict this process if the command is this module's own, and return the program that is to be run then.

    Raises:
        OSError: The restrictions cannot be applied; the program must not be run.
    """
    if argv[1:3] != [b"-I", b"-S"] or argv[3:4] != [os.fsencode(__file__)]:
        return argv
    given: dict[str, list[str]] = {"--read": [], "--write": [], "--list": [], "--sockets": [], "--port": []}
    end = argv.index(b"--") if b"--" in argv else 0
    for word in argv[4:end]:
        name, _, value = os.fsdecode(word).partition("=")
        given.setdefault(name, []).append(value)
    if not argv[end + 1 :] or len(given) > _OPTIONS or given["--sockets"] not in _SOCKETS:
        raise OSError(errno.EINVAL, "wrong options")
    ports = [int(port) for port in given["--port"] if port.isdecimal()]
    restrict(given["--read"], given["--write"], given["--list"], given["--sockets"][0], ports)
    return argv[end + 1 :]


def restrict(read: list[str], write: list[str], names: list[str], sockets: str, ports: list[int]) -> None:
    """Restrict this process for good. Paths that do not exist are left out.

    Raises:
        OSError: The kernel cannot do it.
    """
    abi = landlock_abi()
    if abi < MIN_ABI or (sockets == "tcp" and abi < _NET_ABI):
        raise OSError(errno.ENOSYS, "Landlock is missing or too old")
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _drop_capabilities()
    files = (1 << (16 if abi >= _IOCTL_ABI else 15)) - 1
    rights = [(path, _READ) for path in read] + [(path, _LIST) for path in names]
    rights += [(path, files & _NO_DEVICES & ~(0 if path.startswith("/dev/") else _IOCTL_DEVICE)) for path in write]
    _landlock(abi, files, rights, ports if sockets == "tcp" else None)
    _filter_calls(_program(sockets))


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def _drop_capabilities() -> None:
    """Keep those over files alone; without new privileges no program gets the others back, root's own neither."""
    libc = _libc()
    header = struct.pack("Ii", 0x20080522, 0)  # version 3, this process
    data = ctypes.create_string_buffer(24)
    _check(libc.capget(header, data), "capget")
    low = [value & _FILE_CAPABILITIES for value in struct.unpack("6I", data.raw)[:3]]
    _check(libc.capset(header, struct.pack("6I", *low, 0, 0, 0)), "capset")


def _landlock(abi: int, files: int, rights: list[tuple[str, int]], ports: list[int] | None) -> None:
    libc = _libc()
    net = _CONNECT | _BIND if ports is not None else 0
    scopes = 0b11 if abi >= _SCOPE_ABI else 0
    attributes = struct.pack("QQQ", files, net, scopes)[: 24 if abi >= _SCOPE_ABI else 16 if abi >= _NET_ABI else 8]
    rules = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    _check(rules, "landlock_create_ruleset")
    try:
        for path, allowed in rights:
            _allow(libc, rules, path, allowed)
        for port in ports or ():
            rule = struct.pack("QQ", _CONNECT, port)
            _check(libc.syscall(_ADD_RULE, rules, _PORT, rule, 0), "landlock_add_rule")
        _check(libc.syscall(_RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
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
_INTERNET, _STREAM, _TCP = (2, 10), (1,), (0, 6)  # Landlock does not judge MPTCP

_MACHINES = {
    "x86_64": (
        0xC000003E,
        {"socket": 41, "ioctl": 16},
        ((44, 3), (46, 2), (307, 3)),
        (248, 249, 250, 321, 298, 304, 425, 426, 427),
    ),
    "aarch64": (
        0xC00000B7,
        {"socket": 198, "ioctl": 29},
        ((206, 3), (211, 2), (269, 3)),
        (217, 218, 219, 280, 241, 265, 425, 426, 427),
    ),
}
"""By machine: its number; calls by name; sendto, sendmsg and sendmmsg, each with its argument that has flags; and the
refused calls: kernel keys, bpf, perf_event_open, open_by_handle_at, and io_uring, which opens sockets itself."""


def _program(sockets: str) -> bytes:
    """Return the filter of system calls, as BPF.

    Raises:
        OSError: This machine's calls are not known.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"the system calls of {machine} are not known")
    architecture, calls, sends, refused = _MACHINES[machine]
    code = _only(_ARCHITECTURE, (architecture,))
    code += [_op(_LOAD, _NUMBER), _op(_AT_LEAST, _X32, 0, 1), _refuse()]
    for number in refused:
        code += _call(number, [_refuse()])
    code += _call(calls["ioctl"], [_op(_LOAD, _argument(1)), *_if_one_of(_TYPING)])
    if sockets == "none":
        code += _call(calls["socket"], [_refuse(errno.EACCES)])
    elif sockets == "tcp":
        kinds = _only(_argument(0), _INTERNET) + _only(_argument(1), _STREAM, 0xF) + _only(_argument(2), _TCP)
        code += _call(calls["socket"], kinds)
        for number, flags in sends:  # a fast open connects without being judged by Landlock
            code += _call(number, [_op(_LOAD, _argument(flags)), _op(_ANY_BIT, _FAST_OPEN, 0, 1), _refuse()])
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
