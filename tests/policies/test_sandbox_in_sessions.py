"""Protected files in whole sessions: one baseline for calls, ``!`` commands, servers, and processes left running."""

from __future__ import annotations

import asyncio
import sys

import pytest

import pi_context_files
import pi_sandbox
import pi_tools
from pi_hookspecs import Command, hookimpl
from pi_sandbox.engine import try_engine
from pi_testing import text, tool_call, until


class Server:
    """``/server COMMAND`` starts a background process."""

    @hookimpl
    def register_commands(self):
        async def start(args, ctx):
            await ctx.processes.start(args)

        return [Command("server", handler=start)]


pytestmark = [
    pytest.mark.slow,  # each starts programs, and waits for some
    pytest.mark.pi(
        plugins={"sandbox": pi_sandbox, "tools": pi_tools, "files": pi_context_files, "server": Server()},
        settings={"sandbox": {"mode": "landlock"}},
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="the engines that are proven are Linux's"),
]

PLANT = (
    "mkdir -p .pi; echo EVIL > .pi/settings.json; echo EVIL > .mcp.json; echo EVIL > AGENTS.md; echo EVIL > AGENTS.MD;"
    " echo x > .git/hooks/pre-commit; mkdir -p sub; echo EVIL > sub/CLAUDE.md; mkdir -p .claude/agents;"
    " echo x > .claude/agents/x.md"
)
PLANTED = (
    ".pi",
    ".mcp.json",
    "AGENTS.md",
    "AGENTS.MD",
    ".git/hooks/pre-commit",
    "sub/CLAUDE.md",
    ".claude/agents/x.md",
)
LATER = f"setsid sh -c 'sleep 0.5; {PLANT}; touch later; sleep 0.5' > /dev/null 2>&1 &"


@pytest.fixture(params=["bwrap", "landlock"])
def engine(request, pi_options):
    """Each engine that works here."""
    problem = try_engine(request.param)
    if problem is not None:
        pytest.skip(f"{request.param}: {problem}")
    pi_options.settings["sandbox"] = {"mode": request.param}
    return request.param


@pytest.fixture
async def repository(tmp_path):
    """The project is a repository."""
    await (await asyncio.create_subprocess_exec("git", "init", "-q", str(tmp_path))).wait()
    return tmp_path


@pytest.fixture
async def run(engine, repository, pi_session, script):
    """``await run(command, ...)``: the results of commands that the model runs at the same time."""
    pi_session.has_ui = False

    async def run(*commands):
        script.turn(*(tool_call("bash", command=command) for command in commands)).turn(text("ok"))
        before = len(pi_session.messages)
        await pi_session.prompt("please")
        results = [message for message in pi_session.messages[before:] if message.role == "toolResult"]
        return [("\n".join(block.text for block in result.content), result.is_error) for result in results]

    return run


def planted_in(folder):
    return [name for name in PLANTED if (folder / name).exists()]


async def planted_later(folder):
    """Wait until a process that was left running has planted."""
    await until((folder / "later").exists)


async def nothing_planted(folder):
    """Wait until no planted file is left."""
    await until(lambda: not planted_in(folder))


async def test_a_call_that_changes_protected_files_fails(run, repository):
    ((output, is_error),) = await run(PLANT)

    assert planted_in(repository) == []
    assert is_error
    assert "The sandbox undid a change of" in output


async def test_what_a_process_that_was_left_running_plants_is_removed(run, repository, engine):
    await run(LATER)
    if engine == "landlock":  # bubblewrap ends it
        await planted_later(repository)
        await nothing_planted(repository)
    ((output, is_error),) = await run("ls -a")

    assert planted_in(repository) == []
    assert not is_error
    assert ("a process that was left running" in output) == (engine == "landlock")


async def test_it_is_removed_while_the_session_waits(run, repository, engine):
    await run(LATER)
    if engine == "landlock":
        await planted_later(repository)
    await nothing_planted(repository)


async def test_a_process_that_is_left_at_the_end_plants_nothing_after_it(run, repository, pi_session):
    await run(LATER)
    await pi_session.dispose()
    await asyncio.sleep(1)

    assert planted_in(repository) == []


async def test_parallel_calls_do_not_bring_back_what_another_one_planted(run, repository):
    others = "while [ ! -e later ]; do sleep 0.05; done; sleep 0.8"
    results = await run(f"{PLANT}; touch later; sleep 0.1", *[others] * 5)

    assert planted_in(repository) == []
    notes = [output for output, _ in results if "The sandbox undid" in output]
    assert notes
    assert all("this call made it, or what ran at the same time" in note for note in notes)
    await run("true")
    assert planted_in(repository) == []


async def test_the_users_own_changes_between_calls_stay(run, repository):
    await run("true")
    (repository / "AGENTS.md").write_text("mine")
    (repository / ".pi").mkdir()
    await run("echo x > file")
    assert (repository / "AGENTS.md").read_text() == "mine"

    await run("echo EVIL > AGENTS.md; rm -r .pi")

    assert (repository / "AGENTS.md").read_text() == "mine"
    assert (repository / ".pi").is_dir()


async def test_commands_of_the_user_are_compared_as_well(engine, repository, pi_session, fake_ui):
    await pi_session.execute_bash(PLANT)
    await nothing_planted(repository)

    assert any("The sandbox undid a change of" in notice.message for notice in fake_ui.notices)


async def test_servers_are_compared_as_well(run, repository, pi_session):
    await pi_session.prompt(f"/server {LATER.removesuffix('&')}")
    await planted_later(repository)
    await run("true")

    assert planted_in(repository) == []


async def test_a_change_of_settings_does_not_make_planted_files_the_users(run, repository, pi_session, engine):
    await run(f"setsid sh -c 'sleep 0.3; {PLANT}; touch later; sleep 1' > /dev/null 2>&1 &")
    await asyncio.sleep(0.1)
    pi_session.settings.set("sandbox", {"mode": engine, "denyRead": ["secret"]})
    await run("true")
    if engine == "landlock":
        await planted_later(repository)
    await run("true")

    assert planted_in(repository) == []
