"""What the original's examples draw: the keys for each of them, and the lines that both programs have to show then.

An example is run in a terminal of 80 columns. Compared are the texts of the region that it draws, which begins and ends
with lines that are known; colours are those of each program's theme.
"""

from __future__ import annotations

import os
import re
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
SIZE = (80, 50)
ENTER, ESCAPE, UP, DOWN, RIGHT, TAB = "\r", "\x1b", "\x1b[A", "\x1b[B", "\x1b[C", "\t"
_KEYS = re.compile(r"\x1b\[.|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
SHORT, LONG, MOST = 0.15, 1.5, 8.0
"""Seconds in which the screen of a program that waits has not changed any more; of one that computes all the time; and
after which what has come is compared though it changes."""
STEADY = "Math.random = () => 0.3;\n"
"""Run before anything else in both programs: games begin in the same way."""


@define
class Part:
    """Which part of the screen an example draws.

    Attributes:
        first: What its first line has, as a regular expression.
        last: What its last line has; without it, the part is what ``first`` matches, in each line.
    """

    first: str
    last: str | None = None

    def of(self, rows: Sequence[str]) -> list[str]:
        """Return the lines."""
        if self.last is None:
            return [found[0] for row in rows if (found := re.search(self.first, row))]
        begins = [number for number, row in enumerate(rows) if re.search(self.first, row)]
        ends = [
            number for number, row in enumerate(rows) if re.search(self.last, row) and begins and number >= begins[0]
        ]
        return [row.rstrip() for row in rows[begins[0] : ends[-1] + 1]] if ends else []


@define
class Step:
    """Keys, and a text that the screen has soon after them."""

    keys: str
    text: str
    part: Part | None = None


@define
class Script:
    """What is done with an example.

    Attributes:
        part: The part of the screen that is compared after each step, if the step names none.
        steps: The steps.
        answers: What the model answers: texts, or names and arguments of calls.
        files: Files of the agent directory, by name.
    """

    part: Part
    steps: Sequence[Step]
    answers: Sequence[Any] = ()
    files: Mapping[str, str] = field(factory=dict)


EDITOR = Part(r"^──", r"──")
BOX = Part(r"[╭│├╰].*[╮│┤╯]")


def called(tool: str, arguments: Mapping[str, Any]) -> tuple[tuple[str, Mapping[str, Any]], str]:
    """Return the answers of a model that calls a tool once."""
    return (tool, arguments), "done"


QUESTION = {
    "question": "Which tide?",
    "options": [{"label": "High", "description": "at six"}, {"label": "Low"}],
}
QUESTIONS = {
    "questions": [
        {"id": "tide", "label": "Tide", "prompt": "Which tide?", "options": [{"value": "h", "label": "High"}]},
        {"id": "port", "label": "Port", "prompt": "Which port?", "options": [{"value": "b", "label": "Brest"}]},
    ]
}

SCRIPTS: dict[str, Script] = {
    "border-status-editor": Script(EDITOR, [Step("some text", "some text")]),
    "built-in-tool-renderer": Script(
        Part("x"),
        [
            Step("read" + ENTER, "4 lines", Part(r"^ read", r"\d lines")),
            Step("run" + ENTER, "$ echo hi", Part(r"^ \$ echo", r"\d lines")),
            Step("edit" + ENTER, "+1", Part(r"^ ?edit a", r"\+1")),
            Step("write" + ENTER, "Written", Part(r"^ write", r"Written")),
        ],
        answers=[
            *called("read", {"path": "a.txt"}),
            *called("bash", {"command": "echo hi"}),
            *called("edit", {"path": "a.txt", "edits": [{"oldText": "two", "newText": "deux"}]}),
            *called("write", {"path": "b.txt", "content": "one\ntwo\n"}),
        ],
    ),
    "custom-footer": Script(Part(r"↑\d+ ↓\d+ \$.*"), [Step("/footer" + ENTER, "↑0 ↓0"), Step("hi" + ENTER, "↑10 ↓5")]),
    "custom-header": Script(Part(r"█▌", r"coding agent"), [Step("", "coding agent")]),
    "entry-renderer": Script(Part(r"\[status\].*"), [Step("/status-card all is well" + ENTER, "[status] all")]),
    "message-renderer": Script(
        Part(r"\[[A-Z]+\] .*"),
        [Step("/status warn disk" + ENTER, "[WARN] disk"), Step("/status fine" + ENTER, "[INFO] fine")],
    ),
    "minimal-mode": Script(
        Part("x"),
        [
            Step("read" + ENTER, "read a.txt", Part(r"^ read", r"^ done")),
            Step("run" + ENTER, "$ echo hi", Part(r"^ \$ echo", r"^ done")),
            Step("find" + ENTER, "find *.txt", Part(r"^ find \*", r"^ done")),
            Step("grep" + ENTER, "grep /two/", Part(r"^ grep /", r"^ done")),
            Step("ls" + ENTER, "ls .", Part(r"^ ls \.", r"^ done")),
        ],
        answers=[
            *called("read", {"path": "a.txt"}),
            *called("bash", {"command": "echo hi"}),
            *called("find", {"pattern": "*.txt"}),
            *called("grep", {"pattern": "two"}),
            *called("ls", {"path": "."}),
        ],
    ),
    "modal-editor": Script(
        EDITOR,
        [
            Step("abc", "abc"),
            Step(ESCAPE, "NORMAL"),
            Step("hhx", "bc"),
            Step("ix", "INSERT"),
        ],
    ),
    "overlay-qa-tests": Script(
        BOX,
        [
            Step("/overlay-anchors" + ENTER, "top-left"),
            *(Step(" ", each) for each in ("top-center", "top-right", "left-center", "center", "right-center")),
            Step(ESCAPE, "─"),
            Step("/overlay-margins" + ENTER, "No margin"),
            Step(" ", "3 all sides"),
            Step(" ", "top=5"),
            Step(ESCAPE, "─"),
            Step("/overlay-stack" + ENTER, "front"),
            Step(ESCAPE, "middle"),
            Step(ESCAPE + ESCAPE, "Closed"),
            Step("/overlay-percent" + ENTER, "rowPercent: 0"),
            Step(" ", "rowPercent: 50"),
            Step(ESCAPE, "─"),
            Step("/overlay-maxheight" + ENTER, "axHeight"),
            Step(ESCAPE, "─"),
            Step("/overlay-edge" + ENTER, "dge"),
            Step(ESCAPE, "─"),
            Step("/overlay-toggle" + ENTER, "oggle"),
        ],
    ),
    "overlay-test": Script(
        BOX,
        [
            Step("/overlay-test" + ENTER, "Overlay Test"),
            Step("abc", "abc"),
            Step(DOWN + "xy", "xy"),
            Step(DOWN + DOWN, "▶ Cancel"),
            Step(ESCAPE, "─"),
        ],
    ),
    "plan-mode": Script(Part(r"⏸ plan"), [Step("/plan" + ENTER, "⏸ plan")]),
    "preset": Script(
        Part(r"Select Preset", r"esc.*"),
        [
            Step("/preset" + ENTER, "Select Preset"),
            Step(DOWN, "quick"),
            Step(ENTER, "preset:quick", Part(r"preset:\w+")),
        ],
        files={
            "presets.json": '{"deep": {"tools": ["read"]}, "quick": {"tools": ["bash"], "instructions": "Be quick"}}'
        },
    ),
    "question": Script(
        Part(r"^ Which tide", r"Esc"),
        [
            Step("ask" + ENTER, "Enter to select"),
            Step(DOWN, "> 2."),
            Step(DOWN + ENTER, "Your answer"),
            Step("neap", "neap"),
            Step(ENTER, "(wrote)", Part(r"question Which", r"wrote")),
        ],
        answers=called("question", QUESTION),
    ),
    "questionnaire": Script(
        Part(r"^ ← ", r"Esc"),
        [
            Step("ask" + ENTER, "Which tide?"),
            Step(ENTER, "Which port?"),
            Step(ENTER, "ubmit"),
            Step(ENTER, "port: 1. Brest", Part(r"questionnaire 2", r"port")),
        ],
        answers=called("questionnaire", QUESTIONS),
    ),
    "rainbow-editor": Script(EDITOR, [Step("ultrathink of it", "ultrathink of it")]),
    "rpc-demo": Script(
        Part(r"^ *--- RPC.*|^ *Loaded and.*|Turn.*"), [Step("", "Turns: 0"), Step("hi" + ENTER, "Turn 1 done")]
    ),
    "snake": Script(BOX, [Step("/snake" + ENTER, "GAME OVER"), Step("q", "─")]),
    "space-invaders": Script(Part(r"│.*(?:SPACE INV|▲|to move).*│"), [Step("/invaders" + ENTER, "SPACE INVADERS")]),
    "status-line": Script(
        Part(r"Ready|. Turn \d complete"), [Step("", "Ready"), Step("hi" + ENTER, "Turn 1 complete")]
    ),
    "structured-output": Script(
        Part(r"^ Tides", r"2\. "),
        [Step("sum up" + ENTER, "2. Leave")],
        answers=[
            ("structured_output", {"headline": "Tides", "summary": "High at six", "actionItems": ["Look", "Leave"]})
        ],
    ),
    "tic-tac-toe": Script(
        Part(r"^ *[┌│├└].*[┐│┤┘]$|Turn: .*"),
        [Step("/tic-tac-toe" + ENTER, "Turn: X"), Step(UP, "Turn: X"), Step(ENTER, "Turn: O")],
    ),
    "todo": Script(
        Part("x"),
        [
            Step("add" + ENTER, "Added #1", Part(r"^ todo add", r"Added")),
            Step("list" + ENTER, "1 todo", Part(r"^ todo list", r"○ #1")),
            Step("toggle" + ENTER, "completed", Part(r"^ todo toggle", r"✓ Todo #1 completed")),
            Step("/todos" + ENTER, "1/1 completed", Part(r"^─── Todos", r"Press Escape")),
        ],
        answers=[
            *called("todo", {"action": "add", "text": "leave"}),
            *called("todo", {"action": "list"}),
            *called("todo", {"action": "toggle", "id": 1}),
        ],
    ),
    "tools": Script(
        Part(r"Tool Configuration|(?:read|bash|edit|write) +(?:en|dis)abled"),
        [Step("/tools" + ENTER, "Tool Configuration"), Step(ENTER, "disabled")],
    ),
    "truncated-tool": Script(
        Part(r"^ rg ", r"matches"),
        [Step("search" + ENTER, "1 matches")],
        answers=called("rg", {"pattern": "two"}),
    ),
    "widget-placement": Script(Part(r"Above editor", r"Below editor"), [Step("", "Below editor")]),
    "working-indicator": Script(
        Part(r"Indicator: .*"), [Step("/working-indicator dot" + ENTER, "Indicator: static dot")]
    ),
    "working-message-test": Script(
        Part(r"● Working.*"),
        [Step("wait" + ENTER, "Working... (custom)")],
        answers=called("bash", {"command": "sleep 30"}),
    ),
}
"""The examples that draw, and for which it is known where."""


def screens(
    script: Script, command: Sequence[str], work: Path, environ: Mapping[str, str], *, show: bool = False
) -> list[list[str]]:
    """Run a program with an example in a terminal; return the part after each step, or what did not come."""
    sys.path.append(str(ROOT / "tests" / "journeys"))
    try:
        module, is_busy = import_module("journey.terminal"), import_module("journey.processes").is_busy
    finally:
        sys.path.pop()
    steady = work.parent / "steady.cjs"
    steady.write_text(STEADY, encoding="utf-8")
    more = {"COLORTERM": "truecolor", "NODE_OPTIONS": f"--require={steady}", "SHELL": "/bin/sh"}
    found: list[list[str]] = []
    with module.Terminal(command, work, {**environ, **more}, SIZE) as terminal:
        try:
            terminal.until(lambda: sum("─────" in row for row in terminal.rows) > 1, "the editor")
            for step in script.steps:
                part = step.part or script.part
                for key in _KEYS.findall(step.keys):
                    _settle(terminal, is_busy, part)
                    terminal.type(key)
                terminal.sees(step.text)
                _settle(terminal, is_busy, part)
                if show:
                    print(f"----- {step.keys!r}", *(f"|{row}" for row in terminal.rows), sep="\n")
                found.append(part.of(terminal.rows))
        except AssertionError as error:
            found.append([str(error) if show else str(error).partition("\n")[0]])
    return found


def _settle(terminal: Any, is_busy: Callable[[int], bool], part: Part) -> None:
    """Wait until a part of the screen stays as it is; not for long if something in it is animated."""
    lines, since = part.of(terminal.rows), time.monotonic()
    end = since + MOST
    share = max(os.getloadavg()[0] / (os.cpu_count() or 1), 1)  # others compute, too: it waits for its turn

    def is_still() -> bool:
        nonlocal lines, since
        now, drawn = time.monotonic(), part.of(terminal.rows)
        if drawn != lines:
            lines, since = drawn, now
        return now > end or now > since + (LONG if is_busy(terminal.process.pid) else SHORT) * share

    terminal.until(is_still, "a still screen")
