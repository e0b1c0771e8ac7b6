"""The line at the bottom of a terminal while an answer is made above it: typing, pasting, queueing, stopping."""

from __future__ import annotations

import signal
import time

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PACED = """
import asyncio
from pathlib import Path

from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl


class Paced:
    '''Says what is in the file ``answer-N``, for the Nth request, as the file grows, until it holds an END.'''

    api = "paced"
    requests = 0

    async def stream(self, model, context, options):
        self.requests += 1
        said = [each.text for each in context.messages if each.role == "user"]
        Path(f"request-{self.requests}").write_text("|".join(said))
        file, seen = Path(f"answer-{self.requests}"), 0
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.text_start()
        yield start
        while True:
            text = file.read_text() if file.exists() else ""
            more, seen = text[seen:].replace("END", ""), len(text)
            if more:
                yield builder.text(start.content_index, more)
            if "END" in text:
                break
            if options.signal.aborted:
                yield builder.abort()
                return
            await asyncio.sleep(0.01)
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Paced()]


@hookimpl
def register_models():
    return [ProviderInfo(id="paced", name="Paced", api="paced", keyless=True, models=(
        Model(id="it", name="it", api="paced", provider="paced", context_window=200_000),))]
"""


class Talk:
    """A conversation with the model above."""

    def __init__(self, pi, terminal):
        self.pi = pi
        self.terminal = terminal
        self.type, self.sees, self.when = terminal.type, terminal.sees, terminal.when

    def answers(self, number, text):
        """Let the model say more of its Nth answer."""
        with (self.pi.cwd / f"answer-{number}").open("a") as file:
            file.write(text)

    def requested(self, number):
        """Return what the user had said by the Nth request, as soon as that is made."""
        file = self.pi.cwd / f"request-{number}"
        self.when(lambda _: file.exists() and bool(file.read_text()), f"request {number}")
        return file.read_text()


@pytest.fixture
def talk(pi, knows, on_screen):
    """Start a conversation; it is there when this returns."""

    def start(*arguments, **how):
        knows("paced", PACED)
        talk = Talk(pi, on_screen(pi, "--model", "paced/it", *arguments, **how))
        talk.sees("paced/it", "\n>")
        return talk

    return start


@pytest.fixture
def answering(talk):
    """Start a conversation in which an answer is being made."""

    def start(*arguments, **how):
        begun = talk(*arguments, **how)
        begun.type("go\r")
        begun.answers(1, "The first words of ")
        begun.sees("> go\n\nThe first words of")
        return begun

    return start


# Typing


@pytest.mark.parametrize(
    "key", ["\n", "\x1b\r", "\\\r", "\x1b[13;2u"], ids=["ctrl-j", "alt-enter", "backslash", "shift"]
)
def test_a_key_begins_a_new_line_and_enter_sends_all(talk, key):
    begun = talk()
    begun.type("one")
    begun.type(key)
    begun.type("two")
    begun.sees("> one\n  two")
    begun.type("\r")

    assert begun.requested(1) == "one\ntwo"
    begun.sees("> one\n  two\n")


def test_a_paste_of_three_lines_is_one_prompt(talk):
    begun = talk()
    begun.type("\x1b[200~one\rtwo\rthree\x1b[201~")
    begun.sees("> one\n  two\n  three")
    begun.type("\r")

    assert begun.requested(1) == "one\ntwo\nthree"


def test_the_indentation_of_a_paste_is_kept(talk):
    begun = talk()
    begun.type("\x1b[200~    if a:\r        b()\x1b[201~\r")

    assert begun.requested(1) == "    if a:\n        b()"


def test_what_was_typed_before_pi_listened_is_sent(pi, knows, on_screen):
    knows("paced", PACED)
    terminal = on_screen(pi, "--model", "paced/it")
    terminal.type("early\n")  # what the terminal makes of Enter before pi changes its mode

    assert Talk(pi, terminal).requested(1) == "early"


def test_typing_during_an_answer_does_not_mix_with_it(answering):
    begun = answering()
    begun.type("half a li")
    begun.answers(1, "the answer,\nand more of it.\n\n")
    begun.type("ne")
    begun.sees("\nThe first words of the answer,\nand more of it.\n")

    begun.terminal.ends_with("> half a line")


def test_a_paste_during_an_answer_is_one_message_for_it(answering):
    begun = answering()
    begun.type("\x1b[200~one\rtwo\rthree\x1b[201~\r")
    begun.sees("Steering: one two three")
    begun.answers(1, "the answer. END")

    assert begun.requested(2) == "go|one\ntwo\nthree"


# The queue


def test_enter_steers_and_alt_enter_queues_and_both_are_listed_until_sent(answering):
    begun = answering()
    begun.type("steer me\r")
    begun.sees("Steering: steer me")
    begun.type("later\x1b\r")
    begun.sees("Steering: steer me\nFollow-up: later\n", "Alt-Up")
    begun.answers(1, "the answer. END")
    begun.answers(2, "Steered. END")
    begun.answers(3, "Followed. END")
    output = begun.sees("Followed.")

    assert begun.requested(2) == "go|steer me"
    assert begun.requested(3) == "go|steer me|later"
    assert "the answer.\n\n> steer me\n\nSteered.\n\n> later\n\nFollowed." in output
    assert "Steering:" not in output


def test_alt_up_takes_the_queue_back_before_what_is_typed(answering):
    begun = answering()
    begun.type("one\r")
    begun.type("two\x1b\r")
    begun.sees("Follow-up: two")
    begun.type("three")
    begun.type("\x1b[1;3A")
    output = begun.sees("> one\n\n  two\n\n  three")

    assert "Steering:" not in output
    begun.type("\r")
    begun.answers(1, "END")
    assert begun.requested(2) == "go|one\n\ntwo\n\nthree"


# Stopping


@pytest.mark.parametrize("key", ["\x1b", "\x03"], ids=["escape", "ctrl-c"])
def test_a_key_stops_the_answer_and_what_was_queued_is_on_the_line_again(answering, key):
    begun = answering()
    begun.type("queued\r")
    begun.sees("Steering: queued")
    begun.type(key)
    begun.sees("Stopped", "> queued")
    begun.type("\r")

    assert begun.requested(2) == "go|queued"


def test_a_line_that_is_half_typed_outlives_the_stop_of_an_answer(answering):
    begun = answering()
    begun.type("half")
    begun.sees("> half")
    begun.type("\x03")

    begun.sees("Stopped")
    begun.terminal.ends_with("> half")


def test_ctrl_c_that_stops_or_clears_does_not_count_towards_the_end(answering):
    begun = answering()
    begun.type("\x03")
    begun.sees("Stopped")
    begun.type("text")
    begun.sees("> text")
    begun.type("\x03")
    begun.terminal.ends_with(">")
    begun.type("\x03")
    begun.sees("Ctrl-C again")
    begun.type("more")
    begun.sees("> more")
    begun.type("\x03")
    begun.terminal.ends_with(">")
    begun.type("still there\r")

    assert begun.requested(2) == "go|still there"


def test_a_cleared_line_is_in_the_history(talk):
    begun = talk()
    begun.type("precious")
    begun.sees("> precious")
    begun.type("\x03")
    begun.terminal.ends_with(">")
    begun.type("\x1b[A")

    begun.sees("> precious")


def test_two_ctrl_c_on_an_empty_line_end(talk):
    begun = talk()
    begun.type("\x03")
    begun.sees("Ctrl-C again")
    begun.type("\x03")

    assert begun.terminal.end()[1] == 0


def test_ctrl_d_during_an_answer_ends_when_it_is_done(answering):
    begun = answering()
    begun.type("\x04")
    begun.sees("pi exits when this is done")
    begun.answers(1, "the answer. END")
    output, code = begun.terminal.end()

    assert code == 0
    assert "the answer." in output


def test_quit_during_an_answer_ends_at_once(answering):
    begun = answering()
    begun.type("/quit\r")

    assert begun.terminal.end()[1] == 0


def test_ctrl_c_ends_pi_where_a_plugin_blocks_the_event_loop(pi, knows, on_screen):
    knows("blocks", BLOCKS)
    terminal = on_screen(pi, "--model", "offline/rules")
    terminal.sees("\n>")
    terminal.type("/block\r")
    terminal.sees("working")

    while not (pi.cwd / "blocking").exists():
        time.sleep(0.01)

    while terminal.process.poll() is None:
        terminal.type("\x03")
        time.sleep(0.2)

    assert terminal.process.returncode in (130, -signal.SIGINT)


BLOCKS = """
import asyncio
import time
from pathlib import Path

from pi_hookspecs import Command, hookimpl


async def block(args, ctx):
    await asyncio.sleep(0.3)  # the line is drawn
    Path("blocking").touch()
    time.sleep(50)


@hookimpl
def register_commands():
    return [Command(name="block", handler=block)]
"""


def test_the_terminal_is_as_it_was_after_the_end(pi, knows, on_screen):
    knows("paced", PACED)
    terminal = on_screen(pi, "--model", "paced/it")
    terminal.sees("\n>")
    terminal.type("\x04")
    terminal.end()

    assert terminal.is_cooked()


# What else is written


def test_what_a_plugin_prints_is_a_clean_line_of_its_own(pi, knows, on_screen):
    knows("noisy", NOISY)
    terminal = on_screen(pi, "--model", "offline/rules")
    terminal.sees("\n>")
    terminal.type("half")
    terminal.type("\x07")
    of_plugin = "\nPlugin 'noisy' printed: "
    terminal.sees("from a thread\n", f"{of_plugin}to stderr\n", f"{of_plugin}plain \\x1b[31mred\n")

    terminal.ends_with("> half")


NOISY = """
import sys
import threading

from pi_hookspecs import Shortcut, hookimpl


async def press(ctx):
    print("plain \\x1b[31mred")
    sys.stderr.write("to ")
    sys.stderr.write("stderr\\n")
    thread = threading.Thread(target=print, args=["from a thread"])
    thread.start()
    thread.join()


@hookimpl
def register_shortcuts():
    return [Shortcut(name="ctrl+g", handler=press)]
"""


@pytest.mark.parametrize("size", [(20, 24), (60, 8)], ids=["narrow", "low"])
def test_small_terminals_are_enough(talk, size):
    begun = talk(size=size)
    begun.type("go\r")
    begun.answers(1, "An answer of some words that do not fit into one row. END")
    begun.sees("into one row.")
    output = begun.terminal.ends_with(">")

    assert all(len(row) <= size[0] for row in output.split("\n"))
