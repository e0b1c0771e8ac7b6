"""``UserBash`` alone: where the result of a command goes, and what the subscribers get of it."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.user_bash import UserBash
from pi_hookspecs import BashExecutionMessage, PiError, UserBashResult, UserError


class Runner:
    """Prints the command; waits for the abort where the command is ``wait``."""

    async def run_command(self, request, ctx):
        request.on_output(request.command)
        if request.command == "wait":
            await request.signal.wait()
        if request.command == "fail":
            raise ValueError("no shell")
        return BashExecutionMessage(
            command=request.command, output=request.command, exit_code=0, cancelled=request.signal.aborted
        )


@pytest.fixture
def runtime(runtime_of, service):
    return runtime_of(service(Runner()))


@pytest.fixture
def bash(runtime):
    return UserBash(runtime)


async def test_the_output_is_emitted_with_the_id_of_the_caller(bash, recorder):
    seen = []
    await bash.execute("ls", seen.append, id="7")

    assert seen == ["ls"]
    assert [(event.delta, event.id) for event in recorder.events if event.type == "bash_execution_update"] == [
        ("ls", "7")
    ]


async def test_during_a_prompt_the_result_waits_for_its_answer(runtime, bash):
    with runtime.gate.prompt():
        await bash.execute("ls")
        during = list(runtime.agent.state.messages)
    runtime.transcript.keep_deferred()

    assert (during, [message.role for message in runtime.agent.state.messages]) == ([], ["bashExecution"])


async def test_an_abort_stops_every_command_that_is_running(bash, until):
    running = [asyncio.ensure_future(bash.execute("wait")) for _ in range(2)]
    await until(lambda: bash.is_running)
    bash.abort()

    assert [each.cancelled for each in await asyncio.gather(*running)] == [True, True]
    assert bash.is_running is False


async def test_a_runner_that_fails_leaves_nothing_running_and_nothing_stored(runtime, bash):
    with pytest.raises(PiError, match="no shell"):
        await bash.execute("fail")

    assert (bash.is_running, runtime.agent.state.messages) == (False, [])


async def test_without_a_runner_a_plugins_own_result_is_enough(runtime_of, plugin):
    result = BashExecutionMessage(command="ls", output="remote", exit_code=0, cancelled=False)
    answering = UserBash(runtime_of(plugin(user_bash=lambda event: UserBashResult(result=result))))

    assert (await answering.execute("ls")).output == "remote"


async def test_without_a_runner_the_error_names_the_plugin_to_install(runtime_of):
    with pytest.raises(UserError, match="pip install pluggypi-tools"):
        await UserBash(runtime_of()).execute("ls")
