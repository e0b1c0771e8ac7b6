"""What a whole ``pi -p`` costs next to the original: ``uv run python bench/whole_process.py``.

From the start of the process to its end, against a fake server that sends its answers in one burst: a short text,
20,000 deltas of text, 50 turns that each read a small file, and a call whose argument is 100 KB in deltas of 16
characters; for that one no tool is offered, so the call is refused and nothing is written. The original and ours take
turns. Bars are parts of the original's time: 0.6 for the text and the turns, 0.58 for the deltas, 0.1 for the argument.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _fake import DELTA, fake_server, prompt, turns_prompt
from _peer import Row, ask, compare, compile_and_say, options, programs

if TYPE_CHECKING:
    from collections.abc import Callable

    from _fake import Fake
    from _peer import Program, Run

DELTAS = 20_000
TURNS = 50
ARGUMENT = 100 * 1024 // len(DELTA)


def rows(fake: Fake, *, cpu: bool) -> list[Row]:
    def figure(done: Run) -> float:
        return done.cpu if cpu else done.wall

    def text(deltas: int) -> Callable[[Program], float]:
        def measure(program: Program) -> float:
            done = ask(program, prompt(deltas))
            assert len(fake.requests()) == 1
            assert done.output.strip() == (DELTA * deltas).strip(), f"{program.name} did not print the answer"
            return figure(done)

        return measure

    def turns(program: Program) -> float:
        Path(program.environ["PWD"], "small.txt").write_text("one\ntwo\n", encoding="utf-8")
        done = ask(program, turns_prompt("small.txt", TURNS), tools=True)
        assert len(fake.requests()) == TURNS + 1, f"{program.name} did not run {TURNS} calls"
        return figure(done)

    def argument(program: Program) -> float:
        done = ask(program, prompt(ARGUMENT, "argument"))
        assert len(fake.requests()) == 2, "the call and what follows it"
        assert done.output.strip() == DELTA.strip()
        return figure(done)

    return [
        Row("one delta of text", text(1), None if cpu else 0.6),
        Row(f"{DELTAS:,} deltas of text", text(DELTAS), None if cpu else 0.58),
        Row(f"{TURNS} turns that read a file", turns, None if cpu else 0.6),
        Row(
            f"an argument of 100 KB, {ARGUMENT:,} deltas (the original once)",
            argument,
            None if cpu else 0.1,
            peer_rounds=1,
        ),
    ]


def main() -> None:
    chosen = options(__doc__ or "", rounds=5)
    compile_and_say()
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        found = programs(chosen, Path(name), fake.url)
        compare("The whole process, wall time", "ms", rows(fake, cpu=False), found, chosen.rounds)
        compare("The whole process, CPU time", "ms", rows(fake, cpu=True), found, min(chosen.rounds, 3))


if __name__ == "__main__":
    main()
