"""What the sandbox must refuse, as one table for both engines: tried inside by ``sandbox_tries.py``, judged outside."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_hookspecs import SpawnRequest
from pi_sandbox.engine import try_engine
from pi_sandbox.options import Options
from pi_sandbox.state import Sandbox
from pi_testing.patience import PATIENCE

pytestmark = [
    pytest.mark.slow,  # starts programs for all tries
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="the system calls are those of Linux on x86-64",
    ),
]

PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"
SECRET = "s3cret-of-the-user"
OWN_NAMESPACE = {"unshare (users)": "Programs can create user namespaces"}
GAPS = {
    "landlock": {
        **OWN_NAMESPACE,
        **dict.fromkeys(
            ("chmod", "utime", "attributes"), "permissions, times and attributes of the user's files outside"
        ),
        "priority": "the priority of other processes",
        "shared memory": "`/dev/shm`",
    },
    "bwrap": {**OWN_NAMESPACE, "netlink of routes": "netlink sockets for routes"},
}
"""What an engine does not hold, with the words of the page that say so."""

SECRETS = (
    ".ssh/id_ed25519 .aws/credentials .gnupg/x .kube/config .netrc .pypirc .git-credentials .npmrc .yarnrc.yml .pgpass"
    " .my.cnf .terraform.d/credentials.tfrc.json .config/rclone/rclone.conf .cache/huggingface/token .codex/auth.json"
    " .claude/.credentials.json .claude.json .config/github-copilot/apps.json .m2/settings.xml .gem/credentials"
    " .config/sops/age/keys.txt .config/age/key .config/containers/auth.json .s3cfg .boto .config/doctl/config.yaml"
    " .fly/config.yml .config/pip/pip.conf .pip/pip.conf .bash_history .zsh_history .python_history .psql_history"
    " .config/google-chrome/Default/Login .mozilla/firefox/x/logins.json .config/gh/hosts.yml .config/gcloud/x"
    " .docker/config.json .cargo/credentials.toml .azure/x .vault-token .password-store/x .local/share/keyrings/x"
)
PLANTED = (
    ".pi/settings.json .mcp.json .agents AGENTS.md AGENTS.MD AGENTS.override.md CLAUDE.md CLAUDE.MD .claude/agents/x.md"
    " .claude/settings.json .claude/commands/x.md .envrc .bashrc .profile .bash_login .zlogin .vscode/settings.json"
    " .vscode/tasks.json .cursor/mcp.json .husky/pre-commit .devcontainer/devcontainer.json .cargo/config.toml .npmrc"
    " mise.toml .gdbinit .exrc .gitmodules .pre-commit-config.yaml MEMORY.md .zed/tasks.json .hg/hgrc"
    " .jj/repo/config.toml .idea/workspace.xml opencode.json .clinerules .roo/mcp.json .continue/config.yaml"
    " .aider.conf.yml .travis.yml .drone.yml Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .direnv/x.rc"
    " .yarn/releases/yarn.cjs conftest.py .github/workflows/ci.yml"
).split()
"""Files that programs outside obey, whatever the plugins name."""

OWN_SECRETS = (
    "auth.json mcp-auth.json models.json mcp.json settings.json prompt-history.jsonl redact.key sessions/x.jsonl"
)
VARIABLES = {
    **dict.fromkeys(
        "OPENAI_API_KEY GITHUB_TOKEN AWS_PROFILE JWT BEARER CRED CONNECTION_STRING SLACK_WEBHOOK STRIPE_SK PGPASSWORD"
        " SENTRY_DSN SSH_AUTH_SOCK NPM_TOKEN".split(),
        SECRET,
    ),
    "DATABASE_URL": f"postgres://app:{SECRET}@db.example/app",
    "REDIS_URL": f"redis://:{SECRET}@cache.example",
}


@pytest.fixture(params=["bwrap", "landlock"])
def engine(request):
    """Each engine that works here."""
    problem = try_engine(request.param)
    if problem is not None:
        pytest.skip(f"{request.param}: {problem}")
    return request.param


def state_of(folder):
    """Return everything below a folder, apart from what an engine is known not to hold."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        if "sandbox-evidence" not in path.parts:
            found[str(path.relative_to(folder))] = (stat.S_IFMT(status.st_mode), status.st_uid, content)
    return found


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_every_try_is_refused_or_on_the_page(engine, tmp_path, monkeypatch):
    home, agent_dir, outside, cwd = (tmp_path / name for name in ("home", "home/.pi/agent", "outside", "cwd"))
    for folder in (agent_dir, outside / "folder", cwd / ".vscode", cwd / "mine"):
        folder.mkdir(parents=True)
    for name in ("treasure", "mode", "time", "attributes"):
        write(outside / name, "kept")
    secrets = [*(home / name for name in SECRETS.split()), *(agent_dir / name for name in OWN_SECRETS.split())]
    for path in secrets:
        write(path, json.dumps({"apiKey": SECRET}))
    write(cwd / "AGENTS.md", "mine")
    write(cwd / ".vscode" / "tasks.json", "mine")
    subprocess.run(["git", "init", "-q", str(cwd)], check=True)
    shutil.copy(Path(__file__).with_name("sandbox_tries.py"), cwd)
    monkeypatch.setenv("HOME", str(home))
    names = PluginHost(Settings.in_memory({}, tmp_path / "other")).project_files()
    before = [state_of(outside), state_of(home)]

    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as tcp6,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX) as abstract,
        subprocess.Popen(["sleep", "600"], start_new_session=True, env={"OPENAI_API_KEY": SECRET}) as sleeper,
    ):
        try:
            name = f"pi-test-{os.getpid()}"
            udp.bind(tcp.getsockname())
            unix = home / "socket"
            local.bind(str(unix))
            abstract.bind(f"\0{name}")
            before[1] = state_of(home)
            servers = [tcp, tcp6, local, abstract]
            for server in servers:
                server.listen()
                server.setblocking(False)
            udp.setblocking(False)
            facts = {
                "outside": str(outside),
                "home": str(home),
                "agent_dir": str(agent_dir),
                "cwd": str(cwd),
                "pid": sleeper.pid,
                "port": tcp.getsockname()[1],
                "port6": tcp6.getsockname()[1],
                "unix": str(unix),
                "abstract": name,
                "secrets": [*map(str, secrets)],
                "secret": SECRET,
                "names": sorted({*names, *PLANTED}),
            }
            got, undone = asyncio.run(tried(engine, cwd, agent_dir, names, facts))
            gaps = gaps_of(outside, sleeper.pid, name)
            alive = sleeper.poll() is None and Path(f"/proc/{sleeper.pid}/stat").read_text().split()[2] in "SR"
            reached = [server for server in servers if accepts(server)] + ([udp] if receives(udp) else [])
        finally:
            sleeper.kill()

    assert [state_of(outside), state_of(home)] == before
    assert alive
    assert reached == []
    assert got["secrets"] == []
    assert not VARIABLES.keys() & set(got["variables"])
    planted = [path for path in cwd.rglob("*") if path.is_file() and b"PLANTED" in path.read_bytes()]
    harmless = ("sandbox_tries.py", "AGENTS.md.x", "kept", "link")  # names that mean nothing
    assert [path for path in planted if path.relative_to(cwd).parts[0] not in harmless] == []
    assert (cwd / "AGENTS.md").read_text() == "mine"
    assert (cwd / ".vscode" / "tasks.json").read_text() == "mine"
    assert undone
    assert gaps | set(got["calls"]) == GAPS[engine].keys()
    page = " ".join(PAGE.read_text().split())
    assert [words for words in GAPS[engine].values() if words not in page] == []


async def tried(engine, cwd, agent_dir, names, facts):
    """Run the tries in a sandbox; return what they got, and what was undone."""
    environ = {**os.environ, **VARIABLES}
    sandbox = Sandbox(Options(mode=engine), str(cwd), str(agent_dir), environ, names)
    try:
        policy = sandbox.policy
        program = (os.path.realpath(sys.executable), "-I", "-S", str(cwd / "sandbox_tries.py"), json.dumps(facts))
        request = SpawnRequest(
            argv=program, cwd=str(cwd), env=policy.environment(environ), purpose="bash", call_id="tries"
        )
        await sandbox.started(request, policy)
        command = sandbox.engine.argv(request.argv, policy, request.cwd)
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=cwd, env=dict(request.env), capture_output=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        changes = await sandbox.ended("tries")
        undone = [*changes.undone, *await sandbox.finish()]
    finally:
        sandbox.close()
    return json.loads(done.stdout.splitlines()[-1]), undone


def gaps_of(outside, pid, name):
    """Return what an engine let through that is no change of a file's content."""
    shared = Path("/dev/shm", name)  # noqa: S108 - where programs share memory
    found = {
        "chmod": stat.S_IMODE((outside / "mode").stat().st_mode) == 0o777,
        "utime": (outside / "time").stat().st_mtime == 1,
        "attributes": os.listxattr(outside / "attributes") != [],
        "priority": os.getpriority(os.PRIO_PROCESS, pid) == 19,
        "shared memory": shared.exists(),
    }
    shared.unlink(missing_ok=True)
    return {each for each, is_open in found.items() if is_open}


def accepts(server):
    try:
        server.accept()
    except BlockingIOError:
        return False
    return True


def receives(server):
    try:
        server.recv(1)
    except BlockingIOError:
        return False
    return True
