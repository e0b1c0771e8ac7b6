"""What extensions in TypeScript cost, compared with the original: ``uv run --group dev python bench/typescript.py``.

The same files run in both, with the same Node.js. Compared with the original are the first request with one extension
that has a handler of ``tool_call``, and a key through a component that an extension draws: nine in ten of them. The
other figures are ours, with and without in turn: what one extension adds to the first request, and the plugin to a
start without extensions; what a hook and a tool take (a turn with a call of ``read``, from request to request, with a
guard, and with a tool of that name in TypeScript, less the same turn without extensions); the share of all CPU time
that an extension with a handler of ``message_update`` takes of an answer in 20,000 deltas, by the fastest of many such
answers with and without in turn; and the memory of the process of five extensions.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from _fake import fake_server, prompt, turns_prompt
from _measure import show
from _peer import MODEL, NODE, VERSION, Row, cache, compare, compile_and_say, options, programs, run
from _pty import terminal

import pi_typescript
from pi_core import SessionManager, create_agent_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _fake import Fake
    from _peer import Program, Run

GUARD = """
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event) => {
    const command: unknown = event.input.command;
    if (event.toolName === "bash" && String(command).includes("rm -rf")) return { block: true, reason: "no" };
  });
}
"""
READ = """
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.registerTool({
    name: "read", label: "read", description: "Reads",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as any,
    execute: async () => ({ content: [{ type: "text", text: "one line" }], details: undefined }),
  });
}
"""
DELTAS = """
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  let seen = 0;
  pi.on("message_update", async () => { seen++; });
}
"""
ECHO = """
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.registerCommand("echo", {
    description: "Shows keys",
    handler: (_args, ctx) => ctx.ui.custom<void>((tui, _theme, _keys, done) => {
      let typed = 0;
      return {
        render: () => [`typed ${String.fromCharCode(65 + (typed % 26))}`],
        handleInput(data: string) { typed++; if (data === "q") done(); tui.requestRender(); },
        invalidate() {},
      };
    }),
  });
}
"""
KEYS = 60
TURNS = 40
DELTAS_OF_ANSWER = 20_000
PAIRS = 5
"""Pairs of answers in deltas for each round."""
HOST = Path(pi_typescript.__file__).parent / "host" / "main.js"


class Files:
    """The extensions of a program; one at a time is there, each in a file of its own, so that it stays known."""

    def __init__(self, program: Program) -> None:
        self._folder = Path(program.environ["PI_CODING_AGENT_DIR"], "extensions")
        self._folder.mkdir(exist_ok=True)

    def set(self, source: str | None) -> None:
        """Write an extension, or remove the one that is there."""
        file = self._folder / f"bench-{crc32((source or '').encode()):08x}.ts"
        for each in self._folder.glob("*.ts"):
            if each != file:
                each.unlink()
        if source is not None and not file.exists():
            file.write_text(source)


class Measures:
    """Single measurements of a program with an extension, or with none."""

    def __init__(self, fake: Fake, found: Sequence[Program]) -> None:
        self._fake = fake
        self._files = {each.name: Files(each) for each in found}
        self._known: set[tuple[str, str]] = set()

    def first_request(self, program: Program, source: str | None, *flags: str) -> float:
        """Return the milliseconds from the start to the first request."""
        started = self._ask(program, source, prompt(1), *flags).started
        return float(self._fake.requests()[0]["at"] - started) / 1e6

    def turn(self, program: Program, source: str | None) -> float:
        """Return the milliseconds from request to request, with a call of ``read`` between them."""
        Path(program.environ["PWD"], "read.txt").write_text("one line\n")
        self._ask(program, source, turns_prompt("read.txt", TURNS))
        at = [each["at"] for each in self._fake.requests()]
        return statistics.median(later - one for one, later in pairwise(at)) / 1e6

    async def share(self, program: Program, source: str, pairs: int) -> float:
        """Return the part of all CPU time that an extension takes of an answer in deltas.

        Most of what one such answer takes more than another is the computer's, which may add half of it to any. The
        answers with the extension and without it follow each other in one process, first one and then the other first,
        and the fastest quarter of each counts: of 45 pairs, its mean varies half as much as that of all.
        """
        taken: dict[str | None, list[float]] = {source: [], None: []}
        for number in range(pairs + 1):  # the first pair does not count
            for each in (source, None) if number % 2 else (None, source):
                self._files[program.name].set(each)
                cpu = await _cpu_of_answer(program)
                self._fake.requests()
                if number:
                    taken[each].append(cpu)
        return 1 - _fastest(taken[None]) / _fastest(taken[source])

    def key(self, program: Program) -> float:
        """Return the milliseconds from a key to the screen in which nine of ten are visible."""
        self._files[program.name].set(ECHO)
        with terminal(program, ["--no-session", "--model", MODEL]) as screen:
            screen.until_ready("──")
            screen.send("/echo")
            screen.until_quiet()
            screen.send("\r")
            screen.until("typed A")
            screen.until_quiet()
            took = []
            for number in range(1, KEYS + 1):
                screen.read_for(0.05)  # nobody types faster
                took.append(screen.key("x", chr(65 + number % 26)))
        return statistics.quantiles(took, n=10)[-1]

    def _ask(self, program: Program, source: str | None, text: str, *flags: str) -> Run:
        self._files[program.name].set(source)
        arguments = ("--no-session", *flags, "--model", MODEL, "-p")
        if source is not None and (program.name, source) not in self._known:
            run(program, *arguments, prompt(1))  # what an extension registers is known from now on
            self._fake.requests()
            self._known.add((program.name, source))
        return run(program, *arguments, text)


async def _cpu_of_answer(program: Program) -> float:
    """Return the milliseconds of CPU, of pi and of the process of extensions, that an answer in deltas takes."""
    async with create_agent_session(
        cwd=program.environ["PWD"],
        agent_dir=program.environ["PI_CODING_AGENT_DIR"],
        model=MODEL,
        session_manager=SessionManager.in_memory(),
        environ=program.environ,
    ) as session:
        for _ in range(2):  # starts the process of extensions, and lets it and this one compile what they need
            await session.prompt(prompt(1))
            await asyncio.sleep(0.2)
        before = time.process_time() + _cpu_of_extensions()
        answer = await session.prompt(prompt(DELTAS_OF_ANSWER))
        taken = time.process_time() + _cpu_of_extensions() - before
    if answer is None or answer.stop_reason != "stop":
        raise RuntimeError("The answer failed, and its CPU means nothing")
    return 1000 * taken


def _cpu_of_extensions() -> float:
    """Return the seconds of CPU that running processes of extensions have taken; the system counts nanoseconds."""
    taken = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if str(HOST).encode() in (folder / "cmdline").read_bytes():
                taken += sum(int(each.read_text().split()[0]) for each in folder.glob("task/*/schedstat"))
    return taken / 1e9


def _fastest(figures: Sequence[float]) -> float:
    """Return the mean of the fastest quarter."""
    return statistics.mean(sorted(figures)[: max(1, len(figures) // 4)])


def alone(measures: Measures, ours: Program, rounds: int) -> list[tuple[str, float, float | None]]:
    """Return what extensions add to ours: the best of each figure, measured in turn.

    Turns are measured more often: what a hook adds is a tenth of one, and two turns without it may differ by more.
    """
    taken: dict[str, list[float]] = {}
    starts: dict[str, Callable[[], float]] = {
        "first": lambda: measures.first_request(ours, GUARD),
        "none": lambda: measures.first_request(ours, None),
        "disabled": lambda: measures.first_request(ours, None, "--disable", "typescript"),
    }
    turns: dict[str, Callable[[], float]] = {
        "hook": lambda: measures.turn(ours, GUARD),
        "tool": lambda: measures.turn(ours, READ),
        "turn": lambda: measures.turn(ours, None),
    }
    for _ in range(rounds):
        for name, measure in [*starts.items(), *turns.items(), *turns.items(), *turns.items()]:
            taken.setdefault(name, []).append(measure())
    best = {name: min(figures) for name, figures in taken.items()}
    share = asyncio.run(measures.share(ours, DELTAS, PAIRS * rounds))
    return [
        ("first request with one extension, of without", best["first"] / best["none"], 1.05),
        ("start without extensions, of without the plugin", best["none"] / best["disabled"], 1.02),
        ("a hook, ms", best["hook"] - best["turn"], 0.3),
        ("a tool, ms", best["tool"] - best["turn"], 2.0),
        ("CPU of a handler at 20,000 deltas, % of all", 100 * share, 5.0),
    ]


def memory(folder: Path, node: Path) -> float:
    """Return the megabytes (PSS) of the process of five extensions that was started before, so that caches are full."""
    plugins = []
    for number in range(5):
        file = folder / f"guard-{number}.ts"
        file.write_text(GUARD)
        plugins.append({"name": file.stem, "file": str(file)})
    start = {"type": "start", "plugins": plugins, "packages": None, "agentDir": str(folder), "state": {}}
    pss = 0.0
    for _ in range(2):
        pipes = f'export NODE_COMPILE_CACHE="{folder}/node"; exec "$@" 3>&1 4<&0 1>&2 0</dev/null'
        command = ["/bin/sh", "-c", pipes, "sh", str(node), "--no-warnings", str(HOST)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps(start).encode() + b"\n")
            child.stdin.flush()
            assert any(b'"ready"' in line for line in child.stdout)
            time.sleep(0.5)  # what only the start needed is collected
            rollup = Path(f"/proc/{child.pid}/smaps_rollup").read_text(encoding="ascii")
            pss = int(rollup.split("Pss:")[1].split()[0]) / 1024
            child.stdin.close()
    return pss


def main() -> None:
    chosen = options(__doc__ or "", rounds=9)
    compile_and_say()
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        found = programs(chosen, Path(name), fake.url)
        node = (chosen.peer_dir or cache() / f"pi-{VERSION}") / NODE
        if node.exists():
            settings = Path(found[0].environ["PI_CODING_AGENT_DIR"], "settings.json")
            settings.write_text(json.dumps({"typescript": {"node": str(node)}}))
        measures = Measures(fake, found)
        rows = [
            Row("first request, one extension", lambda program: measures.first_request(program, GUARD), 0.65),
            Row("a key through a component, p90", measures.key, 1.5),
        ]
        compare(f"Extensions in TypeScript, {MODEL}", "ms", rows, found, chosen.rounds)
        figures = alone(measures, found[0], chosen.rounds)
        figures.append(("memory of the process of five extensions, MB PSS", memory(Path(name), node), 90.0))
        show("What they cost in ours", "", figures)


if __name__ == "__main__":
    main()
