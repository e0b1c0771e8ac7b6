"""Runs inside the sandbox: tries everything that it must refuse, and prints as JSON what it was given.

``python -I -S sandbox_tries.py FACTS``, with the standard library alone. The test judges changes outside, from outside.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

FACTS = json.loads(sys.argv[1])
OUTSIDE, PID, HOME = FACTS["outside"], FACTS["pid"], FACTS["home"]
TREASURE, NEW = f"{OUTSIDE}/treasure", f"{OUTSIDE}/new"
LIBC = ctypes.CDLL(None, use_errno=True)
GOT = {}


def write(path, flags=os.O_WRONLY | os.O_CREAT, **how):
    descriptor = os.open(path, flags, 0o644, **how)
    os.write(descriptor, b"x")
    os.close(descriptor)


def after(make, path):
    make()
    write(path)


def by_handle():
    handle = ctypes.create_string_buffer(b"\x08\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0")
    folder = LIBC.open_by_handle_at(os.open("/", 0), handle, 0)
    write(NEW.lstrip("/"), dir_fd=folder)


def reopened():
    write(f"/proc/self/fd/{os.open(TREASURE, os.O_PATH)}", os.O_WRONLY)


def nameless():
    descriptor = os.open(OUTSIDE, os.O_TMPFILE | os.O_WRONLY, 0o644)
    os.link(f"/proc/self/fd/{descriptor}", NEW, follow_symlinks=True)


def moved_folder():
    os.makedirs("deep/er")
    os.chdir("deep/er")
    os.rename("../../deep/er", "../../er")
    with suppress(OSError):
        write("../../treasure")
    os.chdir(FACTS["cwd"])


def shell(command):
    return lambda: subprocess.run(["/bin/sh", "-c", command], timeout=120, capture_output=True, check=False)


CHANGES = [
    lambda: write(TREASURE),
    lambda: write(TREASURE, os.O_WRONLY | os.O_APPEND),
    lambda: write(NEW),
    lambda: os.truncate(TREASURE, 0),
    lambda: os.unlink(TREASURE),
    lambda: os.rename(TREASURE, f"{OUTSIDE}/other"),
    lambda: os.rename(TREASURE, "stolen"),
    lambda: after(lambda: write("file"), "file") or os.rename("file", NEW),
    lambda: os.rename("file", TREASURE),
    lambda: os.mkdir(NEW),
    lambda: os.rmdir(f"{OUTSIDE}/folder"),
    lambda: os.symlink("/etc", NEW),
    lambda: os.link(TREASURE, NEW),
    lambda: after(lambda: os.link(TREASURE, "hard"), "hard"),
    lambda: after(lambda: os.symlink(TREASURE, "soft"), "soft"),
    lambda: after(lambda: os.symlink(OUTSIDE, "folder"), "folder/treasure"),
    lambda: write("folder/new"),
    lambda: os.mkfifo(NEW),
    lambda: os.mknod(NEW, 0o600 | 0o060000, os.makedev(254, 0)),
    lambda: socket.socket(socket.AF_UNIX).bind(NEW),
    lambda: write(f"/proc/self/root{TREASURE}"),
    lambda: write(f"/proc/1/root{TREASURE}"),
    lambda: write(f"/proc/{PID}/root{TREASURE}"),
    lambda: write(f"/proc/{PID}/cwd/../outside/treasure"),
    lambda: write("/proc/self/cwd/../outside/treasure"),
    lambda: write(TREASURE.lstrip("/"), dir_fd=os.open("/", os.O_RDONLY)),
    lambda: write("../outside/new"),
    reopened,
    nameless,
    by_handle,
    moved_folder,
    lambda: os.chown(TREASURE, 12345, -1),
    lambda: write(f"{HOME}/new"),
    lambda: write(f"{FACTS['agent_dir']}/settings.json"),
    lambda: write(f"{FACTS['agent_dir']}/extensions/x.py"),
    lambda: write("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    lambda: write(f"/proc/{PID}/mem", os.O_WRONLY),
    lambda: write(f"/proc/{PID}/oom_score_adj", os.O_WRONLY),
    lambda: write(f"/proc/{PID}/clear_refs", os.O_WRONLY),
    shell(f"mount --bind {OUTSIDE} . && echo x > new"),
    shell(
        f"unshare -Urm sh -c 'mount -o remount,rw /; mount --bind {OUTSIDE} /mnt; echo x > {NEW}; echo x > /mnt/new'"
    ),
    shell(f"chroot / sh -c 'echo x > {NEW}'"),
    shell(f"nsenter -t 1 -m sh -c 'echo x > {NEW}'"),
    shell(f"sudo -n sh -c 'echo x > {NEW}'; su -c 'echo x > {NEW}'"),
    shell(f"for n in 3 4 5 6 7 8 9; do echo x >&$n; done; echo x > /proc/{PID}/fd/3"),
    shell(f"(setsid sh -c 'sleep 0.2; echo x > {NEW}' &)"),
    shell(f"at now <<< 'echo x > {NEW}'; crontab - <<< '* * * * * echo x > {NEW}'; systemd-run --user touch {NEW}"),
]


def connect(family, kind, address):
    with socket.socket(family, kind) as client:
        client.settimeout(1)
        client.connect(address)
        client.send(b"x")


PORT, PORT6 = FACTS["port"], FACTS["port6"]
QUESTION = b"\0\1\1\0\0\1\0\0\0\0\0\0\6secret\4test\0\0\1\0\1"
"""A question to a name server."""

NETWORK = [
    lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PORT)),
    lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", PORT)),
    lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", PORT6)),
    lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", PORT)),
    lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", PORT)),
    lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, FACTS["unix"]),
    lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + FACTS["abstract"]),
    lambda: connect(socket.AF_INET, 5, ("127.0.0.1", PORT)),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT)),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([QUESTION], [], 0, ("127.0.0.1", PORT)),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).sendto(b"x", 0x20000000, ("127.0.0.1", PORT)),
    shell(f"bash -c 'echo x > /dev/tcp/127.0.0.1/{PORT}; echo x > /dev/udp/127.0.0.1/{PORT}'"),
]

SIGNALS = [
    *(lambda number=number: os.kill(PID, number) for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP)),
    lambda: os.killpg(PID, signal.SIGKILL),
    lambda: signal.pidfd_send_signal(os.pidfd_open(PID), signal.SIGKILL),
    lambda: LIBC.syscall(ctypes.c_long(234), PID, PID, 9),
    shell(f"kill -9 {PID}; pkill -9 -f the-sleeper-of-the-test"),
]

CALLS = {  # numbers of x86-64
    "ptrace (attach)": (101, 16, PID, 0, 0),
    "ptrace (seize)": (101, 0x4206, PID, 0, 0),
    "process_vm_readv": (310, PID, ctypes.create_string_buffer(16), 0, ctypes.create_string_buffer(16), 1, 0),
    "mount": (165, b"none", b"/mnt", b"tmpfs", 0, 0),
    "umount2": (166, b"/proc", 2),
    "pivot_root": (155, b".", b"."),
    "swapon": (167, b"/nowhere", 0),
    "sethostname": (170, b"x", 1),
    "setdomainname": (171, b"x", 1),
    "iopl": (172, 3),
    "ioperm": (173, 0, 1, 1),
    "init_module": (175, 0, 0, b""),
    "delete_module": (176, b"x", 0),
    "quotactl": (179, 0, b"/", 0, 0),
    "acct": (163, b"/nowhere"),
    "add_key": (248, b"user", b"x", b"x", 1, -3),
    "request_key": (249, b"user", b"x", 0, -3),
    "keyctl": (250, 0, -3, 1),
    "limits of another process": (302, PID, 7, 0, 0),
    "perf_event_open": (298, ctypes.create_string_buffer(128), 0, -1, -1, 0),
    "fanotify_init": (300, 0, 0),
    "open_by_handle_at": (304, -1, 0, 0),
    "unshare (mounts)": (272, 0x20000),
    "unshare (users)": (272, 0x10000000),
    "setns": (308, os.open("/proc/self/ns/mnt", 0) if os.path.exists("/proc/self/ns/mnt") else -1, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "io_uring_setup": (425, 1, ctypes.create_string_buffer(256)),
    "io_uring_enter": (426, -1, 0, 0, 0, 0),
    "io_uring_register": (427, -1, 0, 0, 0),
    "mknod of a device": (133, b"disk", 0o060600, 0xFE00),
    "setuid of another": (105, 12345),
}
SOCKETS = {
    "vsock": (40, 1, 0),
    "packet": (17, 3, 0),
    "netlink of routes": (16, 3, 0),
    "netlink of audits": (16, 3, 9),
    "netlink of events": (16, 3, 15),
    "netlink of diagnostics": (16, 3, 4),
    "kernel ciphers": (38, 5, 0),
    "bluetooth": (31, 3, 1),
    "raw": (2, 3, 1),
}


def try_each(tries):
    for each in tries:
        with suppress(Exception):
            each()
        os.chdir(FACTS["cwd"])


def refused_calls():
    for name, (number, *arguments) in CALLS.items():
        ctypes.set_errno(0)
        if LIBC.syscall(number, *arguments) >= 0:
            yield name
    for name, arguments in SOCKETS.items():
        with suppress(OSError):
            socket.socket(*arguments).close()
            yield name
    with suppress(OSError):
        fcntl.ioctl(FACTS.get("terminal", 0), 0x5412, b"x")
        yield "typing into the terminal"


def read_secrets():
    for path in FACTS["secrets"]:
        for way in (path, f"/proc/self/root{path}"):
            with suppress(OSError):
                if FACTS["secret"] in Path(way).read_text():
                    yield path
        with suppress(OSError):
            os.link(path, "linked")
            if FACTS["secret"] in Path("linked").read_text():
                yield f"hard link to {path}"
        with suppress(OSError):
            os.unlink("linked")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if FACTS["secret"].encode() in Path(f"/proc/{pid}/environ").read_bytes():
                yield f"environment of {pid}"


def plant():
    for folder in (".", "sub", "sub/deeper"):
        for name in FACTS["names"]:
            path = Path(folder, name)
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    (path / "planted").write_text("PLANTED")
                else:
                    path.write_text("PLANTED")
    for command in (
        "echo PLANTED > .git/hooks/pre-commit",
        "git config core.fsmonitor PLANTED",
        "git config --worktree core.pager PLANTED",
        "git init -q nested; git -C nested config core.fsmonitor PLANTED",
        "echo PLANTED > nested/.git/hooks/post-checkout",
        "git init -q --bare nested/bare; git -C nested/bare config core.fsmonitor PLANTED",
        "git init -q --bare .git/modules/m; git -C .git/modules/m config core.sshCommand PLANTED",
        "echo PLANTED > .git/info/attributes; echo PLANTED > .git/commondir",
        "mkdir link; echo PLANTED > link/tasks.json; mv .vscode kept; ln -s link .vscode",
        "rm -rf mine; echo PLANTED > AGENTS.md.x; mv AGENTS.md.x AGENTS.md",
    ):
        shell(command)()


try_each(CHANGES)
try_each(NETWORK)
try_each(SIGNALS)
GOT["calls"] = sorted(refused_calls())
GOT["secrets"] = sorted(read_secrets())
GOT["variables"] = sorted(os.environ)
try_each(
    [
        lambda: os.chmod(f"{OUTSIDE}/mode", 0o777),
        lambda: os.utime(f"{OUTSIDE}/time", (1, 1)),
        lambda: os.setxattr(f"{OUTSIDE}/attributes", "user.x", b"x"),
        lambda: os.setpriority(os.PRIO_PROCESS, PID, 19),
        lambda: write(f"/dev/shm/{FACTS['abstract']}"),
    ]
)
plant()
print(json.dumps(GOT))
