"""The plain interactive front end while the user types: Ctrl-C, questions and unrequested answers."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

BUSY = """
import asyncio

from pi_hookspecs import Command, CustomMessage, hookimpl


async def rest(args, ctx):
    print("resting")
    await asyncio.sleep(3600)


async def ask_soon(args, ctx):
    ctx.ui.notify(f"the answer is {await ctx.ui.input('Soon', timeout=2)!r}")


async def which(args, ctx):
    await ctx.ui.select("Which?", ["same\\x1b[31m 1", "same\\x1b[31m 2"])


async def later(ctx, pi):
    while True:
        await asyncio.sleep(0.05)
        for file in ctx.cwd.glob("do-*"):
            file.unlink()
            if file.name == "do-run":
                pi.send_message(CustomMessage(custom_type="later", content="later"), trigger_turn=True)
            elif file.name == "do-ask":
                ctx.ui.notify(f"sure: {await ctx.ui.confirm('Sure?')}")
            elif file.name == "do-end":
                ctx.shutdown()
            else:
                asyncio.get_running_loop().create_task(fail())


async def fail():
    raise ValueError("nobody waits for it")


@hookimpl
def register_commands():
    return [Command(name=each.__name__, handler=each) for each in (rest, ask_soon, which)]


@hookimpl
def activate(pi):
    @pi.on("session_start")
    def begin(event, ctx):
        begin.task = asyncio.create_task(later(ctx, pi))
"""

DUMB = 'TERM=dumb exec "$@"'

FULL = 'PROMPT_TOOLKIT_NO_CPR=1 TERM=xterm exec "$@"'
"""A terminal that can move its cursor, but does not say where it is."""

PROMPT = ">\x08\x1b[2C"
"""What such a terminal gets for ``> ``."""


@pytest.fixture
def talk(fake, at_terminal):
    """Start pi at a terminal with the plugin above; the first prompt is waited for."""
    fake.install("busy", BUSY)

    def start(model="fake/echo", script=DUMB):
        terminal = at_terminal(fake, "--model", model, script=script)
        terminal.until("> " if script == DUMB else PROMPT)
        return terminal

    return start


def enter(terminal, line, expected):
    terminal.type(f"{line}\r")
    return terminal.until(expected)


def test_ctrl_c_stops_a_command_that_waits_and_the_conversation_goes_on(talk):
    terminal = talk()
    enter(terminal, "/rest", "resting")

    terminal.type("\x03")

    terminal.until("Stopped\r\n> ")
    enter(terminal, "go on", "\ngo on\r\n> ")


def test_ctrl_c_that_stopped_one_line_is_not_the_first_of_two_in_the_next(talk):
    terminal = talk()
    enter(terminal, "!echo o''ne; sleep 1000", "one")
    terminal.type("\x03")
    terminal.until("Command cancelled")

    enter(terminal, "!echo t''wo; sleep 1000", "two")
    terminal.type("\x03")

    enter(terminal, "go on", "\ngo on\r\n> ")


@pytest.mark.parametrize("script", [DUMB, FULL], ids=["dumb", "full"])
def test_after_an_unanswered_question_times_out_the_line_is_restored(talk, script):
    terminal = talk(script=script)
    enter(terminal, "/ask_soon", "the answer is None")

    assert "Soon: " in enter(terminal, "/thinking high", "thinking ")


def test_options_of_a_plugin_send_the_terminal_no_escape_sequences(talk):
    terminal = talk()
    enter(terminal, "/which", "Number or name: ")

    assert "\x1b[31m" not in enter(terminal, "same", "Which of same")


def test_input_during_an_answer_that_a_plugin_requested_is_accepted(talk, fake):
    terminal = talk(model="fake/wait", script=FULL)
    (fake.cwd / "do-run").touch()
    terminal.until("waiting")

    seen = enter(terminal, "and this", "Steering: and this")

    assert "Error" not in seen
    terminal.type("\x03")
    terminal.until("Stopped")  # and what waited is on the line again
    enter(terminal, "", "> and this\r\n")
    enter(terminal, "/session", "Messages  1 of yours")


def test_a_question_keeps_the_text_that_the_user_is_typing(talk, fake):
    terminal = talk(script=FULL)
    terminal.type("half a w")
    terminal.until("w")
    (fake.cwd / "do-ask").touch()
    terminal.until("Sure? [y/N]:")

    enter(terminal, "y", "sure: True")

    enter(terminal, "ord", "\r\nhalf a word\r\n")


def test_a_plugin_ends_an_idle_session(talk, fake):
    terminal = talk()
    (fake.cwd / "do-end").touch()

    _, code = terminal.end()

    assert code == 0


@pytest.mark.parametrize("script", [DUMB, FULL], ids=["dumb", "full"])
def test_an_unawaited_error_is_a_line_without_traceback(talk, fake, script):
    terminal = talk(script=script)
    (fake.cwd / "do-fail").touch()

    seen = terminal.until("nobody waits for it (in")

    assert "Press ENTER" not in seen
    assert "File " not in seen
    enter(terminal, "go on", "go on")


def test_the_prompt_is_on_the_terminal_when_stderr_is_a_file(fake, at_terminal):
    terminal = at_terminal(fake, "--model", "fake/echo", script=f'{FULL} 2>"$PWD/errors"')

    terminal.until(PROMPT)

    assert "/help lists" in (fake.cwd / "errors").read_text()


def test_a_compaction_in_the_background_does_not_keep_the_line_away(talk, fake):
    fake.install("slow-summary", SUMMARY)
    terminal = talk()
    enter(terminal, "hello", "\nhello\r\n> ")
    enter(terminal, "/sum", "Compacting the conversation")

    enter(terminal, "/session", "Messages  1 of yours")


SUMMARY = """
import asyncio

from pi_hookspecs import Command, hookimpl


class Slow:
    async def compact(self, request, ctx):
        await request.signal.wait()


async def begin(args, ctx):
    begin.task = asyncio.create_task(ctx.compact())


@hookimpl
def register_services():
    return [Slow()]


@hookimpl
def register_commands():
    return [Command(name="sum", handler=begin)]
"""
