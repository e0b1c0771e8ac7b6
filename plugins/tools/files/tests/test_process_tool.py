"""``bash`` with ``background``, the tool ``process`` and ``/processes``."""

from __future__ import annotations

import os

import pytest

import pi_tools
from pi_hookspecs import AbortController, UserError
from pi_testing import FakeUI

pytestmark = pytest.mark.slow


@pytest.fixture
def pi_plugins():
    return {"tools": pi_tools}


@pytest.fixture
async def call(pi_session):
    """``await call("process", action="list")``: text and whether it is an error."""
    tools, running = {each.name: each for each in pi_tools.register_tools()}, AbortController().signal

    async def run(name, /, *, signal=None, **arguments):
        try:
            result = await tools[name].execute("c", arguments, signal or running, lambda _update: None, pi_session.ctx)
        except pi_tools.ToolFailure as failure:
            return str(failure), True
        return "\n".join(block.text for block in result.content), bool(result.is_error)

    return run


@pytest.fixture
def start(call, pi_session):
    """``await start("echo up; sleep 60")``: the id of a process that runs."""

    async def run(command, **arguments):
        text, failed = await call("bash", command=command, background=True, **arguments)
        assert not failed, text
        return pi_session.ctx.processes.list()[-1].id

    return run


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """The first output of a process is waited for, however slow the computer is."""
    monkeypatch.setattr("pi_tools.commands.watched.FIRST_OUTPUT", 60)


async def test_a_command_in_the_background_returns_while_it_runs(call, pi_session):
    text, _ = await call("bash", command="echo ready; sleep 60", background=True, name="server")
    (process,) = pi_session.ctx.processes.list()

    assert text.startswith(f"[process {process.id}] started in the background: server: running for ")
    assert text.endswith("\nready")
    assert process.status == "running"


async def test_a_long_command_is_not_repeated_in_every_answer(call, start):
    script = "cat > script <<'EOF'\n" + "a line of the script\n" * 200 + "EOF\necho up; sleep 60"
    number = await start(script)

    answers = [await call("process", action=each, id=number) for each in ("list", "read", "stop")]

    assert all("cat > script <<'EOF' …: " in text and "a line of" not in text for text, _ in answers)


async def test_a_command_that_fails_at_once_is_reported_at_once(call, monkeypatch):
    monkeypatch.setattr("pi_tools.commands.watched.MORE_OUTPUT", 60)  # ends with the process
    text, _ = await call("bash", command="echo no such port >&2; exit 3", background=True)

    assert "exited with code 3" in text
    assert text.endswith("no such port")


async def test_output_is_returned_once(call, start):
    process = await start("echo one; sleep 60")

    text, _ = await call("process", action="read", id=process)

    assert text.endswith("(no new output)")


async def test_waiting_ends_with_the_line_that_matches(call, start, tmp_path):
    os.mkfifo(tmp_path / "go")
    process = await start(f"echo up; cat '{tmp_path}/go'; sleep 60")
    (tmp_path / "go").write_text("listening on 8080\n")

    text, failed = await call("process", action="wait", id=process, pattern=r"listening on \d+")

    assert not failed
    assert f"[process {process}] printed 'listening on 8080'" in text


async def test_a_line_that_was_read_before_is_found_by_the_first_wait_and_not_by_the_second(call, start):
    process = await start("echo ready; sleep 60")

    first = await call("process", action="wait", id=process, pattern="ready")
    second = await call("process", action="wait", id=process, pattern="ready", timeout=0.1)

    assert not first[1]
    assert second[1]
    assert "printed no line that matches 'ready' within 0.1 seconds" in second[0]


async def test_waiting_for_a_line_ends_when_the_process_does(call, start, tmp_path):
    os.mkfifo(tmp_path / "go")
    process = await start(f"echo up; cat '{tmp_path}/go'")
    (tmp_path / "go").write_text("bye\n")

    text, failed = await call("process", action="wait", id=process, pattern="ready")

    assert failed
    assert "printed no line that matches 'ready' until it ended" in text
    assert text.endswith("bye")


async def test_a_pattern_that_backtracks_for_ever_ends_the_wait_and_not_pi(call, start):
    process = await start(f"echo {'a' * 60}b; sleep 60")

    text, failed = await call("process", action="wait", id=process, pattern=r"(a|aa)+$")

    assert failed
    assert "The pattern '(a|aa)+$' takes too long to compare with the output; the process keeps running." in text


async def test_waiting_without_a_pattern_waits_for_the_end(call, start):
    process = await start("echo up; sleep 0.5; exit 4")

    text, failed = await call("process", action="wait", id=process)

    assert not failed
    assert "has ended: " in text
    assert "exited with code 4" in text


async def test_aborting_a_wait_leaves_the_process_running(call, pi_session, start):
    process = await start("echo up; sleep 60")
    abort = AbortController()
    abort.abort()

    text, failed = await call("process", action="wait", id=process, signal=abort.signal)

    assert failed
    assert text == "Waiting was aborted; the process keeps running."
    assert pi_session.ctx.processes.get(process).status == "running"


async def test_stopping_ends_it_and_all_that_it_started(call, start, pi_session):
    process = await start("sleep 60 & echo $!; wait")
    child = int(pi_session.ctx.processes.get(process).read().text)

    text, _ = await call("process", action="stop", id=process)

    assert f"[process {process}] stopped" in text
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


async def test_a_long_output_is_cut_at_its_beginning(call, monkeypatch):
    monkeypatch.setattr("pi_tools.commands.watched.MORE_OUTPUT", 60)  # ends with the process
    text, _ = await call("bash", command="seq 1 3000; exit 1", background=True)

    assert "earlier characters left out]" in text
    assert text.endswith("\n3000")


async def test_the_list_has_a_line_for_each_process(call, start, monkeypatch):
    first = await start("echo up; sleep 60", name="one")
    monkeypatch.setattr("pi_tools.commands.watched.MORE_OUTPUT", 60)  # ends with the second
    second = await start("exit 2", name="two")

    text, _ = await call("process", action="list")

    assert text.startswith(f"[process {first}] one: running for ")
    assert text.endswith(f"[process {second}] two: exited with code 2")


async def test_an_empty_list_says_so(call):
    assert (await call("process", action="list"))[0] == "No process was started in the background."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"action": "read"}, "needs the id of a process"),
        ({"action": "read", "id": "ffff"}, "There is no process 'ffff' in this session. None was started"),
    ],
)
async def test_a_process_that_is_not_there_is_explained(call, arguments, message):
    text, failed = await call("process", **arguments)

    assert failed
    assert message in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": "("}, "The pattern '(' is not a regular expression"),
        ({"timeout": 0}, "Invalid timeout 0"),
        ({"timeout": 1e9}, "Invalid timeout 1000000000"),
    ],
)
async def test_what_cannot_be_awaited_is_explained(call, start, arguments, message):
    process = await start("echo up; sleep 60")

    text, failed = await call("process", action="wait", id=process, **arguments)

    assert failed
    assert message in text


async def test_a_timeout_is_refused_in_the_background(call):
    text, failed = await call("bash", command="sleep 60", background=True, timeout=5)

    assert failed
    assert "has no timeout" in text


async def test_a_tool_of_a_program_has_no_background(tmp_path):
    assert "background" not in pi_tools.create_bash_tool(tmp_path).parameters["properties"]


async def test_processes_lists_shows_and_stops(pi_session, start):
    process = await start("echo hello; sleep 60", name="server")
    ui = FakeUI()
    pi_session.runtime.front_end.ui = ui

    await pi_session.prompt("/processes")
    await pi_session.prompt(f"/processes {process}")
    await pi_session.prompt(f"/processes stop {process}")

    assert pi_session.ctx.processes.get(process).status == "stopped"
    assert [each.message for each in ui.notices][-1] == f"Stopped {process} server."
    assert any(each.message.endswith("\nhello") for each in ui.notices)


async def test_processes_refuses_what_it_does_not_know(pi_session):
    command = pi_tools.register_commands()[0]

    with pytest.raises(UserError, match="Unknown arguments of /processes: 'end all of them'"):
        await command.handler("end all of them", pi_session.ctx)
