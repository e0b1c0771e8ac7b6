"""What people see who run ``pi`` at a terminal."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

INTERACTIVE = """
from pi_hookspecs import Mode, hookimpl

async def low(session, options):
    return 4

async def high(session, options):
    async with session:
        print("high", [prompt.text for prompt in options.prompts])
    return 5

@hookimpl
def register_modes():
    return [Mode("low", run=low, interactive=True), Mode("high", run=high, interactive=True, priority=3)]
"""

CLOSING = """
from pi_hookspecs import hookimpl

@hookimpl
def session_shutdown(event, ctx):
    ctx.ui.notify("closed in good order")
"""

BLOCKING = """
import time

from pi_hookspecs import hookimpl

@hookimpl
def {}(event, ctx):
    ctx.ui.notify("blocking")
    time.sleep(600)
"""


def calls(*wanted):
    return json.dumps(wanted)


# What is shown


def test_text_of_every_turn_is_shown_with_the_tools_between(fake, at_terminal):
    (fake.cwd / "a.txt").write_text("alpha\n")

    wanted = calls(("read", {"path": "a.txt"}), ("read", {"path": "b"}))

    output, code = at_terminal(fake, "-p", "--model", "fake/tools", wanted, script='NO_COLOR=1 exec "$@"').end()

    assert code == 0
    assert output.startswith("I will look. Now.\n\n→ read a.txt\n→ read b\n✗ read b: ENOENT: no such f")
    assert re.search(r"\n\nSeen: \[.*\]\n\Z", output)
    assert all(len(line) <= 60 for line in output.partition("Seen:")[0].splitlines())


def test_text_alone_keeps_its_turns_apart(fake, at_terminal):
    script = 'exec "$@" 2>/dev/null'

    output, code = at_terminal(fake, "-p", "--model", "fake/tools", calls(("brew", {})), script=script).end()

    assert code == 0
    assert output.startswith('I will look. Now.\n\nSeen: ["Tool brew not found. The tools are: ')


def test_answers_to_several_messages_are_kept_apart(fake, at_terminal):
    assert at_terminal(fake, "-p", "--model", "fake/echo", "one\n", "two").end() == ("one\n\ntwo\n", 0)


def test_escape_sequences_in_an_answer_are_shown_not_obeyed(fake, at_terminal):
    output, _ = at_terminal(fake, "-p", "--model", "fake/echo", "a\x1b]0;title\x07b\x9bc\td\r\n\u202ee").end()

    assert output == r"a\x1b]0;title\x07b\x9bc" + "\td\n" + r"\u202ee" + "\n"


def test_an_answer_goes_into_a_pipe_as_it_is(fake):
    text = "a\x1b]0;title\x07\u202eb"

    assert fake.run("-p", "--model", "fake/echo", text).stdout == f"{text}\n"


def test_events_at_a_terminal_are_shown_not_obeyed(fake, at_terminal):
    output, _ = at_terminal(fake, "--mode", "json", "--model", "fake/echo", "a\x9b2Jb\u202ec").end()

    assert r"a\x9b2Jb\u202ec" in output
    assert "\x9b" not in output
    assert "\u202e" not in output


def test_the_names_of_strangers_folders_are_shown_not_obeyed(fake, at_terminal):
    folder = fake.cwd / "x\x1b]52;c;cm0=\x07\u202e\ntrusted  -"
    folder.mkdir()
    escaped = rf"{fake.cwd}/x\x1b]52;c;cm0=\x07\u202e\ntrusted  -"

    decided, _ = at_terminal(fake, "trust", str(folder)).end()
    listed, _ = at_terminal(fake, "trust", "--list").end()

    assert decided.startswith(f"{escaped} is trusted")
    assert listed == f"trusted  {escaped}\n"
    assert fake.run("trust", "--list").stdout == listed


def test_context_files_are_shown_not_obeyed(fake, at_terminal):
    (fake.cwd / "AGENTS.md").write_text("Be \u202ekind\x1b[2J\U000e0041.")

    for form in ("--plain", "--json"):
        output, _ = at_terminal(fake, "prompt", "show", form).end()
        assert r"Be \u202ekind" in output
        assert "\u202e" not in output
        assert "\x1b" not in output
        assert "\U000e0041" not in output


def test_activity_is_dim_where_colours_are_welcome(fake, at_terminal):
    line = ("-p", "--model", "fake/tools", calls(("brew", {})))

    plain, _ = at_terminal(fake, *line, script='NO_COLOR=1 exec "$@"').end()
    dumb, _ = at_terminal(fake, *line, script='TERM=dumb exec "$@"').end()
    colored, _ = at_terminal(fake, *line, script='TERM=xterm exec "$@"').end()

    assert "\x1b" not in plain + dumb
    assert "\x1b[2m→ brew\x1b[0m\n" in colored


def test_failed_answer_shows_what_came_and_why_it_ended(fake, at_terminal):
    output, code = at_terminal(fake, "--model", "fake/fail", "-p", "hi").end()

    assert (output, code) == ("half an answer\n\nError: 400 the request is wrong\n", 1)


def test_table_of_plugins_fits_the_terminal(fake, at_terminal):
    output, code = at_terminal(fake, "plugins", script='stty cols 72; exec "$@"').end()

    assert code == 0
    assert all(len(line) <= 72 for line in output.splitlines())
    assert "tools read bash edit write grep find" in " ".join(output.split())


def test_table_of_plugins_wraps_what_they_add_in_a_narrow_terminal(fake, at_terminal):
    output, code = at_terminal(fake, "plugins", script='stty cols 40; exec "$@"').end()

    assert code == 0
    assert all(len(line) <= 40 for line in output.splitlines() if line.startswith("      "))


# Which front end


def test_terminal_without_a_prompt_and_without_a_front_end_says_what_to_do(pi, at_terminal):
    output, code = at_terminal(pi, "--disable", "cli", "--disable", "tui").end()

    assert code == 1
    output = " ".join(output.split())
    assert output.startswith("Error: Nothing to do: no prompt was given, and no interactive front end is installed.")


@pytest.mark.parametrize("arguments", [[], ["one", "two"]])
def test_interactive_front_end_of_the_highest_priority_is_started(fake, at_terminal, arguments):
    fake.install("talking", INTERACTIVE)

    assert at_terminal(fake, "--model", "fake/echo", *arguments, line=False).end() == (f"high {arguments}\n", 5)


def test_print_and_pipes_start_no_interactive_front_end(fake, at_terminal):
    fake.install("talking", INTERACTIVE)

    assert at_terminal(fake, "--model", "fake/echo", "-p", "hi").end() == ("hi\n", 0)
    assert at_terminal(fake, "--model", "fake/echo", "hi", script='"$@" | cat').end() == ("hi\n", 0)
    assert at_terminal(fake, "--model", "fake/echo", script='echo hi | "$@"').end() == ("hi\n", 0)


# Ctrl-C and other ways to end


def test_first_ctrl_c_ends_the_run_in_good_order(fake, at_terminal):
    fake.install("closing", CLOSING)
    terminal = at_terminal(fake, "--model", "fake/wait", "-p", "one", "two")
    terminal.until("waiting")

    terminal.type("\x03")

    output, code = terminal.end()
    assert code == 130
    assert output == "waiting^C\n\nclosed in good order\nAborted\n"


@pytest.mark.slow
@pytest.mark.parametrize("hook", ["session_start", "turn_start", "session_shutdown"])
def test_second_ctrl_c_ends_the_process_whatever_it_does(fake, at_terminal, hook):
    fake.install("blocking", BLOCKING.format(hook))
    terminal = at_terminal(fake, "--model", "fake/echo", "-p", "hi")
    terminal.until("blocking")

    while terminal.process.poll() is None:  # two that come at once are one
        terminal.type("\x03")
        time.sleep(0.2)

    output, code = terminal.end()
    assert code in (130, -signal.SIGINT)
    assert "Traceback" not in output


def test_ctrl_c_ends_a_hook_that_waits_before_the_run(fake, at_terminal):
    waiting = CLOSING + "\nimport asyncio\n\n@hookimpl\nasync def session_start(event, ctx):\n"
    fake.install("waiting", waiting + "    ctx.ui.notify('waiting')\n    await asyncio.sleep(600)\n")
    terminal = at_terminal(fake, "--model", "fake/echo", "-p", "hi")
    terminal.until("waiting")

    terminal.type("\x03")

    output, code = terminal.end()
    assert (output, code) == ("waiting\n^Cclosed in good order\nAborted\n", 130)


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_end_the_run_in_good_order(fake, number, expected):
    fake.install("closing", CLOSING)
    process = fake.start("--model", "fake/wait", "--verbose", "-p", "hi")
    for line in process.stderr:
        if line.startswith(b"settings"):
            break

    process.send_signal(number)

    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (expected, b"")
    assert err == b"closed in good order\nAborted\n"


def test_signal_that_is_to_be_ignored_is(fake):
    fake.command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *fake.command]
    process = fake.start("--model", "fake/wait", "--verbose", "-p", "hi")
    for line in process.stderr:
        if line.startswith(b"settings"):
            break

    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)

    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143


def test_signal_while_stdin_is_read_ends_at_once(fake):
    fake.install("early", "import sys; sys.stderr.write('imported\\n')")
    process = fake.start("--model", "fake/echo", stdin=subprocess.PIPE)
    assert process.stderr.readline() == b"imported\n"

    process.send_signal(signal.SIGTERM)

    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (143, b"")
