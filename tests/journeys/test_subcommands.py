"""Every subcommand of ``pi --help``, and those below it: help, and a run without a terminal."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from journey.kinds import Kind, call
from journey.matrix import said

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.journeys

WAITS = {"acp", "attach", "serve", "web"}
"""Subcommands that serve or wait until they are ended; they are tried with their help only."""

SHARES = 6
"""They start hundreds of programs, which takes minutes: so many workers can share them."""

share = pytest.mark.parametrize("number", range(SHARES))

MADE = Kind(steps=(call("bash"), "ping one"))


@pytest.fixture(scope="module")
def named(programs):
    """The subcommands and their descriptions, in the order of the help."""
    done = subprocess.run([programs / "pi", "--help"], capture_output=True, text=True, check=True, timeout=PATIENCE)
    part = done.stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]\S*)", part, re.MULTILINE)


def run(state, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [state.pi, *words],
        cwd=state.work,
        env=state.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert not said(done.stdout + done.stderr), f"pi {' '.join(words)} says\n{done.stdout}{done.stderr}"
    return done


def below(help_text: str) -> list[str]:
    """Return the words that the help of a subcommand lists below it."""
    part = re.search(r"^(?:Commands|Subcommands):\n((?:  .*\n?)+)", help_text, re.MULTILINE)
    return re.findall(r"^  ([a-z]\S*)", part[1], re.MULTILINE) if part is not None else []


@share
def test_each_has_help_and_runs_without_a_terminal(named, state_of, number):
    state = state_of(MADE)
    assert len(named) > 20
    for name in named[number::SHARES]:
        for words in [(name,), *((name, each) for each in below(run(state, name, "--help").stdout))]:
            helped = run(state, *words, "--help")
            assert (helped.returncode, helped.stderr) == (0, ""), f"pi {' '.join(words)} --help"
            if name not in WAITS:
                done = run(state, *words)
                assert done.returncode in {0, 1, 2}, f"pi {' '.join(words)} ended with {done.returncode}: {done.stderr}"
                assert done.stdout or done.stderr, f"pi {' '.join(words)} prints nothing"


def unread(state, *words: str) -> tuple[int, str]:
    """Run a subcommand whose output nobody reads, as in ``| true``; return its exit code and its errors."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [state.pi, *words],
        cwd=state.work,
        env=state.environment,
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    os.close(writing)
    return done.returncode, done.stderr


@share
def test_each_ends_quietly_when_its_reader_has_gone(named, state_of, number):
    state = state_of(MADE)
    for name in named[number::SHARES]:
        for words in [(name,), (name, "--help")] if name not in WAITS else [(name, "--help")]:
            code, said_of_it = unread(state, *words)
            assert code in {0, 1, 2, 141}, f"pi {' '.join(words)} ended with {code}"
            assert not re.search("unexpected|Traceback|Broken|Exception ignored", said_of_it), (words, said_of_it)
