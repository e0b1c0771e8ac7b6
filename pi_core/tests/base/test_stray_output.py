"""What is written past ``sys.stdout`` while a front end draws on the terminal."""

from __future__ import annotations

import json
import os
import pty
import sys

import pytest

from pi_core.base.process import stray_output

PROGRAM = """
import json, os, signal, subprocess, sys, threading, time
from pi_core.base.process.stray_output import StrayOutput, give_terminal_back, terminal_descriptor

taken = []
class Writers:
    def on_stack(self, frame):
        while frame is not None:
            if frame.f_code.co_name.startswith("plugin_"):
                return frame.f_code.co_name
            frame = frame.f_back
    def candidates(self):
        current = sys._current_frames()
        return [found for thread, frame in current.items() if (found := self.on_stack(frame))]

def until(condition):
    while not condition():
        time.sleep(0.01)

def text(who=None):
    return "".join(text + "\\n" for known, text in taken if who is None or known == [who])

stray = StrayOutput(lambda who, text: taken.append((who, text)))
stray.writers = Writers()
assert terminal_descriptor() is None
screen = stray.begin()
assert os.isatty(screen) and not os.isatty(1) and terminal_descriptor() == screen
"""


def run(program: str) -> tuple[str, dict]:
    """Run a program at a terminal; return what the terminal got, and what the program has put into ``told``."""
    reading, telling = os.pipe()
    pid, terminal = pty.fork()
    if not pid:
        os.set_inheritable(telling, True)
        code = f"{PROGRAM}\ntold = {{}}\n{program}\nos.write({telling}, json.dumps(told).encode())"
        os.execv(sys.executable, [sys.executable, "-c", code])  # noqa: S606 - no shell is needed
    os.close(telling)
    got = b""
    try:
        while data := os.read(terminal, 4096):
            got += data
    except OSError:  # the terminal's other end was closed
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    with os.fdopen(reading, "rb") as told:
        return got.decode().replace("\r\n", "\n"), json.loads(told.read() or b"null") if status == 0 else status


@pytest.mark.parametrize(
    "write",
    [
        "os.write(1, b'hello\\n')",
        "os.write(2, b'hello\\n')",
        "os.writev(1, [b'hel', b'lo\\n'])",
        "print('hello', file=sys.__stdout__, flush=True)",
        "print('hello', file=sys.__stderr__, flush=True)",
        "os.system('echo hello')",
        "subprocess.run(['sh', '-c', 'echo hello >&2'])",
        "os.write(os.dup(1), b'hello')",
        "open('/dev/stdout', 'w').write('hello')",
    ],
)
def test_whoever_writes_does_not_reach_the_terminal_and_is_named(write):
    drawn, told = run(f"""
def plugin_one():
    {write}
def plugin_two():
    pass
plugin_one()
plugin_two()
until(lambda: text())
told["taken"] = taken
os.write(screen, b"drawn")
stray.end()
""")

    assert told == {"taken": [[["plugin_one"], "hello"]]}
    assert drawn == "drawn"


def test_two_that_write_one_after_another_are_told_apart():
    _, told = run("""
def plugin_one():
    os.write(1, b"one\\n")
def plugin_two():
    os.write(1, b"two\\n")
for _ in range(50):
    plugin_one()
    plugin_two()
until(lambda: text().count("one") + text().count("two") == 100)
stray.end()
told["one"], told["two"] = text("plugin_one"), text("plugin_two")
""")

    assert told == {"one": "one\n" * 50, "two": "two\n" * 50}


def test_it_can_write_more_than_fits_while_the_main_thread_waits():
    _, told = run("""
def plugin_one():
    subprocess.run(["sh", "-c", "yes | head -c 5000000; echo end >&2"])
plugin_one()
stray.end()
told["length"], told["who"] = len(text()), sorted({str(who) for who, _ in taken})
told["left out"] = sum(int(line.split()[1].replace(",", "")) for line in text().splitlines() if line.startswith("..."))
""")

    assert told["who"] == ["['plugin_one']"]
    assert told["left out"] > 4_900_000
    assert told["length"] < 100_000


def given_by(pass_on):
    """Return what a batch passes on, by plugin."""
    given = {}
    pass_on(lambda who, text: given.setdefault(who[0], []).append(text))
    return given


def test_the_flood_of_one_plugin_leaves_room_for_what_others_write_meanwhile():
    batch = stray_output._Batch()
    for number in range(100):
        batch.add(["one"], b"flood\n" * 1000)
        batch.add(["two"], b"line %d\n" % number)

    given = given_by(batch.pass_on)

    assert "\n".join(given["two"]) == "\n".join(f"line {number}" for number in range(100))
    assert len(given["one"]) == 3
    assert given["one"][-1].endswith("... 584,000 more bytes are left out")


def test_output_that_does_not_pause_is_limited_for_its_plugin_alone_and_counted_once(monkeypatch):
    monkeypatch.setattr(stray_output, "_LATE_SECONDS", 0)  # as after a second
    batch, lines = stray_output._Batch(), []
    for _ in range(20):
        batch.add(["one"], b"flood\n" * 4000)
        batch.add(["two"], b"x" * 4999 + b"\n")
        lines += given_by(batch.pass_on_if_late)["two"]

    assert lines == ["x" * 4999] * 20
    assert given_by(batch.pass_on) == {"one": ["... 464,000 more bytes are left out"]}


def test_what_is_written_at_the_very_end_is_passed_on_and_what_comes_later_is_the_terminal_s():
    drawn, told = run("""
os.write(1, b"early\\n")
sys.__stdout__.write("not flushed")
stray.end()
told["taken"] = text()
os.write(1, b"later")
assert terminal_descriptor() is None
""")

    assert told["taken"] == "early\nnot flushed\n"
    assert drawn == "later"


def test_a_program_of_the_user_gets_the_terminal_while_it_is_lent():
    drawn, told = run("""
stray.lend()
os.system("echo editor")
stray.take_back()
os.write(1, b"stray\\n")
until(text)
give_terminal_back()
os.write(1, b"last words")
told["taken"] = text()
stray.end()
""")

    assert told == {"taken": "stray\n"}
    assert drawn == "editor\nlast words"


def test_a_signal_that_others_handle_is_left_to_them():
    _, told = run("""
stray.end()
taken.clear()
handled = []
signal.signal(signal.SIGIO, lambda *_: handled.append(1))
again = StrayOutput(lambda who, text: taken.append((who, text)))
again.begin()
os.write(1, b"still read\\n")
until(text)
os.kill(os.getpid(), signal.SIGIO)
until(lambda: handled)
again.end()
told["taken"], told["handled"] = text(), len(handled)
""")

    assert told == {"taken": "still read\n", "handled": 1}


def test_stdout_that_is_no_terminal_is_left_alone():
    drawn, told = run("""
stray.end()
nothing = os.open(os.devnull, os.O_WRONLY)
os.dup2(nothing, 1)
told["begun"] = StrayOutput(print).begin()
os.write(2, b"a file of the user")
""")

    assert told == {"begun": None}
    assert drawn == "a file of the user"
