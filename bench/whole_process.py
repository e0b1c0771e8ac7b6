"""What a long answer costs the whole ``pi -p``, beside the original: ``uv run python bench/whole_process.py``.

From the start of the process to its end, against a fake server that sends its answer in one burst: 20,000 deltas of
text, and a call whose argument is 100 KB in deltas of 16 characters. No tool is offered, so the call is refused and
nothing is written. The original and ours take turns. Bars are parts of the original's time: 0.75 and 0.1.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _fake import DELTA, fake_server, prompt
from _peer import Row, ask, compare, compile_and_say, options, programs

if TYPE_CHECKING:
    from _fake import Fake
    from _peer import Program, Run

DELTAS = 20_000
ARGUMENT = 100 * 1024 // len(DELTA)


def rows(fake: Fake, *, cpu: bool) -> list[Row]:
    def figure(done: Run) -> float:
        return done.cpu if cpu else done.wall

    def text(program: Program) -> float:
        done = ask(program, prompt(DELTAS))
        assert len(fake.requests()) == 1
        assert done.output.strip() == (DELTA * DELTAS).strip(), f"{program.name} did not print the answer"
        return figure(done)

    def argument(program: Program) -> float:
        done = ask(program, prompt(ARGUMENT, "argument"))
        assert len(fake.requests()) == 2, "the call and what follows it"
        assert done.output.strip() == DELTA.strip()
        return figure(done)

    return [
        Row(f"{DELTAS:,} deltas of text", text, None if cpu else 0.75),
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
