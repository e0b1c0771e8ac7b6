"""The user's own commands: what they print, how they end, and what the model receives."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import pi_tools
from pi_hookspecs import BashExecutionMessage, PiError, UserBashResult, hookimpl
from pi_testing import stall, text, tool_call

pytestmark = pytest.mark.pi(plugins={"tools": pi_tools})


async def test_a_command_returns_what_it_printed_and_its_exit_code(pi_session):
    result = await pi_session.execute_bash("echo hello; exit 3")

    assert (result.output, result.exit_code, result.cancelled, result.truncated) == ("hello\n", 3, False, False)


async def test_a_command_of_the_user_sees_that_pi_runs_it(pi_session):
    assert (await pi_session.execute_bash("echo $PI_CODING_AGENT")).output == "true\n"


async def test_its_output_comes_as_it_is_printed(pi_session, recorder):
    pi_session.subscribe(recorder, "bash_execution_update")
    pieces = []

    await pi_session.execute_bash("printf one; sleep 0.2; printf two", pieces.append, id="7")

    assert "".join(pieces) == "onetwo"
    assert {event.id for event in recorder.events} == {"7"}
    assert "".join(event.delta for event in recorder.events) == "onetwo"


async def test_the_model_gets_it_with_the_next_prompt(pi_session, script):
    script.turn(text("I see."))
    await pi_session.execute_bash("echo hello")

    await pi_session.prompt("What did I run?")

    assert script.requests[0].messages[0].text == "Ran `echo hello`\n```\nhello\n\n```"


async def test_what_is_excluded_is_kept_and_not_sent(pi_session, script):
    script.turn(text("Nothing."))
    await pi_session.execute_bash("echo secret", exclude_from_context=True)

    await pi_session.prompt("What did I run?")

    assert len(script.requests[0].messages) == 1
    kept = [entry.message for entry in pi_session.session_manager.get_branch() if entry.type == "message"]
    assert kept[0].command == "echo secret"


async def test_during_an_answer_the_result_waits_until_that_is_done(pi_session, script):
    async def meanwhile(_request):
        await pi_session.execute_bash("echo hello")
        return tool_call("ls")

    script.turn(meanwhile).turn(text("done"))

    await pi_session.prompt("go")

    assert [message.role for message in pi_session.messages] == [
        "user",
        "assistant",
        "toolResult",
        "assistant",
        "bashExecution",
    ]


async def test_a_command_can_be_stopped(pi_session):
    begun = asyncio.Event()
    running = asyncio.create_task(pi_session.execute_bash("echo begun; sleep 60", lambda _text: begun.set()))
    await begun.wait()

    pi_session.abort_bash()
    result = await running

    assert result.cancelled
    assert not pi_session.is_bash_running


async def test_long_output_is_cut_and_kept_in_a_file(pi_session):
    result = await pi_session.execute_bash("seq 5000")

    assert result.truncated
    assert result.output == "\n".join(map(str, range(3001, 5001)))
    assert Path(result.full_output_path).read_text().count("\n") == 5000
    [kept] = [entry.message for entry in pi_session.session_manager.get_branch() if entry.type == "message"]
    assert kept == result


async def test_the_model_reads_once_that_output_was_cut(pi_session, script):
    script.turn(text("I see."))
    result = await pi_session.execute_bash("seq 5000")

    await pi_session.prompt("What did I run?")

    read = script.requests[0].messages[0].text
    assert read.endswith(f"\n5000\n```\n\n[Output truncated. Full output: {result.full_output_path}]")
    assert read.count("Full output") == 1


async def test_output_that_could_not_be_kept_is_still_marked_as_truncated(pi_session, script, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    script.turn(text("I see."))
    result = await pi_session.execute_bash("seq 5000")

    await pi_session.prompt("What did I run?")

    assert (result.truncated, result.full_output_path) == (True, None)
    assert script.requests[0].messages[0].text.endswith("\n[Output truncated.]")


class Guard:
    @hookimpl
    def user_bash(self, event):
        if "forbidden" in event.command:
            raise RuntimeError("the guard is broken")
        if "elsewhere" in event.command:
            return UserBashResult(result=BashExecutionMessage(command=event.command, output="far away", exit_code=0))
        return None


@pytest.mark.pi(plugins={"tools": pi_tools, "guard": Guard()})
async def test_a_plugin_may_run_it_instead(pi_session):
    assert (await pi_session.execute_bash("elsewhere")).output == "far away"


@pytest.mark.pi(plugins={"tools": pi_tools, "guard": Guard()})
async def test_a_guard_that_fails_refuses(pi_session, tmp_path):
    with pytest.raises(PiError):
        await pi_session.execute_bash("touch forbidden")

    assert not (tmp_path / "forbidden").exists()


@pytest.mark.pi(plugins={})
async def test_without_the_tools_it_says_what_to_install(pi_session):
    with pytest.raises(PiError, match="pluggypi-tools"):
        await pi_session.execute_bash("ls")


async def test_a_command_that_no_program_can_be_given_is_refused(pi_session):
    with pytest.raises(PiError, match="NUL"):
        await pi_session.execute_bash("echo \0")


async def test_an_aborted_answer_lets_the_command_go_on(pi_session, script, recorder):
    script.turn(stall())
    pi_session.subscribe(recorder)
    prompt = asyncio.create_task(pi_session.prompt("go"))
    await recorder.wait_for("agent_start")
    running = asyncio.create_task(pi_session.execute_bash("sleep 0.2; echo done"))

    await pi_session.abort()
    await prompt

    assert (await running).output == "done\n"
