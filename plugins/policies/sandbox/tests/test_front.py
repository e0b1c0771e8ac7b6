"""What the user sees of the sandbox: ``/sandbox`` and ``pi sandbox``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import pi_sandbox
from pi_hookspecs import hookimpl, tool
from pi_sandbox.engine import ORDER, try_engine
from pi_sandbox.status import describe
from pi_testing import text, tool_call
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.pi(plugins={"sandbox": pi_sandbox})

WORKING = [name for name in ORDER if try_engine(name) is None] if sys.platform == "linux" else []

needs_engine = pytest.mark.skipif(not WORKING, reason="no engine works here")
needs_landlock = pytest.mark.skipif(
    "landlock" not in WORKING, reason="bwrap ends its command without passing signals on"
)


class Web:
    """A plugin with a tool of the name ``fetch``."""

    @hookimpl
    def register_tools(self):
        @tool
        async def fetch(url: str) -> str:
            """Fetch a page."""
            return f"the page of {url}"

        return [fetch]


class Draws:
    """A plugin with a tool of the name ``generate_image``."""

    @hookimpl
    def register_tools(self):
        @tool
        async def generate_image(prompt: str, images: list[str]) -> str:
            """Draw."""
            return f"drawn from {images}"

        return [generate_image]


@pytest.fixture
def run(pi_host):
    """``run("check")``: the exit code of ``pi sandbox check``."""
    subcommand = pi_host.find("register_subcommands", "sandbox").thing
    return lambda *arguments: subcommand.run([*arguments], pi_host)


async def test_a_sandbox_that_is_off_says_how_to_switch_it_on(pi_session, fake_ui):
    await pi_session.prompt("/sandbox")

    assert "The sandbox is off. Start pi with --sandbox auto" in fake_ui.notices[-1].message


@needs_engine
@pytest.mark.pi(settings={"sandbox": {"mode": "auto"}})
async def test_a_sandbox_that_is_on_lists_what_it_allows(pi_session, fake_ui, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    await pi_session.prompt("/sandbox")

    lines = fake_ui.notices[-1].message.splitlines()
    assert lines[:2] == [f"Engine    {WORKING[0]}", "Network   off"]
    assert f"~/{tmp_path.name}" in lines[2]
    assert str(tmp_path) not in lines[2]


def test_hidden_places_that_do_not_exist_are_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    hidden = (str(tmp_path / ".ssh"), str(tmp_path / ".aws"), str(tmp_path / ".kube"))
    policy = SimpleNamespace(network="off", allow=(), write=(str(tmp_path),), deny_read=hidden)

    assert describe("bwrap", policy)[2:] == ["Writable  ~", "Hidden    ~/.ssh, 2 places that do not exist"]


COUNTS = """
import signal, time
seen = []
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, lambda number, _frame: seen.append(signal.Signals(number).name))
print("begun", flush=True)
while not seen:
    time.sleep(0.01)
time.sleep(0.5)
open("seen.txt", "w").write(" ".join(seen))
"""

FINISHES = """
import asyncio, os, signal, sys
from pi_cli.command_line import run
from pi_sandbox.state import Sandbox

finish = Sandbox.finish

async def interrupted(self):
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
    return await finish(self)

Sandbox.finish = interrupted
command = "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"
sys.exit(run(["sandbox", "run", "--", "sh", "-c", command], os.environ))
"""


def environ(tmp_path) -> dict[str, str]:
    return {**os.environ, "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}


def pi_sandbox_run(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pi_cli", "sandbox", "run", *arguments]


@needs_engine
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to pi", "to the group"])
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_ends_the_command_in_the_sandbox_and_pi_with_it(tmp_path, name, code, send):
    command = pi_sandbox_run("--", "sh", "-c", "echo $$; exec sleep 60.25")
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environ(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as pi:
        pi.stdout.readline()
        send(pi.pid, getattr(signal, name))
        _, errors = pi.communicate(timeout=PATIENCE)  # which ends when the command has ended, too

    assert (pi.returncode, errors) == (code, b"")


@needs_landlock
@pytest.mark.parametrize("has_input", [True, False])
def test_ctrl_c_of_the_terminal_reaches_the_command_once(tmp_path, has_input):
    (tmp_path / "counts.py").write_text(COUNTS)
    command = ["setsid", "--ctty", *pi_sandbox_run("--engine", "landlock", "--", sys.executable, "counts.py")]
    ours, theirs = os.openpty()
    if not has_input:
        command = ["setsid", "--ctty", "sh", "-c", 'exec "$@" </dev/null', "sh", *command[2:]]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ(tmp_path), stdin=theirs, stdout=theirs, stderr=theirs
    ) as pi:
        os.close(theirs)
        shown = b""
        while b"begun" not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, b"\x03")
        assert pi.wait(PATIENCE) == 0
    os.close(ours)

    assert (tmp_path / "seen.txt").read_text() == "SIGINT"


@needs_landlock
def test_sigterm_is_passed_on_to_the_command(tmp_path):
    (tmp_path / "counts.py").write_text(COUNTS)
    command = pi_sandbox_run("--engine", "landlock", "--", sys.executable, "counts.py")
    with subprocess.Popen(command, cwd=tmp_path, env=environ(tmp_path), stdout=subprocess.PIPE) as pi:
        pi.stdout.readline()
        pi.terminate()
        assert pi.wait(PATIENCE) == 0

    assert (tmp_path / "seen.txt").read_text() == "SIGTERM"


@needs_engine
def test_a_signal_does_not_keep_what_is_protected_from_being_undone(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    done = subprocess.run(
        [sys.executable, "-c", FINISHES],
        cwd=tmp_path,
        env=environ(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert not (tmp_path / ".git" / "hooks" / "pre-commit").exists()
    assert done.returncode == 0 or "Read-only" in done.stderr  # where the engine itself refuses the change
    assert "Traceback" not in done.stderr


@needs_engine
@pytest.mark.pi(settings={"sandbox": {"mode": "auto"}}, plugins={"sandbox": pi_sandbox, "web": Web()})
async def test_fetch_is_refused_without_a_network(pi_session, script):
    script.turn(tool_call("fetch", url="https://example.org/")).turn(text("No."))

    await pi_session.prompt("read it")

    assert script.requests[1].tool_results[-1].text == (
        "Not allowed: the sandbox has no network (sandbox.network is 'off')."
    )


@needs_engine
@pytest.mark.pi(settings={"sandbox": {"mode": "auto"}}, plugins={"sandbox": pi_sandbox, "draws": Draws()})
async def test_no_hidden_image_is_sent_to_an_image_model(pi_session, script, pi_agent_dir):
    hidden = str(pi_agent_dir / "sessions" / "screen.png")
    script.turn(tool_call("generate_image", prompt="a boat", images=["sketch.png", hidden]))
    script.turn(tool_call("generate_image", prompt="a boat", images=["sketch.png"])).turn(text("Done."))

    await pi_session.prompt("draw it")

    assert "Not allowed: the sandbox hides" in script.requests[1].tool_results[-1].text
    assert script.requests[2].tool_results[-1].text == "drawn from ['sketch.png']"


@pytest.mark.pi(settings={"sandbox": {"mode": "dokcer"}})
async def test_wrong_settings_are_reported_once_at_the_start_and_with_every_prompt(pi_session, fake_ui, script):
    await pi_session.prompt("hello")

    assert script.requests == []
    assert "sandbox.mode must be one of" in pi_session.messages[-1].error_message
    (notice,) = fake_ui.notices
    assert "sandbox.mode must be one of" in notice.message


@pytest.mark.pi(settings={"sandbox": {"mode": "dokcer"}})
async def test_without_a_user_the_refused_request_alone_reports_wrong_settings(pi_session, fake_ui):
    pi_session.has_ui = False
    fake_ui.notices.clear()  # those of the session that the fixture started

    await pi_session.new_session()
    await pi_session.prompt("hello")

    assert "sandbox.mode must be one of" in pi_session.messages[-1].error_message
    assert fake_ui.notices == []


def test_every_engine_is_listed_by_check(run, capsys):
    code = run("check")

    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*ORDER, "auto"]
    assert code == (0 if WORKING else 1)


@needs_engine
def test_a_command_runs_inside(run, tmp_path, tmp_path_factory, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    outside = tmp_path_factory.mktemp("outside")

    code = run("run", "--", "sh", "-c", f"echo inside > a; cat a; echo x > {outside}/b; exit 3")

    assert (code, capfd.readouterr().out, [*outside.iterdir()]) == (3, "inside\n", [])


@pytest.mark.parametrize("arguments", [["run"], ["run", "ls"], ["run", "--"], ["dance"]])
def test_wrong_arguments_show_the_usage(run, arguments, capsys):
    assert run(*arguments) == 2
    assert "Usage: pi sandbox check" in capsys.readouterr().err


def test_a_program_that_does_not_exist_is_one_line(run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if not WORKING:
        pytest.skip("no engine works here")

    assert run("run", "--", "no-such-program") == 1
    assert "'no-such-program' is not on PATH" in capsys.readouterr().err
