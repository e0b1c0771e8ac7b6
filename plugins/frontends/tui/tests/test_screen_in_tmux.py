"""The screen in a real terminal multiplexer: from the first key to what is left after the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux"),
    pytest.mark.slow,
]  # each starts programs that take seconds


class Tmux:
    """A shell in a terminal of its own."""

    def __init__(self, folder: Path, width: int = 90, height: int = 28) -> None:
        self.work, home = folder / "tides", folder / "home"
        self.work.mkdir()
        home.mkdir()
        (self.work / "brest.txt").write_text("high\n")
        self._tmux = ["tmux", "-S", str(folder / "socket"), "-f", os.devnull]
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "VIRTUAL_ENV", "TMPDIR") if name in os.environ}
        env = {**kept, "HOME": str(home), "PS1": "$ ", "LC_ALL": "C.UTF-8", "PI_CODING_AGENT_DIR": str(home / "pi")}
        size = ["-x", str(width), "-y", str(height)]
        shell = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), "TERM=screen-256color"]
        subprocess.run([*self._tmux, "new-session", "-d", *size, *shell, "bash", "--norc"], check=True, cwd=self.work)
        self.command = f"{sys.executable} -P -m pi_cli --model offline/rules"

    def send(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def set(self, *option: str) -> None:
        subprocess.run([*self._tmux, "set-option", *option], check=True)

    def paste(self, file: str) -> None:
        """Paste a file's text, as a terminal does for a program that has asked for brackets."""
        subprocess.run([*self._tmux, "load-buffer", str(self.work / file)], check=True)
        subprocess.run([*self._tmux, "paste-buffer", "-p"], check=True)

    def resize(self, width: int, height: int) -> None:
        subprocess.run([*self._tmux, "resize-window", "-x", str(width), "-y", str(height)], check=True)

    def screen(self, *options: str) -> str:
        command = [*self._tmux, "capture-pane", "-p", *options]
        return "\n" + subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def sees(self, *expected: str, options: tuple[str, ...] = ()) -> str:
        end = time.monotonic() + PATIENCE
        while not all(each in (screen := self.screen(*options)) for each in expected):
            assert time.monotonic() < end, f"{expected!r} does not come on\n{screen}"
            time.sleep(0.02)
        return screen

    def says(self, variable: str) -> str:
        """What tmux knows about the terminal."""
        command = [*self._tmux, "display-message", "-p", variable]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def process(self) -> int:
        """The id of pi, which the shell of the terminal has started."""
        command = ["pgrep", "-P", self.says("#{pane_pid}")]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)


@pytest.fixture
def tmux(tmp_path: Path):
    tmux = Tmux(tmp_path)
    yield tmux
    tmux.close()


COOKED = "stty -a | tr ' ' '\\n' | grep -e '^.\\?icanon$'"


def test_a_pattern_of_models_that_matches_none_is_on_the_screen(tmux: Tmux) -> None:
    tmux.send(f"{tmux.command} --models 'zebra*'", "Enter")

    tmux.sees('No models match pattern "zebra*"', "ctrl+c/ctrl+d")  # both: not what was there before the screen


def test_what_is_typed_during_the_start_is_in_the_editor_and_the_end_leaves_the_conversation(tmux: Tmux) -> None:
    tmux.send(tmux.command, "Enter")
    tmux.sees("ctrl+c/ctrl+d clear/exit")  # the first frame
    tmux.send("list the files here")
    tmux.sees("rules", "list the files here")
    tmux.send("Enter")
    tmux.sees("The files here")
    tmux.send("C-d")

    screen = tmux.sees("To resume this session:\npi --session", options=("-S", "-"))
    assert "list the files" in screen
    assert "The files here" in screen
    assert "ctrl+c/ctrl+d" not in screen
    tmux.send(f"clear; {COOKED}", "Enter")
    tmux.sees("\nicanon")


def test_without_a_key_the_screen_opens_says_what_to_do_and_keeps_the_prompt(tmux: Tmux) -> None:
    tmux.send(tmux.command.removesuffix(" --model offline/rules"), "Enter")
    tmux.sees("/login signs in to a provider", "/model offline/rules", "no model")
    tmux.send("list the files here", "Enter")
    tmux.sees("model)\n\n No API key found", "\nlist the files here")  # a second notice: it was refused, and is back
    tmux.send("C-u", "/model offline/rules", "Enter")
    tmux.sees("Model: offline/rules")
    tmux.send("list the files here", "Enter")

    tmux.sees("The files here")


def test_suspended_and_continued_it_is_drawn_again(tmux: Tmux) -> None:
    tmux.send(tmux.command, "Enter")
    tmux.sees("auto")
    tmux.send("half a prompt", "C-z")
    tmux.sees("Stopped")
    tmux.send(f"clear; {COOKED}", "Enter")
    tmux.sees("\nicanon")
    tmux.send("fg", "Enter")

    assert "Stopped" not in tmux.sees("half a prompt", "ctrl+c/ctrl+d clear/exit")


def test_keys_have_their_modifiers_where_tmux_extends_keys_and_the_shell_gets_the_usual_ones(tmux: Tmux) -> None:
    tmux.set("-s", "extended-keys", "on")
    tmux.send(tmux.command, "Enter")
    tmux.sees("auto")
    tmux.send("one")
    tmux.sees("\none\n")  # pi has read what tmux answered before, and has asked for modifiers
    tmux.send("S-Enter", "two")
    tmux.sees("\none\ntwo\n")
    tmux.send("C-S-f")
    tmux.sees("Search:")
    tmux.send("C-c")  # right after Escape, the next key would be one with Alt
    tmux.send("C-z")
    tmux.sees("Stopped")
    tmux.send("clear", "Enter", "echo ", "S-Enter")  # tmux types the name of a key that it cannot send

    tmux.sees("\n$ echo S-Enter")
    tmux.send("C-u", "fg", "Enter")
    tmux.sees("\none\ntwo\n")
    tmux.send(".")
    tmux.sees("\ntwo.\n")  # as above
    tmux.send("S-Enter", "three")
    tmux.sees("\ntwo.\nthree\n")


@pytest.mark.parametrize(("signal", "code"), [("TERM", 143), pytest.param("HUP", 129, marks=pytest.mark.slow)])
def test_a_signal_that_ends_it_restores_the_terminal_and_names_the_session(tmux: Tmux, signal: str, code: int) -> None:
    tmux.send(tmux.command, "Space", "hello", "Enter")
    tmux.sees("I found no request")
    subprocess.run(["kill", f"-{signal}", str(tmux.process())], check=True)
    tmux.sees("To resume this session")
    tmux.send(f"echo code $?; {COOKED}", "Enter")

    tmux.sees(f"code {code}", "\nicanon")


BREAKS = """
from pi_tui.screen.transcript import Transcript

def broken(self, crop):
    raise ZeroDivisionError("the tide table is empty")

def activate(pi):
    @pi.on("agent_settled")
    def break_it():
        Transcript.render_lines = broken
"""


@pytest.mark.slow
def test_an_error_of_ours_restores_the_terminal_and_keeps_the_session(tmux: Tmux) -> None:
    (tmux.work / "breaks.py").write_text(BREAKS)
    tmux.send(f"{tmux.command} -e breaks.py 'list the files here'", "Enter")
    tmux.sees("the tide table is empty")
    tmux.send(f"clear; {COOKED}; {tmux.command} -c", "Enter")

    tmux.sees("brest.txt", "The files here", "auto")


@pytest.mark.slow
def test_a_paste_of_a_megabyte_at_the_terminal_is_one_mark(tmux: Tmux) -> None:
    (tmux.work / "long.txt").write_text("high and low\n" * 80_000)
    tmux.send(tmux.command, "Enter")
    tmux.sees("auto")
    tmux.paste("long.txt")

    tmux.sees("[paste #1 +80000 lines]")


@pytest.mark.slow
def test_a_terminal_that_is_resized_all_the_time_shows_the_whole_answer(tmux: Tmux) -> None:
    tmux.send(tmux.command, "Enter")
    tmux.sees("auto")
    tmux.send("list the files here", "Enter")
    for width, height in [(40, 10), (100, 40), (1, 1), (20, 6), (150, 50)] * 10:
        tmux.resize(width, height)
        time.sleep(0.05)
    tmux.resize(90, 28)

    tmux.sees("list the files here", "brest.txt", "The files here", "0.3%/128k (auto)")


def test_a_session_that_cannot_be_made_leaves_the_reason_on_the_shells_screen(tmux: Tmux) -> None:
    tmux.send(tmux.command.replace("offline/rules", "nowhere/none"), "Enter")
    tmux.sees("Error: ", "nowhere")
    tmux.send(f"clear; {COOKED}", "Enter")

    tmux.sees("\nicanon")


SLOW = """
import time
from pathlib import Path


def activate(pi):
    while not Path({seen!r}).exists():
        time.sleep(0.02)
"""


def test_what_is_typed_is_visible_before_there_is_a_session(tmux: Tmux) -> None:
    extensions = tmux.work.parent / "home" / "pi" / "extensions"
    extensions.mkdir(parents=True)
    seen = tmux.work / "seen"
    (extensions / "slow.py").write_text(SLOW.format(seen=str(seen)))
    tmux.send(tmux.command, "Enter")
    tmux.sees("ctrl+c/ctrl+d clear/exit")
    tmux.send("list the filesx", "BSpace", " here")

    early = tmux.sees("\nlist the files here")
    seen.touch()
    tmux.sees("auto", "\nlist the files here")
    assert "auto" not in early


def test_resume_asks_on_the_screen_over_an_empty_session(tmux: Tmux) -> None:
    tmux.send(f"{tmux.command} -p 'list the files here' && clear && {tmux.command} -r", "Enter")
    tmux.sees("Resume Session", "→ list the files here")
    tmux.send("Enter")

    tmux.sees("The files here", "auto")


def test_the_session_of_another_pi_is_displayed_and_ended_with_the_screen(tmux: Tmux) -> None:
    name = f"tide-{os.getpid()}"  # others may run pi as well
    tmux.send(f"{sys.executable} -P -m pi_cli attach {tmux.command} --name {name}", "Enter")
    tmux.sees("0.0%/128k (auto)", "-m pi_cli --model")
    tmux.send("list the files here", "Enter")
    tmux.sees("brest.txt", "The files here")
    tmux.send("/tree", "Enter")
    tmux.sees("does not work over a connection")
    tmux.send("C-d")

    tmux.sees("To resume this session")
    tmux.send(f"clear; {COOKED}; pgrep -fc '[t]{name[1:]}'", "Enter")
    tmux.sees("\nicanon\n0")


@pytest.mark.slow
def test_a_served_session_is_displayed_and_goes_on_without_the_screen(tmux: Tmux) -> None:
    serve = f"{tmux.command.replace('-m pi_cli', '-m pi_cli serve')} > served 2>&1"
    tmux.send(
        f"{serve} & until [ -s served ]; do sleep 0.1; done; clear; {sys.executable} -P -m pi_cli attach", "Enter"
    )
    tmux.sees("0.0%/128k (auto)")
    tmux.send("list the files here", "Enter")
    tmux.sees("brest.txt", "The files here")
    tmux.send("C-d")

    tmux.sees("To resume this session:\npi attach")
    tmux.send(f"clear; {sys.executable} -P -m pi_cli attach", "Enter")
    tmux.sees("The files here", "0.3%/128k (auto)")
    tmux.send("C-d")
    tmux.sees("To resume this session:\npi attach")
    tmux.send("clear; kill %1; wait; echo; cat served | wc -l", "Enter")
    tmux.sees("\n2")


@pytest.mark.slow
def test_a_served_session_is_talked_to_in_lines(tmux: Tmux) -> None:
    serve = f"{tmux.command.replace('-m pi_cli', '-m pi_cli serve')} > served 2>&1"
    tmux.send(
        f"{serve} & until [ -s served ]; do sleep 0.1; done; clear; {sys.executable} -P -m pi_cli attach lines", "Enter"
    )
    tmux.sees("Ctrl-D leaves")
    tmux.send("list the files here", "Enter")
    tmux.sees("> list the files here", "→ bash ls -Ap .", "brest.txt", "The files here")
    tmux.send("C-d")
    tmux.sees("\n$")  # what is typed before the shell is back may be discarded
    tmux.send(f"clear; {COOKED}; kill %1; wait; echo; cat served | wc -l", "Enter")

    tmux.sees("\nicanon", "\n2")


def test_a_program_that_is_no_pi_is_refused_with_what_it_said(tmux: Tmux) -> None:
    tmux.send(f"{sys.executable} -P -m pi_cli attach sh -c 'echo no harbour here >&2' --", "Enter")

    tmux.sees("cannot be displayed", "no harbour here")


def test_a_dumb_terminal_has_the_line_mode_and_the_reason(tmux: Tmux) -> None:
    tmux.send(f"TERM=dumb {tmux.command}", "Enter")

    screen = tmux.sees("/help lists the commands").replace("\n", "")
    assert "cannot move its cursor. Mode 'line' is started instead" in screen


@pytest.mark.parametrize("before", ["", "trap '' HUP; "])
def test_a_closed_terminal_ends_pi_also_where_its_signal_is_ignored(tmux: Tmux, before: str) -> None:
    tmux.send(before + tmux.command, "Space", "hello", "Enter")
    tmux.sees("I found no request")
    process = tmux.process()
    tmux.close()

    end = time.monotonic() + PATIENCE
    while subprocess.run(["kill", "-0", str(process)], check=False, stderr=subprocess.DEVNULL).returncode == 0:
        assert time.monotonic() < end, "pi goes on without a terminal"
        time.sleep(0.02)


CONTINUED_WHILE_IT_ENDS = """
import os
import signal
import threading

from textual.drivers._writer_thread import WriterThread

def activate(pi):
    join, once_at_a_time = WriterThread.join, threading.Lock()

    def continued(writer, timeout=None):
        with once_at_a_time:  # as within join: one that interrupts another may wait for ever
            os.kill(os.getpid(), signal.SIGCONT)
            join(writer, timeout)

    WriterThread.join = continued
"""


def test_continued_while_it_ends_it_leaves_the_terminal_as_it_was(tmux: Tmux) -> None:
    (tmux.work / "continued.py").write_text(CONTINUED_WHILE_IT_ENDS)

    tmux.send(f"{tmux.command} -e continued.py; echo of the shell; {COOKED}", "Enter")
    tmux.sees("auto")
    tmux.send("C-d")

    screen = tmux.sees("\nof the shell", "\nicanon")
    assert "Warning" not in screen
    assert tmux.says("#{alternate_on}") == "0"


DRAWS = """
import asyncio

class Clock:
    def __init__(self, screen):
        self.screen, self.ticks = screen, 0
        asyncio.get_running_loop().call_later(0.05, self.tick)

    def tick(self):
        self.ticks += 1
        self.screen.refresh()

    def render(self, width):
        return [f"{self.ticks} ticks\\x1b]0;owned\\x07 in {width} cells"]

def activate(pi):
    @pi.on("session_start")
    def show(ctx):
        ctx.ui.set_widget("clock", Clock)
        ctx.ui.on_terminal_input(lambda typed: typed.replace("u", "oo"))
"""


def test_a_plugin_draws_and_reads_what_is_typed_before_the_screen(tmux: Tmux) -> None:
    (tmux.work / "draws.py").write_text(DRAWS)

    tmux.send(f"{tmux.command} -e draws.py", "Enter")
    tmux.sees("1 ticks in 90 cells")
    tmux.send("uber é")

    tmux.sees("oober é")


@pytest.mark.parametrize("sent", ["TSTP", "STOP"])
def test_stopped_from_outside_and_continued_it_is_drawn_again_and_takes_keys(tmux: Tmux, sent: str) -> None:
    tmux.send(tmux.command, "Enter")
    tmux.sees("auto")
    tmux.send("half a prompt")
    tmux.sees("half a prompt")
    before = tmux.screen()
    subprocess.run(["kill", f"-{sent}", str(tmux.process())], check=True)
    tmux.sees("Stopped")
    tmux.send("clear; echo of the shell", "Enter")
    tmux.sees("\nof the shell")
    tmux.send("fg", "Enter")
    tmux.sees("half a prompt", "ctrl+c/ctrl+d clear/exit")

    tmux.sees(before)
    tmux.send(" and more")
    tmux.sees("half a prompt and more")
    tmux.send("C-u", "list the files here", "Enter")
    tmux.sees("The files here")
    tmux.send("C-d")
    tmux.sees("To resume this session", "\n$")
    tmux.send(f"clear; {COOKED}", "Enter")
    tmux.sees("\nicanon")


@pytest.mark.parametrize("editor", ["nosucheditor", "sh -c 'kill -9 \\$\\$'", "vi 'unbalanced", "false"])
def test_an_editor_that_fails_leaves_the_screen_with_the_draft(tmux: Tmux, editor: str) -> None:
    tmux.send(f'VISUAL="{editor}" {tmux.command}', "Enter")
    tmux.sees("auto")
    tmux.send("half a prompt", "C-g")
    tmux.sees("unchanged.", "half a prompt", "ctrl+c/ctrl+d clear/exit")

    tmux.send(" and more")
    tmux.sees("half a prompt and more")


def test_exported_columns_and_lines_do_not_hide_the_size_of_the_terminal(tmux: Tmux) -> None:
    tmux.send(f"COLUMNS=40 LINES=12 {tmux.command}", "Enter")
    tmux.sees("auto")
    tmux.send("half a prompt")
    tmux.sees("\nhalf a prompt\n" + "─" * 90)
    for width, height in ((50, 14), (110, 24)):
        tmux.resize(width, height)
        tmux.sees("\nhalf a prompt\n" + "─" * width + "\n")


@pytest.mark.parametrize("options", ["", " --session-dir 'my sessions'", ' --session "it\'s one.jsonl"', " -w tide"])
def test_the_printed_command_continues_the_session_when_it_is_pasted(tmux: Tmux, options: str) -> None:
    git = "git -c user.name=Ann -c user.email=a@b"
    tmux.send(f'git init -q; git add .; {git} commit -qm Begin; pi() {{ {tmux.command} "$@"; }}; clear', "Enter")
    tmux.send(f"pi{options}", "Enter")
    tmux.sees("auto")
    tmux.send("list the files here", "Enter")
    tmux.sees("The files here")
    tmux.send("C-d")
    screen = tmux.sees("To resume this session:", "\n$ ", options=("-J", "-S", "-"))
    command = screen.rpartition("To resume this session:\n")[2].partition("\n")[0]
    tmux.send("clear; pwd", "Enter")
    tmux.sees("tides\n$")
    tmux.send("-l", command)
    tmux.send("Enter")

    tmux.sees("list the files here", "The files here", "auto")


@pytest.mark.parametrize(
    ("keys", "goes_on", "files"),
    [("1", True, 1), ("2", True, 2), ("3", False, 1)],
    ids=["continue", "fork", "cancel"],
)
def test_a_session_whose_folder_is_gone_goes_on_here_or_in_a_copy_or_not(tmux: Tmux, keys, goes_on, files) -> None:
    (tmux.work / "gone").mkdir()
    tmux.send(f"cd gone; {tmux.command} -p 'list the files here'; cd ..; rmdir gone; clear; echo there", "Enter")
    tmux.sees("\nthere")
    stored = tmux.work.parent / "home" / "pi" / "sessions"
    tmux.send(f"clear; {tmux.command} --session $(echo ../home/pi/sessions/*/*.jsonl); echo over", "Enter")
    tmux.sees("Session cwd does not exist", "Continue in", "Fork into", "Cancel")
    tmux.send(keys, "Enter")
    if goes_on:
        tmux.sees("list the files here", "rules")
        tmux.send("list the files here", "Enter")
        tmux.sees("brest.txt")
        tmux.send("C-d")
    tmux.sees("\nover")

    assert len([*stored.glob("*/*.jsonl")]) == files


@pytest.mark.parametrize(("answer", "files"), [("y", 2), ("n", 1)])
def test_a_session_of_another_folder_is_forked_if_the_user_says_so(tmux: Tmux, answer: str, files: int) -> None:
    (tmux.work / "other").mkdir()
    tmux.send(f"cd other; {tmux.command} -p 'list the files here'; cd ..; clear; echo there", "Enter")
    tmux.sees("\nthere")
    (stored,) = (tmux.work.parent / "home" / "pi" / "sessions").glob("*/*.jsonl")
    tmux.send(f"clear; {tmux.command} --session {stored.stem.rpartition('_')[2]}; echo over", "Enter")
    tmux.sees("Session found in different project", "Fork this session into current directory?")
    tmux.send(answer, "Enter")
    if answer == "y":
        tmux.sees("list the files here", "rules")
        tmux.send("C-d")
    tmux.sees("\nover")

    assert len([*stored.parent.parent.glob("*/*.jsonl")]) == files


DOORS = """
import asyncio, ctypes, os, subprocess, sys, threading
from pi_hookspecs import Command, hookimpl

def c_code():
    library = ctypes.CDLL(None)
    library.puts(b"said by puts")
    library.fflush(None)

async def awaited():
    await (await asyncio.create_subprocess_exec("sh", "-c", "sleep 0.1; echo said by awaited")).wait()

def left():
    subprocess.Popen(["sh", "-c", "sleep 1; echo said by left"])

DOORS = {
    "write": lambda: os.write(1, b"said by write"),
    "errors": lambda: os.write(2, b"said by errors"),
    "underscored": lambda: print("said by underscored", file=sys.__stdout__, flush=True),
    "printed": lambda: print("said by printed"),
    "system": lambda: os.system("echo said by system"),
    "program": lambda: subprocess.run(["sh", "-c", "echo said by program >&2"]),
    "thread": lambda: asyncio.to_thread(os.write, 1, b"said by thread"),
    "puts": c_code,
    "awaited": awaited,
    "left": left,
    "exit": lambda: os._exit(5),
}

@hookimpl
def register_commands():
    async def go(args, ctx):
        done = DOORS[args]()
        if hasattr(done, "__await__"):
            await done

    return [Command("door", handler=go, description="Print something")]
"""


def test_what_a_plugin_prints_by_whatever_door_is_a_notice_with_its_name(tmux: Tmux) -> None:
    (tmux.work / "doors.py").write_text(DOORS)
    tmux.send(f"{tmux.command} -e ./doors.py", "Enter")
    tmux.sees("auto")
    for door in ["write", "errors", "underscored", "printed", "system", "program", "puts"]:
        tmux.send(f"/door {door}", "Enter")
        tmux.sees(f"Plugin 'doors' printed: said by {door}\n")
    for door in ["thread", "awaited"]:  # its name is known only if the command still waits for what has printed
        tmux.send(f"/door {door}", "Enter")
        tmux.sees(f" printed: said by {door}\n")
    tmux.send("/door left", "Enter")
    tmux.sees("Plugin 'doors' printed: said by left\n")

    tmux.send("x")
    screen = tmux.sees("\nx\n")
    assert [line for line in screen.splitlines() if "said by" in line and "printed: said by" not in line] == []


def test_a_plugin_that_ends_the_process_leaves_a_usable_terminal_and_its_name(tmux: Tmux) -> None:
    (tmux.work / "doors.py").write_text(DOORS)
    tmux.send(f"{tmux.command} -e ./doors.py", "Enter")
    tmux.sees("auto")
    tmux.send("/door exit", "Enter")
    tmux.sees("Plugin 'doors' ended pi: it called os._exit(5)", "\n$ ")
    tmux.send(f"clear; {COOKED}", "Enter")

    assert "auto" not in tmux.sees("\nicanon")
