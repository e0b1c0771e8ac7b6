"""The pictures of the screen, drawn from scripted sessions and compared with them: some still, one moving.

docs/screen.svg is the end of the session, docs/pictures/session.svg plays it; docs/pictures/examples has what the
examples draw. ``just picture`` writes all: it runs this with ``WRITE_SNAPSHOTS=1``.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from pi_hookspecs import Activity, ActivityItem, Approval, approval_choices, hookimpl
from pi_testing import stall, text, thinking, tool_call, usage
from pi_tui.screen import app as app_module
from pi_tui.screen.app import ScreenApp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from pi_hookspecs import PiContext
    from pi_testing import ScriptedProvider
    from pi_testing.scripted import Request
    from pi_testing.steps import Step

DOCS = Path(__file__).parents[5] / "docs"
PICTURE, FILM = DOCS / "screen.svg", DOCS / "pictures" / "session.svg"
WIDTH, HEIGHT = 92, 44
PROMPT = "The tide never changes in tide.py. Make it move."
CELL, ROW, MARGIN = 8.4, 17, 14
"""Rows are as high as the letters, so that the lines of tables meet."""
TEXT, PAGE = "#d4d4d4", "#18181e"
SIXTEEN = (
    *("#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5"),
    *("#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#e5e5e5"),
)
"""The sixteen colours that a terminal chooses itself, as a common one does."""
NO_BREAK = "\N{NO-BREAK SPACE}"
"""In place of spaces: browsers differ in whether they keep those at the ends of a text."""


class Tides:
    """A plugin with a widget and a status."""

    @hookimpl
    def session_start(self, ctx: PiContext) -> None:
        ctx.ui.set_widget("tide", ["\x1b[38;5;73m≈\x1b[0m high water 14:05 · low water 20:17"], placement="belowEditor")
        ctx.ui.set_status("tests", "tests: 41 passed")


BEFORE = '''def tide(hour):
    """Metres of water in the harbour."""
    return 0
'''


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a file, which the footer calls by a name that does not change."""
    (tmp_path / "tide.py").write_text(BEFORE)
    monkeypatch.setattr("pi_tui.lines.tools.bash.duration", lambda _milliseconds: "0.08 s")
    facts = ScreenApp.facts

    def named(app: ScreenApp) -> dict[str, Any]:
        return {**facts(app), "cwd": "/home/ada/harbour", "branch": "main", "model": "sonnet-5", "providers": 1}

    monkeypatch.setattr(ScreenApp, "facts", named)
    monkeypatch.setattr(app_module, "version", lambda: "1.1")


class Gate:
    """Holds the model's answers back, so that the screen can be drawn before each of them."""

    def __init__(self) -> None:
        self._open = asyncio.Semaphore(0)

    def before(self, *steps: Step) -> Callable[[Request], Awaitable[tuple[Step, ...]]]:
        async def turn(request: Request) -> tuple[Step, ...]:
            await self._open.acquire()
            return steps

        return turn

    def let_pass(self) -> None:
        self._open.release()


def play(script: ScriptedProvider, gate: Gate) -> None:
    """Write the session: an edit, a command, an answer."""
    edit = tool_call("edit", path="tide.py", old_text="    return 0", new_text="    return 2 + sin(hour * tau / 12.4)")
    script.turn(
        gate.before(
            thinking("The function returns 0 at every hour. A sine with a period of 12.4 hours will do."),
            text("`tide` is **constant**. I will make it move:"),
            edit,
        )
    )
    command = tool_call("bash", command="sed -i '1i from math import sin, tau' tide.py")
    script.turn(gate.before(text("And the import, then a look:"), command))
    script.turn(
        gate.before(
            text(
                "Now the water moves:\n\n| hour | metres |\n| --- | --- |\n| 3.1 | 3.0 |\n| 9.3 | 1.0 |\n\n"
                "It is *not* calibrated yet.",
            ),
            usage(input=11_800, output=420, cache_read=9_600),
        )
    )


@pytest.mark.pi(plugins=[Tides()], entry_points=["tools"])
@pytest.mark.usefixtures("harbour")
async def test_the_pictures_are_what_the_screen_displays(desk, script, pi_session, monkeypatch) -> None:
    gate, frames = Gate(), []
    play(script, gate)
    monkeypatch.setattr("pi_tui.screen.spinner.Spinner.frame", "⠹")

    async with desk(
        (WIDTH, HEIGHT), environ={"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": "/home/ada"}
    ) as user:

        def draw(seconds: float) -> None:
            frames.append((seconds, rows_of(user.app.screen._compositor.render_strips())))

        await pi_session.reload()
        await user.sees("tests: 41 passed")
        draw(0.8)
        for word in re.findall(r"\S+ ?", PROMPT):
            await user.type(word)
            draw(0.18)
        await user.type("", "enter")
        await user.sees("⠹")
        draw(1.2)
        for seen in ("return 2 + sin(hour * tau / 12.4)", "Took"):
            gate.let_pass()
            await user.sees(seen, "⠹")
            draw(1.6)
        gate.let_pass()
        await user.sees("not calibrated yet")
        await user.when(lambda: not user.app.session.is_streaming and user.app.spinner._timer is None)
        draw(3.0)
        await user.press(*"What is left to")
        draw(2.0)

    compare(PICTURE, "".join(svg(frames[-1][1])))
    compare(FILM, "".join(film(frames)))


EXAMPLES = DOCS.parent / "examples"
ON_SCREEN = {
    "checklist": ["/item"],
    "choose-tools": ["/tools"],
    "custom-footer": [],
    "custom-header": [],
    "message-renderer": ["/status-update warning The disk is nearly full"],
    "modal-editor": [],
    "overlay-qa-tests": ["/overlay-stack"],
    "permission-gate": ["Clean up."],
    "plan-mode": ["/plan", "Make the tide move."],
    "preset": ["/preset"],
    "question": ["Paint my house."],
    "questionnaire": ["Plan my holiday."],
    "rainbow-editor": [],
    "snake": ["/snake"],
    "status-line": ["Is the tide constant?"],
    "summarize": ["Is the tide constant?", "/summarize"],
    "tic-tac-toe": ["/tic-tac-toe"],
    "todo": ["Make a list."],
    "widget-placement": ["Is the tide constant?"],
    "working-indicator": ["/indicator pulse", "Go"],
}
"""What is typed for the picture of an example."""

TYPED = {"rainbow-editor": "go ultrathink", "modal-editor": "one two", "tic-tac-toe": "5"}
"""What is in the editor of it, or the cell that is taken."""

SEEN = {
    "checklist": "Enter",
    "choose-tools": "[x] read",
    "custom-footer": "⎇ main",
    "custom-header": "Welcome to",
    "message-renderer": "nearly full",
    "modal-editor": "INSERT",
    "overlay-qa-tests": "2",
    "permission-gate": "Refuse",
    "plan-mode": "Carry out this plan?",
    "preset": "review",
    "question": "blue",
    "questionnaire": "mountains",
    "rainbow-editor": "go ultrathink",
    "snake": "escape ends",
    "status-line": "Turn 1 done",
    "summarize": "Open: calibration",
    "tic-tac-toe": "Your turn.",
    "todo": "1",
    "widget-placement": "The model's window",
    "working-indicator": "Pondering",
}


PLAN = "It returns 0.\n\nPlan:\n1. Return a sine in tide()\n2. Add the import\n3. Run the tests"
SUMMARY = "Goal: a tide that moves.\nFound: tide() returns 0 at every hour.\nOpen: calibration."
ANSWERS: dict[str, list[Any]] = {
    "permission-gate": [tool_call("bash", command="sudo rm -rf charts")],
    "plan-mode": [text(PLAN)],
    "question": [tool_call("question", question="Which colour?", options=["blue", "ochre"])],
    "questionnaire": [
        tool_call("questionnaire", questions=[{"id": "place", "prompt": "Where to?", "options": ["mountains", "sea"]}])
    ],
    "status-line": [text("Yes: it returns 0.")],
    "summarize": [text("Yes: it returns 0."), text(SUMMARY)],
    "tic-tac-toe": [tool_call("tic_tac_toe", cell=1), text("Your turn.")],
    "todo": [tool_call("todo", action="add", text="Ask the harbour master")],
    "widget-placement": [text("Yes: it returns 0.")],
}
"""What the model answers; the others get none."""

LOADED: dict[str, dict[str, Any]] = {
    "choose-tools": {"entry_points": ["tools"]},
    "permission-gate": {"entry_points": ["tools"]},
    "plan-mode": {"entry_points": ["tools"]},
    "preset": {"settings": {"presets": {"review": {"thinking": "high"}, "quick": {"thinking": "low"}}}},
}
"""What is loaded besides the example."""


def example(name: str) -> Any:
    """Return a test's parameter: an example that is loaded from its folder."""
    source = str(EXAMPLES / name / "src")
    if source not in sys.path:
        sys.path.append(source)
    plugin = import_module(f"pi_{name.replace('-', '_')}")
    return pytest.param(name, marks=pytest.mark.pi(plugins={name: plugin}, **LOADED.get(name, {})), id=name)


@pytest.mark.slow
@pytest.mark.usefixtures("harbour")
@pytest.mark.parametrize("name", [example(name) for name in ON_SCREEN] if EXAMPLES.is_dir() else [])
async def test_the_pictures_of_examples_are_what_they_draw(name, desk, script, pi_session, monkeypatch) -> None:
    size = (72, 24 if name == "snake" else 18)
    monkeypatch.setattr("pi_tui.screen.talk._COMMAND_SECONDS", 3600.0)  # a slow machine would display more
    if name == "rainbow-editor":
        monkeypatch.setattr("pi_rainbow_editor.SECONDS", 3600.0)  # the colours stand still
    monkeypatch.setattr("pi_tui.lines.tools.bash._elapsed", lambda _seconds: "0.2 s")
    if name == "custom-footer":  # it asks git for the branch
        await (await asyncio.create_subprocess_exec("git", "init", "-q", "-b", "main", str(pi_session.cwd))).wait()
    if name == "snake":
        monkeypatch.setattr("pi_snake._game.SECONDS", 3600.0)
        monkeypatch.setattr("pi_snake._game.random.choice", lambda cells: cells[50])
    monkeypatch.setattr("pi_tui.screen.spinner.Spinner.frame", "●")
    for answer in ANSWERS.get(name, [stall()]):
        script.turn(answer)
    script.turn(text("It is on the list.")).turn(text("Done."))

    async with desk(size, environ={"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": "/home/ada"}) as user:
        await pi_session.reload()
        for line in ON_SCREEN[name]:
            await user.type(line, "enter")
        await user.press(*TYPED.get(name, ""))
        await user.sees(SEEN[name])
        await user.pilot.pause()
        strips = user.app.screen._compositor.render_strips()
        rows = rows_of(Strip([_named(each) for each in strip]) for strip in strips)
        await user.press("escape")

    compare(DOCS / "pictures" / "examples" / f"{name}.svg", "".join(svg(rows, *size)))


def _named(segment: Segment) -> Segment:
    """Return a piece of a row with the name of the harbour in place of that of the test's folder."""
    text, style, control = segment
    return Segment(re.sub(r"(?:/\S*/)?test_the_pictures_of_\w+", "harbour", text), style, control)


def compare(picture: Path, drawn: str) -> None:
    if os.environ.get("WRITE_SNAPSHOTS"):
        picture.write_text(drawn, encoding="utf-8")
    assert picture.read_text(encoding="utf-8") == drawn, "if this is as it should be: just picture"


def svg(rows: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> Iterator[str]:
    """Yield a picture of rows; the size is that of the screen, in cells."""
    yield from opening(width, height)
    yield from rows
    yield "</g></svg>\n"


def film(frames: Sequence[tuple[float, Sequence[str]]]) -> Iterator[str]:
    """Yield a picture that shows frames one after the other, again and again; each row is drawn once.

    Readers who want no movement see the last frame.

    Args:
        frames: Seconds and rows of each.
    """
    ends = [0.0]
    for seconds, _ in frames:
        ends.append(ends[-1] + seconds)
    shown: dict[str, list[int]] = {}
    for number, (_, rows) in enumerate(frames):
        for row in filter(None, rows):
            shown.setdefault(row, []).append(number)
    spans = sorted({tuple(numbers) for numbers in shown.values()})
    last = len(frames) - 1
    yield from opening()
    yield "<style>\n"
    for number, frame_numbers in enumerate(spans):
        if len(frame_numbers) == len(frames):
            continue
        shows = [each in frame_numbers for each in range(len(frames))]
        marks = [(0.0, shows[0]), *((ends[at], now) for at, (was, now) in enumerate(pairwise(shows), 1) if was != now)]
        steps = " ".join(f"{100 * at / ends[-1]:.2f}%{{opacity:{int(is_on)}}}" for at, is_on in marks)
        yield f"@keyframes k{number}{{{steps} 100%{{opacity:{int(shows[-1])}}}}}\n"
        yield f".k{number}{{animation:k{number} {ends[-1]:.2f}s step-end infinite}}\n"
    yield "@media (prefers-reduced-motion:reduce){g[class]{animation:none}"
    yield (
        "".join(f" .k{number}{{opacity:0}}" for number, each in enumerate(spans) if last not in each) + "}\n</style>\n"
    )
    for row, numbers in shown.items():
        yield f'<g class="k{spans.index(tuple(numbers))}">\n{row}</g>\n'
    yield "</g></svg>\n"


def opening(columns: int = WIDTH, lines: int = HEIGHT) -> Iterator[str]:
    width, height = columns * CELL + 2 * MARGIN, lines * ROW + 2 * MARGIN
    fonts = "DejaVu Sans Mono,Menlo,Consolas,monospace"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">\n'
    yield f'<title>pi at work</title>\n<rect width="100%" height="100%" rx="8" fill="{PAGE}"/>\n'
    yield f'<g font-family="{fonts}" font-size="14" shape-rendering="crispEdges">\n'


def rows_of(strips: Iterable[Strip]) -> list[str]:
    """Return the drawing of each row: a rectangle for each background, a text for each style."""
    return ["".join(row_of(number, strip)) for number, strip in enumerate(strips)]


def row_of(number: int, strip: Strip) -> Iterator[str]:
    x, top, texts = 0, MARGIN + number * ROW, []
    for segment in strip:
        cells, style = cell_len(segment.text), segment.style
        color = hex_of(style.color if style else None, TEXT)
        behind = hex_of(style.bgcolor if style else None, "")
        if style is not None and style.reverse:
            color, behind = behind or PAGE, color
        place = f'x="{MARGIN + x * CELL:.1f}"'
        if behind:
            yield f'<rect {place} y="{top}" width="{cells * CELL:.1f}" height="{ROW}" fill="{behind}"/>\n'
        if segment.text.strip():
            how = f'y="{top + 13}" fill="{color}" textLength="{cells * CELL:.1f}"{attributes(style)}'
            letters = escape(segment.text.replace(" ", NO_BREAK))
            texts.append(f"<text {place} {how}>{letters}</text>\n")
        x += cells
    yield from texts  # after all rectangles of the row: letters may be a little wider than their cells


def attributes(style: Any) -> str:
    """Return the attributes of a style other than colours."""
    if style is None:
        return ""
    named = {"font-weight": "bold" if style.bold else "", "font-style": "italic" if style.italic else ""}
    named |= {"text-decoration": "underline" if style.underline else "", "opacity": "0.6" if style.dim else ""}
    return "".join(f' {name}="{value}"' for name, value in named.items() if value)


def hex_of(color: Any, usual: str) -> str:
    """Return a colour as CSS has it; the usual one for the terminal's own."""
    if color is None or color.is_default:
        return usual
    is_own = color.number is not None and color.number < len(SIXTEEN)
    return SIXTEEN[color.number] if is_own else color.get_truecolor().hex


LARGE, SMALL = (92, 26), (60, 20)
LOOKS: dict[str, tuple[tuple[int, int], str, str, str, str]] = {
    "dark": (LARGE, "dark", "xterm-256color", PAGE, TEXT),
    "light": (LARGE, "light", "xterm-256color", "#ffffff", "#1f1f1f"),
    "16-colours": (LARGE, "system", "xterm", PAGE, TEXT),
    "60x20": (SMALL, "dark", "xterm-256color", PAGE, TEXT),
}
"""Size, theme, terminal, and the terminal's own colours of each set of pictures."""


def approval() -> Approval:
    always = "bash with exactly 'rm -rf charts', as a rule in your settings"
    return Approval(
        "Let bash do this?",
        what="rm -rf charts && git commit -qm 'Drop the charts'",
        why="delete: it deletes folders and everything in them.",
        choices=approval_choices(always=always),
    )


def activities(ctx: Any) -> None:
    agents = [
        ActivityItem("1f0c9a2e  scout  running  3 turns  $0.0123  find the tide tables", open="/a", stop="/b"),
        ActivityItem("77b0e4c1  tester  waiting  0 turns  $0.0000  run the tests", open="/a", stop="/b"),
    ]
    ctx.ui.set_activity("agents", Activity("2 agents working", items=agents))
    ctx.ui.set_activity("processes", Activity("1 process", items=[ActivityItem("ab12cd34  server", open="/a")]))


@pytest.mark.slow
@pytest.mark.pi(entry_points=["tools", "tui"])
@pytest.mark.usefixtures("harbour")
@pytest.mark.parametrize(
    "look", [pytest.param(name, marks=pytest.mark.pi(settings={"theme": facts[1]})) for name, facts in LOOKS.items()]
)
async def test_the_pictures_of_the_screen_are_what_it_displays(
    look, desk, draws, script, pi_session, monkeypatch
) -> None:
    size, _, term, page, letters = LOOKS[look]
    monkeypatch.setattr(sys.modules[__name__], "PAGE", page)
    monkeypatch.setattr(sys.modules[__name__], "TEXT", letters)
    monkeypatch.setattr("pi_tui.screen.spinner.Spinner.frame", "⠹")
    edit = tool_call("edit", path="tide.py", old_text="    return 0", new_text="    return 2 + sin(hour * tau / 12.4)")
    script.turn(text("`tide` is **constant**. I will make it move:"), edit).turn(text("It moves."))
    script.turn(text("The water rises:\n\n| hour | metres |\n| --- | --- |\n| 3.1 | 3.0 |\n\n1. look"), stall())
    environ = {"TERM": term, "HOME": "/home/ada"} | ({} if term == "xterm" else {"COLORTERM": "truecolor"})

    async with desk(size, environ=environ) as user:

        def draw(name: str) -> None:
            rows = rows_of(user.app.screen._compositor.render_strips())
            compare(DOCS / "pictures" / "screen" / f"{name}-{look}.svg", "".join(svg(rows, *size)))

        await pi_session.reload()
        await user.pilot.pause()
        draw("first")
        await user.type(PROMPT, "enter")
        await user.sees("It moves.")
        await user.when(lambda: not user.app.session.is_streaming and user.app.spinner._timer is None)
        draw("diff")
        await user.type("/settings", "enter")
        await user.sees("Reasoning effort")
        draw("selector")
        await user.press("escape")
        await draws.lets(user, lambda ctx: ctx.ui.approve(approval()))
        await user.sees("Always allow")
        draw("approval")
        await user.press("n")
        await draws.lets(user, activities)
        await user.sees("2 agents working · 1 process")
        await user.press("alt+down")
        await user.sees("Running and waiting")
        draw("strip")
        await user.press("escape")
        await user.type("And at noon?", "enter")
        await user.sees("1. look", "⠹")
        draw("stream")
        await user.press("escape")
