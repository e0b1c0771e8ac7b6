"""``bash``: what a command's output and end become."""

from __future__ import annotations

import asyncio
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from pi_hookspecs import AbortController
from pi_testing.patience import PATIENCE
from pi_tools import BashOptions, create_bash_tool


async def test_both_outputs_come_together_and_untrimmed(text):
    assert await text("bash", command="echo out; echo err >&2; printf ' end '") == "out\nerr\n end "


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo partial; exit 3", "partial\n\n\nCommand exited with code 3"),
        ("exit 3", "(no output)\n\nCommand exited with code 3"),
        ("kill -9 $$", "(no output)\n\nCommand exited with code 137"),
        ("nonsense", "/bin/bash: line 1: nonsense: command not found\n\n\nCommand exited with code 127"),
    ],
)
async def test_a_failing_command_is_a_failed_call(call, command, output):
    result = await call("bash", command=command)

    assert (result.content[0].text, result.is_error) == (output, True)


async def test_a_command_without_output_is_reported_as_such(call):
    result = await call("bash", command="true")

    assert (result.content[0].text, result.is_error, result.details) == ("(no output)", False, None)


async def test_a_timeout_keeps_the_output(call):
    result = await call("bash", command="echo before; sleep 600", timeout=2)

    assert (result.content[0].text, result.is_error) == ("before\n\n\nCommand timed out after 2 seconds", True)


async def test_a_silent_timeout_is_only_that(text):
    assert await text("bash", command="sleep 600", timeout=0.2) == "Command timed out after 0.2 seconds"


async def test_an_abort_keeps_the_output(call, until):
    controller = AbortController()
    updates = []
    running = asyncio.create_task(
        call("bash", command="echo before; sleep 600", signal=controller.signal, updates=updates)
    )
    await until(lambda: len(updates) >= 2)

    controller.abort()

    assert (await running).content[0].text == "before\n\n\nCommand aborted"


async def test_a_run_aborted_before_starts_nothing(failure, tmp_path):
    controller = AbortController()
    controller.abort()

    assert await failure("bash", command="touch a", signal=controller.signal) == "Command aborted"
    assert not (tmp_path / "a").exists()


async def test_a_timeout_of_0_is_none(text):
    assert await text("bash", command="echo x", timeout=0) == "x\n"


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), float("-inf")])
async def test_a_timeout_that_is_none(failure, timeout):  # noqa: ASYNC109 - the model's argument
    assert await failure("bash", command="true", timeout=timeout) == (
        "Invalid timeout: must be a finite number of seconds above 0; leave it out for no limit"
    )


async def test_the_longest_timeout(text, failure):
    assert await text("bash", command="echo x", timeout=2147483.647) == "x\n"
    for timeout in (2147484, 10**400):
        message = await failure("bash", command="true", timeout=timeout)
        assert message == "Invalid timeout: maximum is 2147483.647 seconds"


async def test_long_output_is_in_the_file_that_is_named(call):
    result = await call("bash", command="seq 1 100000")

    path = result.details["fullOutputPath"]
    assert result.content[0].text.endswith(f"\n100000\n\n[Showing lines 98001-100000 of 100000. Full output: {path}]")
    assert Path(path).name.startswith("pi-bash")
    assert len(Path(path).read_text().splitlines()) == 100_000
    Path(path).unlink()


async def test_characters_cut_between_chunks_are_not_damaged(text):
    assert (
        await text("bash", command=r"printf '\xc3'; sleep 0.2; printf '\xa9\xf0\x9f'; sleep 0.2; printf '\x98\x80'")
        == "é😀"
    )


async def test_control_characters_are_kept_and_what_they_overwrite_is_not(text):
    assert await text("bash", command=r"printf 'a\0b\033[1mc\xff'") == "a\0b\x1b[1mc\ufffd"
    assert await text("bash", command=r"for i in 1 2 30; do printf '\r%s%%' $i; done; echo; echo end") == "30%\nend\n"


async def test_a_command_of_any_length_runs(text):
    """Linux takes no argument of 128 KB; the command has no input, as any other."""
    long = "cat; cat <<'END' | wc -c\n" + "line of text\n" * 20_000 + "END\necho 'and its last line'"

    assert await text("bash", command=long) == "260000\nand its last line\n"
    assert await text("bash", command="true " + "x" * 3_000_000) == "(no output)"
    assert await text("bash", command="#" * 200_000 + "\nexit 3") == "(no output)\n\nCommand exited with code 3"


async def test_a_timeout_says_what_was_still_running(text):
    shown = await text("bash", command="echo before; sleep 61 & (sleep 62; true); echo after", timeout=1)

    assert shown.startswith("before\n\n\nCommand timed out after 1 seconds\nStill running then, and ended: sleep 6")
    assert sorted(shown.rpartition("ended: ")[2].split("; ")) == ["sleep 61", "sleep 62"]


async def test_updates_begin_at_once_are_throttled_and_show_the_tail(call):
    updates = []

    started = time.monotonic()
    await call("bash", command="for i in $(seq 300); do echo $i; sleep 0.002; done", updates=updates)
    seconds = time.monotonic() - started

    assert updates[0].content == ()
    assert updates[1].content[0].text.startswith("1\n")
    assert all(len(a.content[0].text) < len(b.content[0].text) for a, b in pairwise(updates[1:]))
    assert len(updates) < 5 + 10 * seconds


async def test_a_child_that_keeps_the_pipe_open_does_not_hang_the_tool(text, token):
    async with asyncio.timeout(PATIENCE):  # the child would sleep much longer
        assert await text("bash", command=f"sleep {token} & echo x") == "x\n"


@pytest.mark.slow
async def test_a_child_that_never_stops_writing_does_not_hang_the_tool(call):
    async with asyncio.timeout(PATIENCE):
        result = await call("bash", command="yes & echo x")

    assert result.content
    if result.details is not None:  # it had written more than is shown
        Path(result.details["fullOutputPath"]).unlink()


async def test_there_is_no_input_and_no_terminal(text):
    assert (
        await text("bash", command="cat; tty; (echo hello > /dev/tty) 2>/dev/null || echo none") == "not a tty\nnone\n"
    )


async def test_signals_have_their_usual_meaning(text):
    assert await text("bash", command="yes | head -1; trap") == "y\n"
    assert await text("bash", command="bash -c 'kill -INT $$'; echo $?") == "130\n"


async def test_the_session_is_in_the_environment(text, ctx, monkeypatch):
    monkeypatch.setenv("PI_SESSION_FILE", "of an outer session")
    ctx.session.id = "abc"
    command = 'echo "$PI_SESSION_ID|${PI_SESSION_FILE-unset}|$PI_PROVIDER|$PI_MODEL|$PI_REASONING_LEVEL"'

    assert await text("bash", command=command) == "abc|unset|offline|rules|off\n"
    ctx.session.file = Path("/s.jsonl")
    assert await text("bash", command=command) == "abc|/s.jsonl|offline|rules|off\n"


async def test_a_command_can_see_that_an_agent_runs_it(text):
    assert await text("bash", command="echo $PI_CODING_AGENT $AI_AGENT") == "true pi\n"


async def test_programs_of_the_agent_come_first(text, monkeypatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "/agent")

    assert (await text("bash", command="echo $PATH")).startswith("/agent/bin:")


async def test_a_working_directory_that_vanished(failure, ctx, tmp_path):
    ctx.cwd = tmp_path / "gone"

    assert await failure("bash", command="true") == (
        f"Working directory does not exist: {tmp_path}/gone\nCannot execute bash commands."
    )


async def test_a_working_directory_of_odd_bytes(text, ctx, tmp_path):
    ctx.cwd = tmp_path / "a\n\udce9"
    ctx.cwd.mkdir()

    assert await text("bash", command="pwd -P | wc -l") == "2\n"


async def test_a_command_with_a_nul(failure):
    assert "NUL character" in await failure("bash", command="a\0b")


async def test_prefix_shell_and_hook(call, ctx, tmp_path):
    shell = tmp_path / "shell"
    shell.write_text('#!/bin/sh\necho "shell: $2"\necho "$EXTRA $PWD"\n')
    shell.chmod(0o755)
    (tmp_path / "sub").mkdir()

    def hook(spawn):
        return spawn._replace(command=spawn.command + " #", cwd=str(tmp_path / "sub"), env={**spawn.env, "EXTRA": "e"})

    options = BashOptions(command_prefix="set -u", shell_path=str(shell), spawn_hook=hook)
    result = await call("bash", tool=create_bash_tool(tmp_path, options), command="true")

    assert result.content[0].text == f"shell: set -u\ntrue #\ne {tmp_path}/sub\n"


async def test_prefix_and_shell_from_the_settings(text, failure, ctx):
    ctx.settings["shellCommandPrefix"] = "x=5"
    assert await text("bash", command="echo $x") == "5\n"

    ctx.settings["shellPath"] = "/no/such/shell"
    assert (await failure("bash", command="true")).startswith("Custom shell path not found: /no/such/shell\n")


async def test_a_setting_that_is_no_number_is_named(failure, ctx):
    ctx.settings["bash.maxOutputFileBytes"] = "1 GB"

    assert "bash.maxOutputFileBytes is '1 GB'" in await failure("bash", command="true")


async def test_what_pi_inherited_is_not_for_commands(text):
    program = (
        "import asyncio, os, pathlib, types, pi_tools; from pi_hookspecs import AbortController\n"
        "os.dup2(os.open('/dev/null', os.O_RDONLY), 77)\n"
        "ctx = types.SimpleNamespace(cwd=pathlib.Path.cwd(), session=None, model=None)\n"
        "bash = pi_tools.create_bash_tool(ctx.cwd)\n"
        "arguments = {'command': 'ls /proc/self/fd'}\n"
        "run = bash.execute('1', arguments, AbortController().signal, lambda _: None, ctx)\n"
        "print(asyncio.run(run).content[0].text)\n"
    )

    assert (await text("bash", command=f'{sys.executable} -c "{program}"')).split() == ["0", "1", "2", "3"]


async def test_many_commands_at_once(text):
    results = await asyncio.gather(*(text("bash", command=f"sleep 0.1; echo {n}") for n in range(60)))

    assert results == [f"{n}\n" for n in range(60)]


def descriptors():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def test_no_descriptor_is_left_open(text, until):
    await text("bash", command="true")
    before = descriptors()
    for _ in range(5):
        await text("bash", command="ls /proc/self/fd | wc -w")
    await until(lambda: descriptors() <= before + 1)

    assert descriptors() <= before + 1
    assert (await text("bash", command="ls -l /proc/self/fd | grep -c -E 'socket|eventfd|/dev/pt'; true")) == "0\n"
