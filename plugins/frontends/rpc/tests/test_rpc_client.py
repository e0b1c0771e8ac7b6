"""pluggypi-client and the real pi understand each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_client import BlockingPiClient, CommandFailed, Image, PiClient, commands
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow

README = Path(__file__).resolve().parents[3] / "kits" / "client" / "README.md"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def options(rpc):
    return {"command": rpc.command, "cwd": rpc.cwd, "env": rpc.env}


ARGUMENTS = ("--model", "fake/echo")


async def test_it_talks_with_a_real_pi(options):
    async with PiClient.start(*ARGUMENTS, **options) as pi:
        answer = await pi.ask("Hello", [Image(data=PIXEL, mime_type="image/png")])
        state = await pi.get_state()
        stats = await pi.get_session_stats()
        tree = await pi.get_tree()
        messages = await pi.get_messages()
        (message,) = await pi.get_fork_messages()
        forked = await pi.fork(message.entry_id)

    assert (answer, state.message_count, stats.assistant_messages) == ("Hello", 2, 1)
    assert (tree.leaf_id is not None, [each["role"] for each in messages]) == (True, ["user", "assistant"])
    assert (forked.text, forked.cancelled) == ("Hello", False)
    assert pi.process.returncode == 0


async def test_every_command_that_asks_is_understood(options):
    async with PiClient.start(*ARGUMENTS, "--no-session", **options) as pi:
        for request in (
            commands.GetState(),
            commands.GetMessages(),
            commands.GetSessionStats(),
            commands.GetLastAssistantText(),
            commands.GetCommands(),
            commands.GetAvailableModels(),
            commands.GetAvailableThinkingLevels(),
            commands.CycleModel(),
            commands.CycleThinkingLevel(),
            commands.GetForkMessages(),
            commands.GetEntries(),
            commands.GetTree(),
            commands.ClearQueue(),
            commands.NewSession(),
        ):
            await pi.call(request)
        done = await pi.bash("echo hi; exit 3")
        with pytest.raises(CommandFailed, match="Model not found: a/b"):
            await pi.set_model("a", "b")

    assert (done.output.strip(), done.exit_code) == ("hi", 3)


def test_a_waiting_program_receives_a_prompts_events(options):
    with BlockingPiClient(*ARGUMENTS, "--no-session", **options) as pi:
        events = list(pi.stream("Hello"))
        answer = pi.ask("Again")

    assert [events[0].type, events[-1].type] == ["agent_start", "agent_settled"]
    assert ("".join(event.text for event in events), answer) == ("Hello", "Again")


def test_the_example_works(rpc):
    import subprocess
    import sys

    example = re.search(r"```python\n(import asyncio.*?)```", README.read_text(), re.DOTALL)[1]
    script = example.replace(
        'PiClient.start("--no-session"', f'PiClient.start(command={rpc.command!r}, *("--no-session",)'
    ).replace('"--no-session",), "--model", "offline/rules")', '"--no-session", "--model", "offline/rules"))')
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=rpc.cwd,
        env=rpc.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert "This folder is empty" in done.stdout, done.stderr
    assert done.stdout.rstrip().endswith("tokens")
