"""What a confined program can still do, started below the supervisor, in a process group, and as a plain command."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from pi_hookspecs import SpawnRequest
from pi_process_kit import ProcessFailure, confined, confinement_abi, start_child
from pi_process_kit.grouped import GroupStarter
from pi_process_kit.supervised import SupervisedStarter

ABI = confinement_abi()
SHELL = shutil.which("bash") or "/bin/sh"

pytestmark = pytest.mark.skipif(not ABI, reason="this kernel has no Landlock of version 3 or later")


@pytest.fixture(params=[SupervisedStarter, GroupStarter])
def start(request):
    """Each of the two ways to start programs."""
    return request.param()


@pytest.fixture
def own(tmp_path):
    """The one folder that confined programs may change."""
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def run(start, own):
    """``await run(script, **how)``: exit code and output of a confined shell script in the folder ``own``."""

    async def run(script, program=(SHELL, "-c"), **how):
        rules = {"read": ["/"], "write": [str(own), "/dev/null"], "sockets": "none", **how}
        argv = confined([*program, script], **rules)
        request = SpawnRequest(argv=argv, cwd=str(own), env=dict(os.environ), purpose="process")
        async with await start_child(request, stderr="stdout", start=start) as child:
            output = await child.stdout.read()
            return await child.wait(), output.decode()

    return run


async def test_processes_can_be_forbidden_and_threads_cannot(run):
    code, output = await python(
        run,
        "import os, threading\n"
        "seen = []\nthreads = [threading.Thread(target=seen.append, args=(n,)) for n in range(3)]\n"
        "[each.start() for each in threads], [each.join() for each in threads]\nprint(sorted(seen))\n"
        "try:\n    os.fork()\nexcept PermissionError:\n    print('no fork')\n"
        "import subprocess\n"
        "try:\n    subprocess.run(['/bin/true'])\nexcept OSError as error:\n    print(type(error).__name__)",
        processes=False,
    )

    assert (code, output) == (0, "[0, 1, 2]\nno fork\nPermissionError\n")


async def python(run, code, **how):
    return await run(code, program=(sys.executable, "-c"), **how)


async def test_files_below_the_writable_folder_can_be_made_changed_and_removed(run, own):
    code, output = await run(
        "mkdir a && echo one1 > a/b && mv a/b c && truncate -s 3 c && cat c && echo && rm c && ls -a a"
    )

    assert (code, output.split()) == (0, ["one", ".", ".."])
    assert [path.name for path in own.iterdir()] == ["a"]


async def test_folders_that_were_made_anew_since_the_last_command_are_meant(run, own, tmp_path):
    late = tmp_path / "late"
    writable = {"write": [str(own), str(late), "/dev/null"]}
    first = await run("echo 1 > one; echo x > ../late/file", **writable)
    shutil.rmtree(own)
    own.mkdir()
    late.mkdir()
    second = await run("echo 2 > two && echo x > ../late/file && cat two", **writable)
    late.rename(tmp_path / "moved")
    third = await run("echo x > ../moved/file", **writable)

    assert first[0] != 0
    assert second == (0, "2\n")
    assert third[0] != 0
    assert [path.name for path in own.iterdir()] == ["two"]


@pytest.mark.parametrize(
    "script",
    [
        "echo x >> {0}",
        "rm {0}",
        "truncate -s 0 {0}",
        "mv {0} stolen",
        "ln {0} linked && echo x >> linked",
        "ln -s {0} linked; echo x >> linked",
        "echo x >> /proc/self/root{0}",
        "echo x >> ../outside/file",
        "mkdir {0}.d",
        "chmod 777 . && mv ../outside taken",
        "mount -t tmpfs none .",
        "mknod disk b 8 0",
    ],
)
async def test_nothing_outside_the_writable_folder_is_changed(run, own, tmp_path, script):
    file = tmp_path / "outside" / "file"
    file.parent.mkdir()
    file.write_text("kept")

    code, output = await run(script.format(shlex.quote(str(file))))

    assert code != 0, output
    assert file.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "own"]
    assert not (own / "disk").exists()


async def test_only_the_listed_folders_are_read(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    system = [path for path in ("/usr", "/bin", "/lib", "/lib64", "/etc") if Path(path).exists()]

    code, output = await run(f"cat {secret}", read=system)

    assert code != 0
    assert "s3cret" not in output


async def test_folders_below_the_listable_ones_show_their_names_alone(run, tmp_path):
    (tmp_path / "secret").write_text("s3cret")
    system = [path for path in ("/usr", "/bin", "/lib", "/lib64", "/etc") if Path(path).exists()]

    _, output = await run(f"ls '{tmp_path}'; cat '{tmp_path}/secret'", read=system, names=["/"])

    assert output.split()[:2] == ["own", "secret"]
    assert "s3cret" not in output


async def test_no_socket_can_be_opened_but_pairs_can(run):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code, output = await python(
            run,
            "import socket\n"
            "one, two = socket.socketpair(); one.send(b'x'); print(two.recv(1))\n"
            "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):\n"
            "    try: socket.socket(family, socket.SOCK_DGRAM)\n"
            "    except PermissionError: print('refused')\n"
            f"socket.create_connection(('127.0.0.1', {port}))",
        )

    assert code == 1
    assert output.splitlines()[:5] == ["b'x'", *["refused"] * 4]
    assert "PermissionError" in output


@pytest.mark.skipif(ABI < 4, reason="this kernel's Landlock does not judge TCP ports")
async def test_tcp_reaches_the_listed_ports_alone_and_nothing_else_opens_a_socket(run):
    with socket.create_server(("127.0.0.1", 0)) as allowed, socket.create_server(("127.0.0.1", 0)) as other:
        code, output = await python(
            run,
            "import socket\n"
            f"good, bad = {allowed.getsockname()[1]}, {other.getsockname()[1]}\n"
            "def refused(function, *arguments):\n"
            "    try: function(*arguments)\n"
            "    except PermissionError: return True\n"
            "tcp = lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)\n"
            "print(refused(tcp().connect, ('127.0.0.1', good)))\n"
            "print(refused(tcp().connect, ('127.0.0.1', bad)))\n"
            "print(refused(tcp().bind, ('127.0.0.1', 0)))\n"
            "print(refused(tcp().sendto, b'x', 0x20000000, ('127.0.0.1', bad)))\n"  # TCP fast open
            "print(refused(socket.socket, socket.AF_INET, socket.SOCK_STREAM, 262))\n"  # MPTCP
            "print(refused(socket.socket, socket.AF_INET, socket.SOCK_DGRAM))\n"
            "print(refused(socket.socket, socket.AF_UNIX))\n",
            sockets=[allowed.getsockname()[1]],
        )

    assert (code, output.split()) == (0, ["None", *["True"] * 6])


async def test_other_processes_environments_are_not_read(run):
    code, output = await run(f"cat /proc/{os.getpid()}/environ; cat /proc/$$/environ > /dev/null && echo own")

    assert (code, output.splitlines()[-1]) == (0, "own")
    assert "PATH=" not in output


@pytest.mark.skipif(ABI < 6, reason="this kernel's Landlock does not judge signals")
async def test_signals_do_not_reach_processes_outside(run):
    code, output = await run(f"kill -0 {os.getpid()} || sleep 0 & wait; kill -0 $$ && echo own")

    assert (code, output.splitlines()[-1]) == (0, "own")
    assert "not permitted" in output


OTHERS = """
import ctypes, errno, os, resource, sys
victim, key, own, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
libc = ctypes.CDLL(None, use_errno=True)
def outcome(function, *arguments):
    ctypes.set_errno(0)
    try:
        result = function(*arguments)
    except PermissionError:
        return "refused"
    return "refused" if result == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES) else "allowed"
"""
"""What a confined script that tries to reach others begins with."""


@pytest.fixture
def victim():
    """A process outside that waits."""
    with subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1) as process:
        process.stdout.readline()
        yield process
        process.kill()


async def others(run, code, *arguments, **how):
    words = [str(each) for each in arguments]
    script = f"import sys; sys.argv[1:] = {words!r}\n{OTHERS}{code}"
    exit_code, output = await python(run, script, **how)
    assert exit_code == 0, output
    return output.split()


async def test_limits_of_processes_outside_are_neither_set_nor_read_and_own_ones_are(run, victim):
    outcomes = await others(
        run,
        "print(outcome(resource.prlimit, victim, resource.RLIMIT_CPU, (0, 0)),"
        " outcome(resource.prlimit, victim, resource.RLIMIT_NOFILE),"
        " outcome(resource.prlimit, os.getppid(), resource.RLIMIT_CORE, (0, 0)),"
        " outcome(resource.prlimit, 0, resource.RLIMIT_CORE, (0, 0)),"
        " outcome(resource.setrlimit, resource.RLIMIT_NOFILE, (64, 64)))",
        *(victim.pid, 0, "", ""),
    )

    assert outcomes == ["refused"] * 3 + ["allowed"] * 2
    assert victim.poll() is None


async def test_memory_semaphores_and_messages_of_the_users_other_programs_are_out_of_reach(run):
    libc = ctypes.CDLL(None, use_errno=True)
    key, queue = 0x70690000 | os.getpid() & 0xFFFF, f"/pi-test-{os.getpid()}".encode()
    made = [libc.shmget(key, 4096, 0o1600), libc.semget(key, 1, 0o1600), libc.msgget(key, 0o1600)]
    if min(made) < 0:
        pytest.skip("this kernel has no System V IPC")
    opened = libc.mq_open(queue, os.O_CREAT | os.O_RDWR, 0o600, None)
    try:
        outcomes = await others(
            run,
            f"memory, semaphores, messages = {made}\n"
            "buffer = ctypes.create_string_buffer(512)\n"
            "calls = [(libc.shmget, key, 4096, 0o600), (libc.shmat, memory, None, 0),\n"
            "  (libc.shmctl, memory, 2, buffer), (libc.msgsnd, messages, buffer, 1, 0o4000),\n"
            "  (libc.semget, key, 1, 0o600), (libc.semop, semaphores, buffer, 1), (libc.semctl, semaphores, 0, 12),\n"
            "  (libc.msgget, key, 0o600), (libc.msgctl, messages, 2, buffer),\n"
            "  (libc.msgrcv, messages, buffer, 1, 0, 0o4000), (libc.shmctl, memory, 0, None),\n"
            f"  (libc.mq_open, {queue!r}, os.O_RDWR), (libc.mq_unlink, {queue!r})]\n"
            "print(*(outcome(*call) for call in calls))",
            *(0, key, "", ""),
        )
    finally:
        libc.shmctl(made[0], 0, None), libc.semctl(made[1], 0, 0), libc.msgctl(made[2], 0, None)
        if opened >= 0:
            libc.mq_unlink(queue)

    assert outcomes == ["refused"] * 13


ATTRIBUTES = {
    "chmod": "os.chmod(secret, 0o666)",
    "chmod by descriptor": "os.fchmod(os.open(sys.executable, os.O_RDONLY), 0o755)",
    "chmod relative to a folder": "libc.fchmodat(-100, secret.encode(), 0o666, 0)",
    "chmod of a link": "libc.syscall(452, -100, secret.encode(), 0o666, 0x100)",
    "chown": "os.chown(secret, os.getuid(), os.getgid())",
    "chown by descriptor": "os.fchown(os.open(sys.executable, os.O_RDONLY), -1, -1)",
    "chown of a link": "os.lchown(secret, os.getuid(), os.getgid())",
    "time": "os.utime(secret, (1, 1))",
    "time in seconds": "libc.utime(secret.encode(), None)",
    "time in microseconds": "libc.utimes(secret.encode(), None)",
    "time by descriptor": "libc.futimens(os.open(sys.executable, os.O_RDONLY), None)",
    "attribute": "os.setxattr(secret, 'user.a', b'x')",
    "attribute of a link": "os.setxattr(secret, 'user.a', b'x', follow_symlinks=False)",
    "removed attribute": "os.removexattr(secret, 'user.b')",
    "attribute by the newest call": "libc.syscall(463, -100, secret.encode(), 0, b'user.a', None, 0)",
    "flags": "__import__('fcntl').ioctl(os.open(sys.executable, os.O_RDONLY), 0x40086602, bytearray(8))",
    "priority": "os.setpriority(os.PRIO_PROCESS, victim, 19)",
    "scheduling": "os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0))",
    "processors": "os.sched_setaffinity(victim, {0})",
    "watching": "libc.inotify_add_watch(libc.inotify_init(), os.path.dirname(secret).encode(), 0xFFF)",
}
"""What Landlock lets a program do to any file and process of the user."""


@pytest.mark.parametrize("attempt", ATTRIBUTES)
async def test_attributes_of_files_and_processes_can_be_left_as_they_are(run, victim, tmp_path, attempt):
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    secret.chmod(0o600)
    before = secret.stat()

    outcomes = await others(
        run,
        f"print(outcome(lambda: {ATTRIBUTES[attempt]}))",
        *(victim.pid, 0, "", secret),
        attributes=False,
    )

    after = secret.stat()
    assert outcomes == ["refused"]
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


async def test_attributes_can_be_changed_where_nothing_forbids_it(run, own):
    code, output = await run("touch -d @1 a && chmod 751 a && tar cf t a && rm a && tar xpf t && stat -c '%a %Y' a")

    assert (code, output) == (0, "751 1\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
async def test_of_roots_capabilities_the_one_over_files_of_others_is_left(run):
    _, output = await run("grep CapEff /proc/self/status")

    assert int(output.split()[1], 16) == 0b10  # dac_override


async def test_a_confined_program_below_another_tool_is_confined_as_well(own, start):
    argv = ("/usr/bin/env", "A=1", *confined([SHELL, "-c", "echo x > ../out"], read=["/"], write=[], sockets="none"))
    request = SpawnRequest(argv=argv, cwd=str(own), env=dict(os.environ), purpose="process")

    async with await start_child(request, stderr="stdout", start=start) as child:
        assert "denied" in (await child.stdout.read()).decode()
    assert not (own.parent / "out").exists()


async def test_a_program_that_cannot_be_confined_is_not_run(own, start):
    argv = list(confined([SHELL, "-c", "echo x > out"], read=["/"], write=[str(own)], sockets="none"))
    argv[argv.index("--sockets=none")] = "--sockets=some"
    request = SpawnRequest(argv=argv, cwd=str(own), env=dict(os.environ), purpose="process")

    with suppress(ProcessFailure):  # the supervisor reports it; elsewhere the command itself fails
        async with await start_child(request, stderr="stdout", start=start) as child:
            assert "cannot be confined" in (await child.stdout.read()).decode()
            assert await child.wait() == 126

    assert not (own / "out").exists()
