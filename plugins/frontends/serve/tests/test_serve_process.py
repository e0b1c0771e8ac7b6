"""Real processes: where a served session is, who is kept out, and what a server leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pi_client import PiClient, PiClientError, served_sessions
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[4] / "docs" / "serve.md"
SESSION = "019aae4e-8a4c-7a31-9c0f-6a2f5a1f0b7d"


@pytest.fixture
def agent_dir(tmp_path, monkeypatch) -> Path:
    """A short path: that of a socket may have a hundred bytes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    return tmp_path / "agent"


def pi(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pi_cli", *arguments, "--model", "offline/rules"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def attach(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pi_cli", "-p", "--attach", *arguments]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False)


@contextmanager
def serving(tmp_path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """A server in a folder of its own, its session and its socket."""
    cwd = tmp_path / "w"
    cwd.mkdir(exist_ok=True)
    process = pi("serve", *options, cwd=cwd)
    try:
        session = process.stdout.readline().split()
        place = process.stdout.readline().split()
        assert (session[:1], place[:1]) == (["session"], ["socket"]), process.communicate(timeout=PATIENCE)
        yield process, session[1], Path(place[1])
    finally:
        process.kill()
        process.communicate()


async def ask(path: Path, text: str) -> str:
    async with asyncio.timeout(PATIENCE), await PiClient.connect(path) as client:
        return await client.ask(text)


async def test_it_prints_its_address_serves_until_a_signal_and_leaves_nothing(tmp_path, agent_dir) -> None:
    with serving(tmp_path) as (process, session, path):
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)]
        found = served_sessions(agent_dir)
        answer = await ask(path, "say hello")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)

    assert modes == [0o600, 0o700]
    assert [(each.session, each.socket) for each in found] == [(session, str(path))]
    assert answer
    assert (process.returncode, errors) == (143, "")
    assert not path.exists()
    assert [*(agent_dir / "run").iterdir()] == []
    assert len([*agent_dir.glob("sessions/*/*.jsonl")]) == 1


def test_a_phone_gets_the_address_of_the_proxy_as_a_picture_at_a_terminal(tmp_path, agent_dir) -> None:
    controller, terminal = os.openpty()
    command = [sys.executable, "-m", "pi_cli", "serve", "--model", "offline/rules", "--port", "0"]
    command += ["--url", "https://box.example.net"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, text=True) as process:
        lines = dict(process.stdout.readline().split() for _ in range(4))
        os.close(terminal)
        drawn = os.read(controller, 1 << 16).decode()
        process.terminate()
    os.close(controller)

    assert lines["url"].startswith("https://box.example.net/?token=")
    assert "▀" in drawn or "█" in drawn or "▄" in drawn


async def test_it_ends_when_it_had_no_client_for_so_long(tmp_path, agent_dir) -> None:
    with serving(tmp_path, "--idle", "0.01") as (process, _, path):
        assert process.wait(timeout=PATIENCE) == 0
        assert not path.exists()


async def test_a_second_server_of_a_session_is_refused(tmp_path, agent_dir) -> None:
    with serving(tmp_path) as (_, session, path):
        await ask(path, "say hello")
        second = pi("serve", session, cwd=tmp_path / "w")
        _, errors = second.communicate(timeout=PATIENCE)
        answer = await ask(path, "say it again")

    assert second.returncode == 1
    assert f"Session '{session}' is already served" in errors
    assert "Traceback" not in errors
    assert answer


async def test_a_session_that_takes_the_place_of_another_is_found_by_its_own_id(tmp_path, agent_dir) -> None:
    with serving(tmp_path) as (_, first, path):
        async with asyncio.timeout(PATIENCE), await PiClient.connect(path) as client:
            await client.ask("say hello")
            await client.new_session()
            second = (await client.get_state()).session_id
            found = [each.session for each in served_sessions(agent_dir)]
        announced = [each.name for each in (agent_dir / "run").glob("*.json")]

    assert second != first
    assert found == [second]
    assert announced == [f"{second}.json"]


async def test_the_socket_of_a_killed_server_is_taken_over(tmp_path, agent_dir) -> None:
    with serving(tmp_path) as (process, session, path):
        await ask(path, "say hello")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=PATIENCE)
        assert path.exists()
        assert served_sessions(agent_dir) == []
    with pytest.raises(PiClientError, match="No process serves a session"):
        await PiClient.connect(path)
    with serving(tmp_path, session) as (_, again, path):
        async with await PiClient.connect(path) as client:
            assert again == session
            assert await client.get_last_assistant_text()


def test_a_prompt_of_the_command_line_is_answered_by_the_served_session(tmp_path, agent_dir) -> None:
    with serving(tmp_path) as (_, session, _path):
        runs = [
            attach("list the files here", cwd=tmp_path / "w"),
            attach(session[:8], "list the files here", cwd=tmp_path),
            attach(session, cwd=tmp_path, stdin="list the files here"),
        ]
        refused = [attach("list them", cwd=tmp_path), attach("12345678", "list them", cwd=tmp_path / "w")]
        stored = [*agent_dir.glob("sessions/*/*.jsonl")]

    for done in runs:
        assert "This folder is empty" in done.stdout
        assert done.stderr == "→ bash ls -Ap .\n"
        assert done.returncode == 0
    assert len(stored) == 1
    assert all(session in done.stderr and "Traceback" not in done.stderr for done in refused)
    assert [(done.returncode, done.stdout) for done in refused] == [(1, "")] * 2


async def test_the_program_of_the_page_asks_a_served_session(tmp_path, agent_dir, monkeypatch) -> None:
    program = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    monkeypatch.delenv("PI_CODING_AGENT_DIR")
    defined: dict = {}
    exec(program, defined)  # noqa: S102 - a page of ours

    with serving(tmp_path):
        answer = await defined["ask"]("say hello")

    assert answer


@pytest.fixture
def pipe(tmp_path) -> Path:
    """The program of the page that programs start in place of pi."""
    path = tmp_path / "pipe.py"
    path.write_text(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1])
    return path


async def test_a_program_that_starts_pi_talks_to_a_served_session_through_the_pipe_of_the_page(
    tmp_path, agent_dir, pipe, monkeypatch
) -> None:
    with serving(tmp_path) as (_, session, path):
        monkeypatch.setenv("PI_SOCKET", str(path))
        async with asyncio.timeout(PATIENCE), await PiClient.start(command=[sys.executable, str(pipe)]) as client:
            answer = await client.ask("list the files here")
            found = (await client.get_state()).session_id

    assert "This folder is empty" in answer
    assert found == session


@pytest.mark.heavy
def test_a_client_by_others_talks_to_a_served_session_through_the_pipe(tmp_path, agent_dir, pipe, monkeypatch) -> None:
    theirs = pytest.importorskip(
        "pi_agent", reason="needs pi-agent-python-sdk: uv run python tools/heavy_environments.py serve --test"
    )
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    with serving(tmp_path) as (_, session, path):
        command = [sys.executable, str(pipe)]
        environ = {"PI_SOCKET": str(path)}
        with theirs.PiClient(executable=command, env=environ, allow_unknown_version=True) as client:
            first = client.run("list the files here")
            second = client.run("list the files here")
        stored = [*agent_dir.glob("sessions/*/*.jsonl")]

    assert "This folder is empty" in first.text
    assert "This folder is empty" in second.text
    assert [session in each.name for each in stored] == [True]


@pytest.mark.heavy
@pytest.mark.skipif(shutil.which("pi-acp") is None, reason="needs pi-acp: npm install --global pi-acp@0.0.34")
async def test_an_editor_talks_to_a_served_session_through_an_adapter_by_others(
    tmp_path, agent_dir, pipe, monkeypatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    pipe.write_text(f"#!{sys.executable}\n{pipe.read_text()}")
    pipe.chmod(0o755)
    with serving(tmp_path) as (_, session, path):
        environ = {**os.environ, "PI_SOCKET": str(path), "PI_ACP_PI_COMMAND": str(pipe)}
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        adapter = await asyncio.create_subprocess_exec("pi-acp", cwd=tmp_path / "w", env=environ, **pipes)
        updates: list[dict] = []

        async def call(number: int, method: str, **params: object) -> dict:
            line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            adapter.stdin.write(json.dumps(line).encode() + b"\n")
            while (answer := json.loads(await adapter.stdout.readline())).get("id") != number:
                updates.append(answer)
            assert "error" not in answer, answer
            return answer["result"]

        async with asyncio.timeout(PATIENCE):
            await call(1, "initialize", protocolVersion=1, clientCapabilities={})
            made = await call(2, "session/new", cwd=str(tmp_path / "w"), mcpServers=[])
            prompt = [{"type": "text", "text": "list the files here"}]
            ended = await call(3, "session/prompt", sessionId=made["sessionId"], prompt=prompt)
        adapter.terminate()
        await adapter.wait()

    said = "".join(
        update["params"]["update"]["content"]["text"]
        for update in updates
        if update.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"
    )
    assert "This folder is empty" in said
    assert (made["sessionId"], ended["stopReason"]) == (session, "end_turn")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--socket", "/x" * 60], "can have at most 100 bytes"),
        (["--socket", "/dev/null"], "exists and is not a socket"),
        (["--socket", "/nowhere/s"], "cannot be created: No such file or directory"),
        (["--port", "0", "--url", "box"], "--url takes an address such as https://"),
        (["--port", "0", "--url", "https://[::1"], "--url takes an address such as https://"),
        (["--idle", "soon"], "--idle takes a number of minutes"),
        (["one", "two"], "takes one session, and 'two' is a second one"),
        ([SESSION], "019aae4e"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(tmp_path, agent_dir, options, why) -> None:
    process = pi("serve", *options, cwd=tmp_path)

    out, errors = process.communicate(timeout=PATIENCE)

    assert process.returncode in (1, 2)
    assert out == ""
    assert why in errors
    assert "Traceback" not in errors
    assert not [*agent_dir.glob("run/*")]
