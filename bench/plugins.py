"""What fifty plugins cost at the start, and twenty listeners at each delta: ``uv run python bench/plugins.py``.

Start: milliseconds from the start of ``pi -p`` to the moment at which a fake server has the whole request, with fifty
more plugins installed and with none, taking turns, everything compiled and indexed before; the tools of twenty are in
that request, the hooks of twenty are listening. Then a program that embeds pi, from its start until the session is
open; what ``create_agent_session`` alone takes of that, and takes once more in the same process. The bar is 1.3 times
the time without them.

Deltas: CPU time that twenty implementations of ``message_update`` add to a delta in a real session, as a part of a
second in which a hundred deltas arrive. Measured in a burst: to wake up for a lone delta costs more than all of them,
and differs from one moment to the next by as much. The bar is 1 %.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _fake import DELTA, fake_server, prompt
from _fifty import LISTENERS, PLUGINS, PROVIDERS, TOOLS, install_fifty
from _measure import cpu_per_step, show_table, verdict
from _peer import MODEL as CLAUDE
from _peer import Program, compile_and_say, our_program, run
from stream import MODEL, Burst

from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from _fake import Fake

    Start = tuple[str, list[float], list[float]]
    """What is timed, and the milliseconds without the fifty and with them."""

START_BAR = 1.3
FIRST_REQUEST = "pi -p to the first request"
OPEN_SESSION = "a program, to its open session"
JUDGED = (FIRST_REQUEST, OPEN_SESSION)
DELTA_BAR = 1.0
DELTAS = 5_000
PER_SECOND = 100

SESSION = """
import asyncio, json, time

from pi_core import create_agent_session

async def main():
    report = {}
    for what in ("first", "next"):
        started = time.perf_counter()
        async with create_agent_session(model="offline/rules") as session:
            report[what] = (time.perf_counter() - started) * 1000
            report.setdefault("open", time.monotonic_ns())
            report["tools"] = len([name for name in session.get_active_tools() if name.startswith("count_")])
            report["listening"] = len({
                each.plugin
                for hook in ("tool_call", "context", "message_end", "tool_result", "session_start")
                for each in session.hooks.implementations(hook)
                if each.plugin.startswith("bench_listener")
            })
            report["providers"] = len([each for each in session.models.get_providers() if each.startswith("vendor-")])
    print(json.dumps(report))

asyncio.run(main())
"""
"""A program that embeds pi; it prints how long it took and what the session has of the fifty plugins."""


# Start


def starts(ours: Program, fake: Fake, crowd: Path, plain: Path, rounds: int) -> list[Start]:
    python = Program("python", (sys.executable,), ours.environ)
    took: dict[tuple[str, Path], list[float]] = {}
    for number in range(rounds + 1):  # the first writes the index and fills caches
        for site in (plain, crowd):
            for what, figure in _one_start(fake, ours, python, site).items():
                if number:
                    took.setdefault((what, site), []).append(figure)
    return [(what, took[what, plain], took[what, crowd]) for what, site in took if site is plain]


def _one_start(fake: Fake, ours: Program, python: Program, site: Path) -> dict[str, float]:
    environ = {"PYTHONPATH": str(site)}
    done = run(ours, "--no-session", "--model", CLAUDE, "-p", prompt(1), environ=environ)
    (request,) = fake.requests()
    program = run(python, "-c", SESSION, environ=environ)
    report = json.loads(program.output)
    expected = (TOOLS, LISTENERS, PROVIDERS) if any(site.iterdir()) else (0, 0, 0)
    found = (report["tools"], report["listening"], report["providers"])
    assert found == expected, (found, expected)
    return {
        FIRST_REQUEST: (request["at"] - done.started) / 1e6,
        "the whole pi -p, CPU": done.cpu,
        OPEN_SESSION: (report["open"] - program.started) / 1e6,
        "create_agent_session of that, the first": report["first"],
        "create_agent_session, the next": report["next"],
    }


def show_starts(rows: list[Start], rounds: int) -> None:
    lines = []
    for what, without, crowded in rows:
        ratio = min(crowded) / min(without)
        each = (min(crowded) - min(without)) / PLUGINS
        figures = (min(without), statistics.median(without), min(crowded), statistics.median(crowded))
        bar, word = (f"{START_BAR:.2f}", verdict(ratio, START_BAR)) if what in JUDGED else ("", "")
        lines.append([what, *(f"{figure:.1f}" for figure in figures), f"{each:.2f}", f"{ratio:.2f}", bar, word])
    heads = ["", "none ms", "median", f"{PLUGINS} ms", "median", "per plugin", "ratio", "bar", ""]
    show_table(f"Start with {PLUGINS} plugins and with none, best and median of {rounds}", heads, lines)


# Deltas


class Plain:
    """A plugin that counts letters, in a plain function."""

    letters = 0

    @hookimpl
    def message_update(self, event):  # noqa: ANN001, ANN201 - as a plugin's author writes it
        """Count."""
        if event.assistant_message_event.type == "text_delta":
            self.letters += len(event.assistant_message_event.delta)


class Async:
    """The same in a coroutine function, which also takes the context."""

    letters = 0

    @hookimpl
    async def message_update(self, event, ctx):  # noqa: ANN001, ANN201 - as above
        """Count."""
        if event.assistant_message_event.type == "text_delta":
            self.letters += len(event.assistant_message_event.delta)


async def stream(deltas: int, listening: list[Any]) -> None:
    settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
    host = PluginHost(settings, installed=False)
    named = {"burst": Burst(deltas), **{f"listener-{number}": each for number, each in enumerate(listening)}}
    before = sum(each.letters for each in listening)
    async with create_agent_session(settings=settings, host=host, plugins=named, model=MODEL) as session:
        await session.prompt("go")
    received = sum(each.letters for each in listening) - before
    assert received == len(listening) * deltas * len(DELTA), received


def show_deltas() -> None:
    crowds: list[tuple[str, list[Any]]] = [
        ("no plugin", []),
        ("one plain implementation", [Plain()]),
        (f"{LISTENERS} plain ones", [Plain() for _ in range(LISTENERS)]),
        (f"{LISTENERS} asynchronous ones", [Async() for _ in range(LISTENERS)]),
    ]
    lines, floor = [], 0.0
    for who, listening in crowds:
        figure = cpu_per_step(partial(stream, listening=listening), DELTAS)
        floor = floor or figure
        part = (figure - floor) * PER_SECOND / 1e6 * 100
        bar, word = (f"{DELTA_BAR:.2f}", verdict(part, DELTA_BAR)) if listening else ("", "")
        lines.append([who, f"{figure:.2f}", f"{figure - floor:.2f}", f"{part:.3f}", bar, word])
    heads = ["", "us a delta", "us added", f"% of a second of {PER_SECOND}", "bar", ""]
    show_table(f"Implementations of message_update, CPU over {DELTAS:,} deltas", heads, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11, help="of each start, of which the best counts (default: 11)")
    rounds = parser.parse_args().rounds
    compile_and_say()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        crowd, plain = folder / "crowd", folder / "plain"
        install_fifty(crowd)
        plain.mkdir()
        with fake_server(folder) as fake:
            ours = our_program(folder, fake.url)
            show_starts(starts(ours, fake, crowd, plain, rounds), rounds)
    show_deltas()


if __name__ == "__main__":
    main()
