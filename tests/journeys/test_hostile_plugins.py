"""Plugins that misbehave in every way: the plugin is named, the next prompt is answered, nothing is lost."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from journey.hostile import KINDS, ROWS, Row, files_of, grouped, squeezed
from journey.kinds import Kind
from journey.screen import CLEAR, ENTER, Screen

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from journey.kinds import State

pytestmark = pytest.mark.journeys

LIMITS = {"blockTimeout": 1.2, "timeout": 2}
"""Seconds until code that blocks, and a hook that does not answer, is interrupted."""


def kind_of(rows: list[Row]) -> Kind:
    own = KINDS[rows[0].kind]
    return Kind(
        open=False,
        size=(160, 60),
        files=files_of(rows),
        settings={"hooks": LIMITS, **{name: rows[0].named(value) for name, value in own.settings.items()}},
        arguments=tuple(rows[0].named(each) for each in own.arguments),
    )


def stored(state: State) -> str:
    """Return everything that is stored."""
    return "".join(each.read_text() for each in state.home.glob(".pi/agent/sessions/**/*.jsonl"))


GOING_ON = grouped(row for row in ROWS if row.is_printed and not KINDS[row.kind].fails and not KINDS[row.kind].ends)
ON_SCREEN = grouped(row for row in ROWS if row.is_on_screen and not KINDS[row.kind].ends)
ENDING_ON_SCREEN = [row for row in ROWS if row.is_on_screen and KINDS[row.kind].ends]
FAILING = [row for row in ROWS if row.is_printed and (KINDS[row.kind].fails or KINDS[row.kind].ends)]


def run(state: State, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [state.pi, *state.arguments(), *arguments]
    return subprocess.run(
        words,
        check=False,
        cwd=state.work,
        env=state.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def check(row: Row, text: str) -> None:
    missing = [each for each in row.says if each not in squeezed(text)]
    assert not missing, f"{row} lets pi say nothing of {missing}, but:\n{text}"


def check_stored(rows: list[Row], kept: str) -> None:
    """Check that each following prompt and its answer are stored, and nothing that a guard has to refuse."""
    assert not [row for row in rows if f"ping {row.word}" not in kept or f"pong {row.word}" not in kept]
    assert not [each for row in rows if (each := KINDS[row.kind].never) and each in kept]


def check_only(rows: list[Row], text: str) -> None:
    """Check that no other plugin is named, and that no failure came unexpected.

    That another one blocked is no fault of pi's: on a busy computer reading a file may take that long.
    """
    named = set(re.findall(r"(?:Plugin|of plugin) '([^']+)'(?! has blocked everything else)", text))
    assert named <= {row.plugin for row in rows}
    assert "unexpected" not in text
    assert "Traceback" not in text


@pytest.mark.parametrize("rows", GOING_ON.values(), ids=GOING_ON)
def test_the_next_prompt_is_answered_in_print_mode(rows, state_of, server):
    state = state_of(kind_of(rows))

    prompts = [prompt for row in rows for prompt in (row.before, row.prompt, row.following) if prompt]
    done = run(state, "-p", *prompts)

    for row in rows:
        check(row, done.stderr)
    check_only(rows, done.stderr)
    assert done.stdout.endswith(f"pong {rows[-1].word}\n")
    check_stored(rows, stored(state))


@pytest.mark.parametrize("row", FAILING, ids=lambda row: row.name)
def test_the_next_start_goes_on_after_the_run_has_ended_in_print_mode(row, state_of, server):
    state = state_of(kind_of([row]))

    done = run(state, "-p", *filter(None, [row.before, row.prompt]))
    following = run(state, "-c", "-p", f"[] ping {row.word}")

    assert done.returncode != 0
    check(row, done.stderr)
    check_only([row], done.stderr + following.stderr)
    assert following.returncode == 0, following.stderr
    assert following.stdout == f"pong {row.word}\n"
    if KINDS[row.kind].ends:
        assert all(each in squeezed(following.stderr) for each in row.afterwards), following.stderr
        assert "the last pi" not in run(state, "-c", "-p", "[] ping again").stderr
    kept = stored(state)
    assert KINDS[row.kind].at_start or row.named(KINDS[row.kind].prompt) in kept.replace('\\"', '"')
    assert f"pong {row.word}" in kept


@pytest.mark.parametrize("rows", ON_SCREEN.values(), ids=ON_SCREEN)
def test_the_next_prompt_is_answered_on_the_screen(rows, state_of, server):
    state = state_of(kind_of(rows))
    at_start = [row for row in rows if KINDS[row.kind].at_start]
    prompted = [row for row in rows if row not in at_start] or rows[-1:]
    with Screen(state, server) as screen:
        for row in at_start:
            says(screen, row.says, row)
        since = ""
        for row in prompted:
            if row not in at_start:
                misbehave(screen, row, since)
            answered(screen, row)
            since = f"pong {row.word}"
        screen.terminal.type("/quit\r")
        assert screen.terminal.ends() == 0
        for row in rows:
            if KINDS[row.kind].at_exit:
                check(row, screen.terminal.text)
    check_stored(prompted, stored(state))


@pytest.mark.parametrize("row", ENDING_ON_SCREEN, ids=lambda row: row.name)
def test_the_next_start_goes_on_after_the_screen_has_ended(row, state_of, server):
    state = state_of(kind_of([row]))
    with Screen(state, server) as screen:
        if row.before:
            send(screen, row.before)
            screen.terminal.sees("pong before")
        send(screen, row.prompt)
        assert screen.terminal.ends() != 0
        check(row, screen.terminal.text)
    state.kind = replace(state.kind, arguments=(*state.kind.arguments, "-c"))

    with Screen(state, server) as screen:
        says(screen, row.afterwards, row)
        send(screen, f"[] ping {row.word}")
        screen.terminal.sees(f"pong {row.word}")
        screen.terminal.type("/quit\r")
        assert screen.terminal.ends() == 0
    kept = stored(state)
    assert row.named(KINDS[row.kind].prompt) in kept.replace('\\"', '"')
    assert f"pong {row.word}" in kept


def misbehave(screen: Screen, row: Row, since: str = "") -> None:
    """Let a plugin misbehave, and wait until pi says so, below the text after which that counts."""
    if row.before:
        send(screen, row.before)
        screen.terminal.sees("pong before")
    if row.keys:
        screen.terminal.until(lambda: screen.at_prompt, f"the empty prompt before {row.keys!r}")
        screen.terminal.type(row.keys)
    else:
        send(screen, row.prompt)
    says(screen, [] if KINDS[row.kind].at_exit else row.says, row, since)
    if row.keys:
        screen.terminal.type(CLEAR)


def says(screen: Screen, words: list[str], row: Row, since: str = "") -> None:
    """Wait until pi says something on the screen, or, as a child that is forked at the start, before there is one.

    What stands above ``since`` was said of the rows before.
    """
    first = squeezed(screen.terminal.written.partition(b"\x1b")[0].decode())
    screen.terminal.until(
        lambda: all(each in first or each in said(screen.terminal.text, since) for each in words), f"{words} of {row}"
    )


def said(text: str, since: str) -> str:
    """Return what is displayed below the last ``since``, squeezed; all if that is empty or not there any more."""
    return squeezed(text).rpartition(squeezed(since))[2] if since else squeezed(text)


def answered(screen: Screen, row: Row) -> None:
    """Send the next prompt, and wait for its answer."""
    send(screen, row.following)
    screen.terminal.sees(f"pong {row.word}")


def send(screen: Screen, line: str) -> None:
    screen.tried += 1
    screen.terminal.until(lambda: screen.at_prompt, f"the empty prompt before {line!r}")
    screen.terminal.type(line)
    screen.terminal.until(
        lambda: not screen.at_prompt and squeezed(line) in squeezed(screen.terminal.text), f"the typed {line!r}"
    )
    screen.terminal.type(ENTER)
