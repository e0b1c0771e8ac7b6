"""What the screen costs, compared with the original's: ``uv run python bench/tui.py``.

Both run at a terminal of 100x40 cells, the original in its full-screen mode, and take turns: the start until a prompt
is painted and until a typed key is visible; an answer of 20,000 deltas in a burst, of 4,000 deltas in 10 seconds while
keys are typed, and of as many whose text does not repeat itself; the same burst with 5,000 messages behind it; those
messages opened, scrolled and resized; and ten idle seconds. Ours also starts with 20 widgets and 20 statuses of an
extension, compared with an extension that draws nothing. CPU time is that of the process with its threads, memory is
PSS (its part of what processes share included). Bars are parts of the original's figure, or a figure with its unit.
Then a frame of the conversation alone, at the end of one paragraph, one list, one table and one fence of a megabyte.
"""

from __future__ import annotations

import functools
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from _fake import fake_server, prompt
from _measure import show, show_table, verdict
from _peer import MODEL, compile_and_say, options, programs
from _pty import terminal
from sessions import rows as entries

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from _fake import Fake
    from _peer import Program
    from _pty import Terminal

    Figures = dict[str, float]

ARGUMENTS = ("--tui-mode", "fullscreen", "--no-tools", "--model", MODEL)
PAINTED = "interrupt"
"""In the line of hints of both, which is at the top of the first frame."""

READY = "claude-sonnet"
"""In the footer of both, as soon as there is a session."""

MESSAGES = 5000
LAST = "the-last-word"
WIDGETS = 20
BURST, PACED, SECONDS, KEYS = 20_000, 4000, 10, 40
IDLE = 10
BIG = 1_000_000
"""Characters."""


class Bar(NamedTuple):
    """What is promised of a figure; both may be.

    Attributes:
        part: Of the original's; None where there is no limit to it.
        most: The figure's limit; None where there is none.
    """

    part: float | None = None
    most: float | None = None


BARS = {
    "first frame, CPU ms": Bar(0.6),
    "first frame, wall ms": Bar(0.6),
    "first typed key visible, wall ms": Bar(0.85),
    "ready and quiet, CPU ms": Bar(),
    "PSS then, MB": Bar(most=50),
    "bytes written until then": Bar(),
    "burst of 20,000 deltas, CPU ms": Bar(0.6),
    "4,000 deltas in 10 s with 40 keys, CPU ms": Bar(0.5),
    "bytes written per letter of it": Bar(1.0),
    "key to paint meanwhile, p90 ms": Bar(1.0, 50),
    "4,000 deltas of varied text in 10 s, CPU ms": Bar(0.5),
    "bytes written per letter of varied text": Bar(1.0),
    "burst behind 5,000 messages, CPU ms": Bar(0.6),
    "5,000 messages opened, CPU ms": Bar(0.25),
    "PSS with 5,000 messages, MB": Bar(0.4),
    "page up there, CPU ms": Bar(most=50),
    "beginning there, CPU ms": Bar(most=50),
    "resize there, CPU ms": Bar(most=50),
    "10 s idle, bytes": Bar(most=0),
    "10 s idle, CPU ms": Bar(most=10),
}


def start(program: Program) -> Figures:
    """Start, and type a key as soon as there is a prompt."""
    with terminal(program, ARGUMENTS) as running:
        painted = running.until(PAINTED)
        cpu = running.cpu()
        key = running.key("Q", "Q")
        running.until_ready(READY)
        return {
            "first frame, CPU ms": cpu,
            "first frame, wall ms": painted,
            "first typed key visible, wall ms": painted + key,
            "ready and quiet, CPU ms": running.cpu(),
            "PSS then, MB": running.memory(),
            "bytes written until then": running.written,
        }


EXTENSION = """
class Rows:
    def __init__(self, number):
        self.number = number

    def render(self, width):
        return [f"widget {self.number} of an extension".ljust(width)]

def activate(pi):
    @pi.on("session_start")
    def show(ctx):
        for number in range(COUNT):
            ctx.ui.set_widget(f"w{number}", lambda screen, number=number: Rows(number))
            ctx.ui.set_status(f"s{number}", f"status {number}")
"""


def decorated(program: Program, widgets: int) -> Figures:
    """Start with an extension that draws, until its last widget is there."""
    path = Path(program.environ["PWD"]) / f"widgets_{widgets}.py"
    path.write_text(EXTENSION.replace("COUNT", str(widgets)), encoding="utf-8")
    with terminal(program, (*ARGUMENTS, "-e", str(path))) as running:
        running.until(PAINTED)
        painted = running.cpu()
        running.until_ready(f"widget {widgets - 1}" if widgets else READY)
        return {f"first frame, {widgets}": painted, f"ready and quiet, {widgets}": running.cpu()}


def _burst(running: Terminal) -> float:
    running.until_quiet()
    before = running.cpu()
    running.send(prompt(BURST) + "\r")
    running.until("sixteen letters")
    running.until_quiet()
    return running.cpu() - before


def burst(program: Program) -> Figures:
    """Receive an answer at once."""
    with terminal(program, ARGUMENTS) as running:
        running.until_ready(READY)
        return {"burst of 20,000 deltas, CPU ms": _burst(running)}


def paced(program: Program) -> Figures:
    """Receive an answer in its time, while keys are typed."""
    with terminal(program, ARGUMENTS) as running:
        running.until_ready(READY)
        before, written = running.cpu(), running.written
        running.send(prompt(PACED, seconds=SECONDS) + "\r")
        running.until("sixteen letters")
        waits = []
        for number in range(KEYS):
            running.read_for(SECONDS / KEYS * 0.8)
            waits.append(running.key("QZX"[number % 3], "QZX"[number % 3]))
        running.until_quiet()
        return {
            "4,000 deltas in 10 s with 40 keys, CPU ms": running.cpu() - before,
            "bytes written per letter of it": (running.written - written) / (PACED * len("sixteen letters ")),
            "key to paint meanwhile, p90 ms": statistics.quantiles(waits, n=10)[-1],
        }


def varied(program: Program) -> Figures:
    """Receive an answer whose rows differ from each other in its time."""
    with terminal(program, ARGUMENTS) as running:
        running.until_ready(READY)
        before, written = running.cpu(), running.written
        running.send(prompt(PACED, "varied", SECONDS) + "\r")
        running.until("sixteen letters")
        running.until_quiet()
        return {
            "4,000 deltas of varied text in 10 s, CPU ms": running.cpu() - before,
            "bytes written per letter of varied text": (running.written - written) / (PACED * len("sixteen letters ")),
        }


def long_session(program: Program, stored: Path) -> Figures:
    """Open a long session, look around in it, and receive an answer in it."""
    path = Path(program.environ["PWD"]) / "long.jsonl"
    header = {"type": "session", "version": 3, "id": "0199bench", "timestamp": "2026-01-01T00:00:00.000Z"}
    first = json.dumps({**header, "cwd": program.environ["PWD"]})
    path.write_text(f"{first}\n{stored.read_text(encoding='utf-8')}", encoding="utf-8")
    with terminal(program, (*ARGUMENTS, "--session", str(path))) as running:
        running.until(LAST)
        found = {"5,000 messages opened, CPU ms": running.cpu()}
        running.until_quiet()
        found["PSS with 5,000 messages, MB"] = running.memory()
        for what, do in _movements(running).items():
            before = running.cpu()
            do()
            running.until_quiet()
            found[f"{what} there, CPU ms"] = running.cpu() - before
        running.send("\x1b[F")
        return {**found, "burst behind 5,000 messages, CPU ms": _burst(running)}


def _movements(running: Terminal) -> dict[str, Callable[[], None]]:
    return {
        "page up": lambda: running.send("\x1b[5~"),
        "beginning": lambda: running.send("\x1b[H"),
        "resize": lambda: running.resize(90, 30),
    }


def idle(program: Program) -> Figures:
    """Wait."""
    with terminal(program, ARGUMENTS) as running:
        running.until_ready(READY)
        running.until_quiet(1.0)
        before, written = running.cpu(), running.written
        running.read_for(IDLE)
        return {"10 s idle, bytes": running.written - written, "10 s idle, CPU ms": running.cpu() - before}


def measure(found: Sequence[Program], fake: Fake, stored: Path, rounds: int) -> dict[tuple[str, str], list[float]]:
    """Return all figures by their names and programs."""
    took: dict[tuple[str, str], list[float]] = {}
    scenes = (start, burst, paced, varied, functools.partial(long_session, stored=stored), idle)
    for number in range(rounds + 1):  # the first does not count: it fills caches
        for scene in scenes if number else scenes[:1]:
            for program in found:
                figures = scene(program)
                fake.requests()
                for what, figure in figures.items() if number else ():
                    took.setdefault((what, program.name), []).append(figure)
    for _ in range(rounds):
        for widgets in (0, WIDGETS):
            for what, figure in decorated(found[0], widgets).items():
                took.setdefault((what, found[0].name), []).append(figure)
    return took


def print_figures(took: dict[tuple[str, str], list[float]], rounds: int) -> None:
    """Print the best figure of each program."""
    heads = ["", "ours", "median", "original", "ratio", "bar", ""]
    lines = [_line(what, bar, took) for what, bar in BARS.items()]
    show_table(f"The screen in a terminal of 100x40 cells, best and median of {rounds}", heads, lines)
    behind, before = min(took[_BEHIND, "pi"]), min(took[_BURST, "pi"])
    show("The same burst behind 5,000 messages, as a part of that behind none", "", [("ours", behind / before, 1.1)])
    parts = [
        (what, min(took[f"{what}, {WIDGETS}", "pi"]) / min(took[f"{what}, 0", "pi"]), 1.2)
        for what in ("first frame", "ready and quiet")
    ]
    show(f"The start with {WIDGETS} widgets and statuses, as a part of that with none, CPU", "", parts)


_BURST, _BEHIND = "burst of 20,000 deltas, CPU ms", "burst behind 5,000 messages, CPU ms"


def _line(what: str, bar: Bar, took: dict[tuple[str, str], list[float]]) -> list[str]:
    ours, theirs = took[what, "pi"], took.get((what, "original"), [])
    peer = min(theirs) if theirs else None
    ratio = min(ours) / peer if peer else None
    judged = [(figure, most) for figure, most in ((ratio, bar.part), (min(ours), bar.most)) if most is not None]
    known = [(figure, most) for figure, most in judged if figure is not None]
    return [
        what,
        _figure(min(ours)),
        _figure(statistics.median(ours)),
        "-" if peer is None else _figure(peer),
        "-" if ratio is None else f"{ratio:.2f}",
        ", ".join(f"{most:g}" for _, most in judged),
        verdict(max(figure - most for figure, most in known), 0) if known else "",
    ]


def _figure(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 10 else f"{figure:.1f}"


# One frame


ANSWERS = {
    "paragraph": ("", "words that never end "),
    "list": ("", "- an item of a list\n"),
    "table": ("| a | b |\n| - | - |\n", "| one | two |\n"),
    "fence": ("```python\n", "value = call(argument)\n"),
}
"""How an answer that is one block of Markdown begins, and what it repeats."""

FRAMES = 200


def frame(beginning: str, repeated: str) -> float:
    """Return the milliseconds of CPU of a frame at the end of an answer of a megabyte, on average."""
    from pi_tui.lines.look import Look
    from pi_tui.screen.anchor import Anchor
    from pi_tui.screen.strips import Painter
    from pi_tui.theme.builtin_themes import builtin_theme
    from pi_tui.theme.palette import Palette
    from pi_tui.view.blocks import Answer
    from pi_tui.view.state import State

    state, look = State(), Look(width=100)
    block = state.add(Answer)
    anchor, painter = Anchor(state), Painter(Palette(builtin_theme("dark").colors, "truecolor", "dark"))

    def draw(text: str) -> None:
        block.text.append(text)
        block.revision += 1
        for line in anchor.visible(35, look):
            painter.strip(line, 100)

    draw(beginning + repeated * (BIG // len(repeated)))
    before = time.process_time()
    for _ in range(FRAMES):
        draw(repeated)
    return (time.process_time() - before) / FRAMES * 1000


def main() -> None:
    chosen: argparse.Namespace = options(__doc__ or "", rounds=3)
    compile_and_say()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored = folder / "entries.jsonl"
        with stored.open("w", encoding="utf-8") as file:
            rows = [*entries(MESSAGES, 900)]
            rows[-1]["message"]["content"] = [{"type": "text", "text": LAST}]
            file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        with fake_server(folder) as fake:
            took = measure(programs(chosen, folder, fake.url), fake, stored, chosen.rounds)
    print_figures(took, chosen.rounds)
    frames = [
        (f"one {kind}", min(frame(*answer) for _ in range(chosen.rounds)), 5.0) for kind, answer in ANSWERS.items()
    ]
    show("A frame at the end of an answer of 1 MB", "CPU ms", frames)


if __name__ == "__main__":
    main()
