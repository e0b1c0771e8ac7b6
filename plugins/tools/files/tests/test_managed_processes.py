"""``ctx.processes``: started, read, written to and stopped, and ended with the session."""

from __future__ import annotations

import asyncio
import os

import pytest

import pi_tools
from pi_hookspecs import PiError, Processes, UnknownName, hookimpl
from pi_testing import FakeLauncher
from pi_testing.patience import soon


class Policy:
    def __init__(self):
        self.launcher = FakeLauncher()

    @hookimpl
    def register_services(self):
        return [self.launcher]

    @hookimpl
    def child_environment(self, event):
        return {"STAGE": event.purpose}


@pytest.fixture
def policy():
    return Policy()


@pytest.fixture
def pi_plugins(policy):
    return {"tools": pi_tools, "policy": policy}


@pytest.fixture
def processes(pi_session):
    return pi_session.ctx.processes


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def read_until(process, text):
    while text not in process.read().text:  # noqa: ASYNC110 - the process says when; the test's own limit ends it
        await asyncio.sleep(0.01)


async def test_it_matches_the_contract(processes):
    assert isinstance(processes, Processes)


async def test_output_is_read_piece_by_piece(processes):
    process = await processes.start("echo one; read line; echo got $line >&2; exit 3", name="dialog")
    await read_until(process, "one\n")
    first = process.read()
    await process.write("two\n")

    assert (process.name, process.status, process.exit_code) == ("dialog", "running", None)
    assert await process.wait() == 3
    assert process.read(first.next).text == "got two\n"
    assert (process.status, process.exit_code) == ("exited", 3)


async def test_a_program_runs_without_a_shell_in_the_given_directory(processes, tmp_path):
    (tmp_path / "sub").mkdir()
    process = await processes.start(["sh", "-c", "echo $OWN $STAGE $PI_CODING_AGENT; pwd"], cwd="sub", env={"OWN": "1"})
    await process.wait()

    assert process.read().text == f"1 process true\n{tmp_path}/sub\n"
    assert process.name == process.command == "sh -c 'echo $OWN $STAGE $PI_CODING_AGENT; pwd'"


async def test_of_long_output_the_end_is_kept(processes):
    process = await processes.start("seq 400000; echo end")
    await process.wait()
    output = process.read()

    assert output.text.endswith("400000\nend\n")
    assert len(output.text) <= 1 << 20
    assert output.lost == output.next - len(output.text)
    assert process.read(output.next).text == ""


async def test_the_processes_of_the_session_are_found_again(pi_session, processes):
    first = await processes.start("sleep 3600")
    second = await processes.start("true")

    assert [each.id for each in pi_session.ctx.processes.list()] == [first.id, second.id]
    assert pi_session.ctx.processes.get(second.id) is second
    with pytest.raises(UnknownName):
        processes.get("nope")


async def test_a_process_is_stopped_with_what_it_started(processes):
    process = await processes.start("sleep 3600 & echo $!; wait")
    await read_until(process, "\n")
    await process.stop()

    assert process.status == "stopped"
    assert process.exit_code is not None
    assert not is_alive(int(process.read().text))
    with pytest.raises(PiError, match="has ended"):
        await process.write("x")


async def test_a_stopped_process_that_had_ended_stays_exited(processes):
    process = await processes.start("true")
    await process.wait()
    await process.stop()

    assert (process.status, process.exit_code) == ("exited", 0)


@pytest.mark.parametrize("end", ["end", "new"])
async def test_they_end_with_the_session_and_the_user_is_notified(pi_session, processes, fake_ui, end):
    process = await processes.start("echo $$; exec sleep 3600", name="server")
    await read_until(process, "\n")
    assert fake_ui.statuses["processes"] == "1 process"
    if end == "new":
        await pi_session.new_session()
    else:
        await pi_session.__aexit__(None, None, None)

    assert "processes" not in fake_ui.statuses
    assert not is_alive(int(process.read().text))
    assert fake_ui.notices[-1].message == f"Ended 1 managed process: {process.id} server."


async def test_a_launcher_may_refuse(processes, policy):
    def refuse(request):
        raise PiError("no servers here")

    policy.launcher.answer = refuse

    with pytest.raises(PiError, match="no servers here"):
        await processes.start("true")
    assert processes.list() == []


@pytest.mark.parametrize("pi_plugins", [{}])
async def test_without_the_tools_it_says_what_to_install(pi_session):
    with pytest.raises(PiError, match="pluggypi-tools"):
        await pi_session.ctx.processes.start("true")


@pytest.mark.pi(screen=True)
async def test_running_ones_are_in_the_strip_with_commands_to_look_at_and_stop_them(processes, fake_ui):
    one = await processes.start("cat", name="reader")
    two = await processes.start("sleep 60")

    activity = fake_ui.activities["processes"]
    assert activity.label == "2 processes"
    assert [(each.text, each.open, each.stop) for each in activity.items] == [
        (f"{one.id}  reader", f"/processes {one.id}", f"/processes stop {one.id}"),
        (f"{two.id}  sleep 60", f"/processes {two.id}", f"/processes stop {two.id}"),
    ]

    await one.stop()
    await two.stop()
    await soon(_none_left(fake_ui), lambda: f"no activity; there are {fake_ui.activities}")


async def _none_left(ui):
    while ui.activities:  # noqa: ASYNC110 - nothing else tells
        await asyncio.sleep(0.01)


async def test_a_command_of_any_length_starts_and_can_be_written_to(processes):
    """Linux takes no argument of 128 KB."""
    process = await processes.start("#" * 200_000 + "\nwhile read line; do echo got $line; done")
    await process.write("text\n")

    await read_until(process, "got text\n")
