"""The sandbox around pi's real tools: forty ways out, tried with each engine that works on this machine."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import socket
import sys
import tarfile
import threading
import zipfile
from contextlib import suppress

import pytest

import pi_sandbox
import pi_tools
from pi_sandbox.engine import try_engine
from pi_testing import text, tool_call

ENGINES = ["bwrap", "landlock"]

pytestmark = [
    pytest.mark.slow,  # each starts programs
    pytest.mark.pi(plugins={"sandbox": pi_sandbox, "tools": pi_tools}, settings={"sandbox": {"mode": "landlock"}}),
    pytest.mark.skipif(sys.platform != "linux", reason="the engines that are proven are Linux's"),
]

SECRET = "s3cret-of-the-user"
USER = os.path.expanduser("~")  # noqa: PTH111 - where compilers are installed; tests have a home of their own

CHANGES = {
    "a redirection": "echo x >> {outside}/treasure",
    "a removal": "rm -rf {outside}/treasure {outside}",
    "a truncation": "truncate -s 0 {outside}/treasure",
    "a link to the file": "ln -s {outside}/treasure in; echo x >> in",
    "a link to the folder": "ln -s {outside} in; echo x >> in/treasure; touch in/new",
    "a hard link": "ln {outside}/treasure in && echo x >> in",
    "a rename out": "echo x > f; mv f {outside}/treasure",
    "a rename in": "mv {outside}/treasure .",
    "the root of a process": "echo x >> /proc/self/root{outside}/treasure",
    "the root of process 1": "echo x >> /proc/1/root{outside}/treasure",
    "the parent of the folder": "cd ..; echo x > ../new; echo x >> ./*/treasure; echo x >> */*/treasure",
    "a folder that is moved away": "mkdir -p d && cd d && mv ../d ../e; echo x >> ../../*/treasure",
    "another working directory of a process": "echo x >> /proc/{pid}/cwd/../{name}/treasure",
    "a descriptor of pi": "for n in 3 4 5 6 7 8 9 10 11 12; do echo x >&$n; done; echo x >> /proc/{pid}/fd/3",
    "the memory of pi": "echo x > /proc/{pid}/mem",
    "a mount": "mount --bind {outside} . ; mount -t tmpfs none {outside}; touch {outside}/new",
    "a namespace of its own": "unshare -Urm sh -c 'mount --bind {outside} . ; echo x >> {outside}/treasure'",
    "a change of root": "chroot / sh -c 'echo x >> {outside}/treasure'",
    "a device file": "mknod disk b 254 0; mknod /tmp/disk b 254 0; cat disk; echo x > /dev/vda",
    "the kernel's settings": "echo x > /proc/sys/kernel/core_pattern",
    "another user": "chmod u+s /bin/sh; cp /bin/sh sh; chmod u+s sh; ./sh -p -c 'echo x >> {outside}/treasure'",
    "sudo": "sudo -n sh -c 'echo x >> {outside}/treasure'",
    "a process that stays": "(setsid sh -c 'sleep 0.3; echo x >> {outside}/treasure' &) ; sleep 0.5",
    "opening by handle": "{python} -c 'import ctypes,os; l=ctypes.CDLL(None); h=ctypes.create_string_buffer("
    'b"\\x08\\0\\0\\0\\x01\\0\\0\\0\\x02\\0\\0\\0\\0\\0\\0\\0"); f=l.open_by_handle_at(os.open("/",0),h,0);'
    'os.open("{outside}/new".lstrip("/"),os.O_CREAT|os.O_WRONLY,dir_fd=f)\'',
    "a program in memory": '{python} -c \'import os; f=os.memfd_create("x"); os.write(f,open("/bin/sh","rb").read());'
    'os.execv("/proc/self/fd/"+str(f),["sh","-c","echo x >> {outside}/treasure"])\'',
    "a traced process": "{python} -c 'import ctypes; l=ctypes.CDLL(None,use_errno=True);"
    ' r=l.ptrace(16,{pid},0,0); print(r); open("{outside}/new","w") if r==0 else None\'',
}
"""Ways to change ``{outside}``, by what they try."""

READS = {
    "the file": "cat {secret}",
    "a link": "ln -s {secret} in; cat in",
    "the root of a process": "cat /proc/self/root{secret}",
    "an archive": "tar cf - {secrets} | tr -d '\\0'",
    "a hard link": "ln {secret} in; cat in",
    "the environment of pi": "tr '\\0' '\\n' < /proc/{pid}/environ",
    "the environment of all processes": "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
    "its own environment": "env",
}
"""Ways to read a hidden file, or a key in pi's environment."""

NETWORK = {
    "bash": "exec 3<>/dev/tcp/127.0.0.1/{port}",
    "Python": "{python} -c 'import socket; socket.create_connection((\"127.0.0.1\",{port}))'",
    "IPv6": "{python} -c 'import socket; socket.create_connection((\"::ffff:127.0.0.1\",{port}))'",
    "UDP": "{python} -c 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
    ' s.sendto(b"x",("127.0.0.1",{port}))\'',
    "a Unix socket": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
    "an abstract socket": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0pi-test-{pid}\")'",
}
"""Ways to reach a server of this machine."""


@pytest.fixture(params=ENGINES)
def engine(request, pi_options):
    """Each engine that works here."""
    problem = try_engine(request.param)
    if problem is not None:
        pytest.skip(f"{request.param}: {problem}")
    pi_options.settings["sandbox"] = {"mode": request.param}
    return request.param


@pytest.fixture
def outside(tmp_path_factory):
    """A folder next to the project, with a file."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "treasure").write_text("kept")
    return folder


@pytest.fixture
async def bash(engine, pi_session, script):
    """``await bash(command)``: what the model reads."""
    pi_session.has_ui = False

    async def run(command):
        script.turn(tool_call("bash", command=command)).turn(text("ok"))
        await pi_session.prompt("please")
        results = [message for message in pi_session.messages if message.role == "toolResult"]
        return "\n".join(block.text for block in results[-1].content)

    return run


def filled(command, **values):
    """Return a command with its placeholders replaced, and no others."""
    base = f"{sys.base_prefix}/bin/python3"
    for name, value in {"python": sys.executable, "base": base, "pid": os.getpid(), "user": USER, **values}.items():
        command = command.replace("{" + name + "}", str(value))
    return command


@pytest.mark.parametrize("way", CHANGES)
async def test_nothing_outside_is_changed_by(way, bash, outside):
    await bash(filled(CHANGES[way], outside=outside, name=outside.name))

    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("treasure", "kept")]
    assert not (outside.parent / "new").exists()


@pytest.mark.parametrize("way", READS)
async def test_nothing_hidden_is_read_by(way, engine, bash, pi_agent_dir, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    secret = pi_agent_dir / "auth.json"
    secret.write_text(SECRET)

    output = await bash(filled(READS[way], secret=secret, secrets=pi_agent_dir))

    assert SECRET not in output


@pytest.mark.parametrize("way", NETWORK)
async def test_no_server_is_reached_by(way, bash, outside):
    unix = str(outside / "socket")
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        udp.bind(tcp.getsockname())
        local.bind(unix)
        abstract.bind(f"\0pi-test-{os.getpid()}")
        for server in (tcp, local, abstract):
            server.listen()
        for server in (tcp, udp, local, abstract):
            server.setblocking(False)

        await bash(filled(NETWORK[way], port=tcp.getsockname()[1], unix=unix))

        for server in (tcp, local, abstract):
            with pytest.raises(BlockingIOError):
                server.accept()
        with pytest.raises(BlockingIOError):
            udp.recv(1)


async def test_no_process_outside_gets_a_signal(bash):
    sleeper = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        await bash(f"kill -9 {sleeper.pid}; kill -STOP {sleeper.pid}; kill -9 -- -{sleeper.pid}")

        assert sleeper.returncode is None
    finally:
        sleeper.kill()
        await sleeper.wait()


@pytest.mark.parametrize(
    "command",
    [
        "echo evil > .git/hooks/pre-commit",
        "git config core.pager evil",
        "mv .git .git2; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "ln -s /tmp .git/hooks2; rmdir .git/hooks; mv .git/hooks2 .git/hooks",
        "echo evil > AGENTS.md",
        "mkdir .pi; echo '{}' > .pi/settings.json",
        "echo evil > .mcp.json; echo evil > .envrc",
        "mkdir evil; echo ../evil > .git/commondir",
    ],
)
async def test_what_runs_or_is_read_outside_is_not_changed(bash, tmp_path, command):
    await (await asyncio.create_subprocess_exec("git", "init", "-q", str(tmp_path))).wait()
    before = kept_files(tmp_path)

    await bash(command)

    assert kept_files(tmp_path) == before


def kept_files(project):
    """Return the protected files of a project with their content."""
    places = [
        project / name for name in (".git/hooks", ".git/config", ".git/commondir", "AGENTS.md", ".pi", ".mcp.json")
    ]
    files = [file for place in places for file in (place, *place.rglob("*")) if file.is_file()]
    return {str(file.relative_to(project)): file.read_bytes() for file in files}


COMMIT = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one"

JOBS = {
    "an edit": "echo 'print(1)' > a.py && {python} a.py && sed -i s/1/2/ a.py && {python} a.py",
    "a commit": "{commit} && git log --oneline",
    "a branch": "{commit} && git switch -q -c two && git stash list && git gc -q",
    "make -j": "printf 'all: a b\\na b:\\n\\techo $@ > $@\\n' > Makefile && make -s -j4 && cat a b",
    "a compiler": "echo 'int main(){return 0;}' > a.c && gcc a.c -o a && ./a",
    "pytest": 'mkdir t && echo \'def test_a(tmp_path): (tmp_path / "x").write_text("y")\' > t/test_a.py'
    " && PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {python} -m pytest -q -p no:cacheprovider --rootdir t -c /dev/null t",
    "processes": "{python} -c 'import multiprocessing as m; p=m.Process(target=print,args=(1,)); p.start(); p.join();"
    " exit(p.exitcode)'",
    "threads": "{python} -c 'import threading as t; x=t.Thread(target=print,args=(1,)); x.start(); x.join()'",
    "a pipe": "yes | head -1000 | sort | uniq -c | awk '{print $1}' | grep -q 1000",
    "an archive": "mkdir d && echo x > d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/f",
    "temporary files": "f=$(mktemp) && echo x > $f && cat $f && rm $f",
    "a pseudo-file": "diff <(echo a) <(echo a)",
    "a search": "echo needle > f && grep -r needle . && find / -maxdepth 1 -name usr",
    "permissions": "touch f && chmod +x f && ln -s f l && readlink l && mkfifo p && stat p",
    "shared memory": "{python} -c 'import multiprocessing.shared_memory as s; m=s.SharedMemory(create=True,size=9);"
    " m.close(); m.unlink()'",
    "node": 'echo \'require("fs").writeFileSync("n","1")\' > n.js && node n.js && cat n',
    "the time": "date && sleep 0.01 && nproc && uname -a && id && hostname",
    "cargo": "export RUSTUP_HOME={user}/.rustup CARGO_HOME={user}/.cargo;"
    " cargo init -q --vcs none --name one . && cargo run -q --offline",
    "go": "printf 'module one\\ngo 1.18\\n' > go.mod && printf 'package main\\nfunc main() { println(1) }\\n' > main.go"
    " && go build -o one . && ./one",
    "sqlite3": "sqlite3 a.db 'create table t(x); insert into t values(1); pragma journal_mode=wal; vacuum' &&"
    " sqlite3 a.db 'select x from t'",
    "Python's sqlite": '{python} -c \'import sqlite3; c=sqlite3.connect("a.db"); c.execute("create table t(x)");'
    " c.commit()'",
    "zip": "echo x > f && zip -q a.zip f && rm f && unzip -q a.zip && cat f",
    "patch": "echo a > f && cp f g && echo b > g && (diff -u f g > p || true) && patch -s f p && grep -q b f",
    "perl": 'perl -e \'open(F,">f"); print F 1; close F; system("cat f")\' && perl -pi -e s/1/2/ f && grep -q 2 f',
    "a virtual environment": "{python} -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix)'",
    "an event loop": "{python} -c 'import asyncio; print(asyncio.run(asyncio.sleep(0, 1)));"
    ' asyncio.run(asyncio.create_subprocess_exec("true"))\'',
    "xargs -P": "seq 1 40 | xargs -P 4 -I@ sh -c 'echo @ > f@' && test $(ls f* | wc -l) = 40",
    "a clone and a worktree": "mkdir r && cd r && {commit} && cd .. && git clone -q r c && cd c"
    " && git worktree add -q ../w && git -C ../w log --oneline",
}
"""What people do all day; with pip and npm, which need the network, they are thirty."""

PROGRAMS = {"a compiler": "gcc", "a clone and a worktree": "git", "xargs -P": "xargs"}
"""Programs of jobs that do not have their name."""


SLOW = ("cargo", "go")
"""Jobs that compile a standard library first."""


@pytest.mark.parametrize("job", [pytest.param(job, marks=pytest.mark.slow) if job in SLOW else job for job in JOBS])
async def test_ordinary_work_goes_on(job, bash):
    program = PROGRAMS.get(job, job)
    if program in ("cargo", "gcc", "go", "node", "patch", "perl", "sqlite3", "zip") and shutil.which(program) is None:
        pytest.skip(f"there is no {program}")

    output = await bash(f"( {filled(JOBS[job], commit=COMMIT)} ) && echo all is well")

    assert output.rstrip().endswith("all is well"), output


async def test_the_other_tools_keep_to_the_same_limits(engine, pi_session, script, outside, pi_agent_dir, tmp_path):
    pi_session.has_ui = False
    (pi_agent_dir / "auth.json").write_text(SECRET)
    (tmp_path / "link").symlink_to(outside)
    calls = [
        tool_call("write", path=str(outside / "treasure"), content="x"),
        tool_call("write", path="link/new", content="x"),
        tool_call("edit", path=str(outside / "treasure"), edits=[{"oldText": "kept", "newText": "x"}]),
        tool_call("write", path="AGENTS.md", content="x"),
        tool_call("read", path=str(pi_agent_dir / "auth.json")),
        tool_call("grep", path=str(pi_agent_dir / "auth.json"), pattern=SECRET[:4]),
        tool_call("write", path="inside/new.txt", content="fine"),
    ]
    script.turn(*calls).turn(text("ok"))

    await pi_session.prompt("please")

    *refused, written = [message for message in pi_session.messages if message.role == "toolResult"]
    assert (outside / "treasure").read_text() == "kept"
    assert not (outside / "new").exists()
    assert not (tmp_path / "AGENTS.md").exists()
    assert all(SECRET not in str(result.content) for result in refused)
    assert [result.is_error for result in refused[:5]] == [True] * 5
    assert (tmp_path / "inside" / "new.txt").read_text() == "fine"
    assert not written.is_error


async def test_a_folder_that_becomes_a_link_while_a_file_is_written_leads_nowhere(
    engine, pi_session, script, outside, tmp_path
):
    pi_session.has_ui = False
    (tmp_path / "d").mkdir()
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            with suppress(OSError):  # the tool makes the folder when it is not there
                shutil.rmtree(tmp_path / "d")
                (tmp_path / "d").symlink_to(outside)
                (tmp_path / "d").unlink()
                (tmp_path / "d").mkdir()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(20):
            script.turn(tool_call("write", path="d/treasure", content="stolen")).turn(text("ok"))
            await pi_session.prompt("please")
    finally:
        stop.set()
        thread.join()

    assert (outside / "treasure").read_text() == "kept"


@pytest.mark.parametrize("way", ["http", "socks5h"])
async def test_the_listed_hosts_alone_are_reached(way, engine, bash, pi_session, pi_options, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    server = await asyncio.start_server(answer_hello, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pi_session.settings.set("sandbox", {"mode": engine, "network": "allow", "allow": [f"localhost:{port}"]})
    proxy = '-x "$ALL_PROXY"' if way == "socks5h" else ""

    async with server:
        reached = await bash(f"curl -s -m 20 {proxy} http://localhost:{port}/")
        refused = await bash(f"curl -s -m 20 {proxy} http://localhost:1/; curl -s -m 20 {proxy} http://example.org/")
        direct = await bash(f"curl -s -m 20 --noproxy '*' http://127.0.0.1:{port}/ || echo no way")

    assert reached == "hello"
    assert "The sandbox refused connections to localhost:1, example.org:80" in refused
    assert "no way" in direct


async def answer_hello(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    writer.close()


async def test_a_sandbox_that_cannot_work_refuses_requests_and_commands(pi_session, script, pi_options):
    pi_session.has_ui = False
    pi_session.settings.set("sandbox", {"mode": "seatbelt"})
    script.turn(text("never asked"))

    await pi_session.prompt("please")

    assert script.requests == []
    assert "The sandbox 'seatbelt' does not work on this machine" in pi_session.messages[-1].error_message


@pytest.mark.pi(settings={"sandbox": {"mode": "off"}})
async def test_a_sandbox_that_is_off_changes_nothing(pi_session, script, outside):
    script.turn(tool_call("bash", command=f"echo x >> {outside}/treasure")).turn(text("ok"))

    await pi_session.prompt("please")

    assert (outside / "treasure").read_text() == "keptx\n"


async def test_each_refusal_is_stored_next_to_its_call(bash, pi_session, script, outside, pi_agent_dir):
    script.turn(tool_call("write", path=str(outside / "a"), content="x"))
    script.turn(tool_call("read", path=str(pi_agent_dir / "auth.json"))).turn(text("ok"))
    await pi_session.prompt("please")

    await bash("echo fine; touch /etc/pi-test; echo fine")

    entries = [each for each in pi_session.session_manager.get_entries() if each.type == "custom"]
    stored = [each.data for each in entries if each.custom_type == "sandbox"]
    assert [each["tool"] for each in stored] == ["write", "read", "bash"]
    assert "sandbox.write lists further folders" in stored[0]["refused"][0]
    assert "the sandbox hides" in stored[1]["refused"][0]
    (line,) = stored[2]["refused"]
    assert "/etc/pi-test" in line


async def test_the_user_can_allow_a_folder_for_the_session(engine, pi_session, script, fake_ui, outside):
    fake_ui.answers("session")
    script.turn(tool_call("write", path=str(outside / "a"), content="x"))
    script.turn(tool_call("write", path=str(outside / "b"), content="x")).turn(text("ok"))

    await pi_session.prompt("please")

    assert sorted(file.name for file in outside.iterdir()) == ["a", "b", "treasure"]
    [permission] = await pi_session.ctx.list_permissions()
    assert (permission.what, permission.place) == (str(outside), "until this session ends")


async def test_a_folder_that_is_allowed_for_good_is_listed_and_undone(engine, pi_session, script, fake_ui, outside):
    fake_ui.answers("always")
    script.turn(tool_call("write", path=str(outside / "a"), content="x")).turn(text("ok"))
    await pi_session.prompt("please")

    [permission] = await pi_session.ctx.list_permissions()
    assert (permission.store, permission.what) == ("Folders that the sandbox lets programs change", str(outside))
    await pi_session.ctx.remove_permission(permission)

    assert await pi_session.ctx.list_permissions() == []
    assert pi_session.settings.get("sandbox.write") == []


async def test_the_model_is_told_its_limits(engine, pi_session, script):
    script.turn(text("ok"))

    await pi_session.prompt("please")

    assert "Commands run in a sandbox." in script.requests[0].system_prompt
    assert "There is no network." in script.requests[0].system_prompt


@pytest.fixture
async def index(tmp_path_factory):
    """The address of a package index with the package ``one``, as pip and as npm ask for it."""
    wheel, package, files = io.BytesIO(), io.BytesIO(), {}
    with zipfile.ZipFile(wheel, "w") as archive:
        info = "one-1.0.dist-info"
        archive.writestr("one.py", "print('one runs')")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    with tarfile.open(fileobj=package, mode="w:gz") as archive:
        contents = {"package.json": b'{"name": "one", "version": "1.0.0"}', "index.js": b"console.log('one runs')"}
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))

    async def answer(reader, writer):
        line, *_ = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        kind, body = files.get(line.split()[1], ("text/plain", b""))
        head = f"HTTP/1.1 {200 if body else 404} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://localhost:{server.sockets[0].getsockname()[1]}"
    page = f'<a href="{address}/one-1.0-py3-none-any.whl">one-1.0-py3-none-any.whl</a>'
    versions = {"1.0.0": {"name": "one", "version": "1.0.0", "dist": {"tarball": f"{address}/one-1.0.0.tgz"}}}
    document = {"name": "one", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
    files["/simple/one/"] = "text/html", page.encode()
    files["/one-1.0-py3-none-any.whl"] = "application/octet-stream", wheel.getvalue()
    files["/one"] = "application/json", json.dumps(document).encode()
    files["/one-1.0.0.tgz"] = "application/octet-stream", package.getvalue()
    async with server:
        yield address


INSTALLS = {
    "pip": "{base} -m pip install -q --disable-pip-version-check --index-url {index}/simple/ --target d one"
    " && PYTHONPATH=d {python} -m one",
    "npm": "npm init -y > /dev/null; npm install -s --no-update-notifier --no-audit --registry {index}/ one"
    " && node -e 'require(\"one\")'",
}
"""What installs packages from a listed host; pyenv replaces the name pip by a program that writes elsewhere."""


@pytest.mark.slow  # each starts an installer, which takes seconds
@pytest.mark.parametrize("program", INSTALLS)
async def test_packages_are_installed_from_a_listed_host(program, engine, bash, pi_session, index):
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    allowed = index.removeprefix("http://")
    pi_session.settings.set("sandbox", {"mode": engine, "network": "allow", "allow": [allowed]})

    output = await bash(filled(INSTALLS[program], index=index))

    assert "one runs" in output.splitlines()
