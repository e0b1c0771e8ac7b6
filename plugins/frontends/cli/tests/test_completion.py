"""``pi completion``: the shells' scripts, and what they are answered; no plugin is imported for it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PLUGIN = """
from pathlib import Path

from pi_hookspecs import Flag, Mode, Subcommand, hookimpl

(Path(__file__).parent / "imported").touch()

@hookimpl
def register_flags():
    return [Flag(name="todo-file", type="string", description="Where to-dos are kept"), Flag(name="model")]

@hookimpl
def register_subcommands():
    return [Subcommand("todo", run=print, description="Show to-dos")]

@hookimpl
def register_modes():
    return [Mode("paint", run=print)]
"""


@pytest.fixture
def acme(pi, knows):
    """``pi`` with a plugin that the index knows; it leaves a mark when it is imported again."""
    knows("acme", PLUGIN)
    (pi.site / "imported").unlink(missing_ok=True)
    return pi


def completions(pi, line):
    """Return the completions for bash at the end of a line."""
    words = line.split(" ")
    done = pi.run(_PI_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pi --thinking m", ["plain,minimal", "plain,medium", "plain,max"]),
        ("pi --res", ["plain,--resume"]),
        ("pi -na", ["plain,-na"]),
        ("pi --todo", ["plain,--todo-file"]),
        ("pi --mod", ["plain,--mode", "plain,--model", "plain,--models"]),
        ("pi --mode p", ["plain,paint", "plain,print"]),
        ("pi --disable acm", ["plain,acme"]),
        ("pi --provider openai-c", ["plain,openai-codex"]),
        ("pi tod", ["plain,todo"]),
        ("pi --print hello tod", ["plain,todo"]),
        ("pi --session-dir s", ["dir,s"]),
        ("pi --skill s", ["file,s"]),
        ("pi todo s", ["file,s"]),
        ("pi @no", ["plain,@notes/", "plain,@notes.txt"]),
        ("pi hello @notes/a", ["plain,@notes/a.txt"]),
        ("pi @nowhere/a", []),
        ("pi @ no", ["plain,@notes/", "plain,@notes.txt"]),
        ("pi hello @ notes/a", ["plain,@notes/a.txt"]),
        ("pi --mode = p", ["plain,paint", "plain,print"]),
        ("pi --mode =", [f"plain,{name}" for name in "fullscreen json line paint print rpc serve text".split()]),
    ],
)
def test_what_is_typed_is_completed(acme, line, expected):
    (acme.cwd / "notes").mkdir()
    for name in ("notes.txt", "notes/a.txt", "notes/.hidden", "other"):
        (acme.cwd / name).touch()

    assert completions(acme, line) == expected
    assert not (acme.site / "imported").exists()


def test_without_an_index_pis_own_options_are_completed(pi):
    shutil.rmtree(pi.agent_dir / "cache")
    pi.install("acme", PLUGIN)

    assert completions(pi, "pi --tod") == []
    assert completions(pi, "pi --cont") == ["plain,--continue"]
    assert not (pi.site / "imported").exists()


@pytest.mark.parametrize(("shell", "syntax"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_script_is_one_that_the_shell_reads(pi, shell, syntax):
    script = pi.run("completion", shell).stdout

    assert f"_PI_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is not None:
        subprocess.run([shell, syntax], input=script.encode(), check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [("pi --todo", "--todo-file\n"), ("pi @ no", "@notes.txt\n"), ("pi --thinking = mi", "minimal\n")],
    ids=["option", "file", "value"],
)
def test_bash_completes_with_it(acme, tmp_path, words, completed):
    (acme.cwd / "notes.txt").touch()
    program = tmp_path / "bin" / "pi"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {" ".join(acme.command)} "$@"\n')
    program.chmod(0o755)
    acme.env["PATH"] = f"{program.parent}:{acme.env['PATH']}"
    typed = (
        f'eval "$(pi completion bash)"; COMP_WORDS=({words}) COMP_CWORD={words.count(" ")}; _pi_completion pi; '
        'echo "${COMPREPLY[@]}"'
    )

    done = subprocess.run(["bash", "-c", typed], cwd=acme.cwd, env=acme.env, capture_output=True, text=True, check=True)

    assert done.stdout == completed


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [(["-h"], 0, "Usage: pi completion"), ([], 1, "Usage: pi completion"), (["tcsh"], 1, "Use one of bash, zsh, fish")],
)
def test_the_command_lists_the_shells(pi, arguments, code, message):
    done = pi.run("completion", *arguments)

    assert done.returncode == code
    assert message in done.stdout + done.stderr
