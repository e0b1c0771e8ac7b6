"""Which lines no test guards: breaks a module in many places, one at a time, and reports the breaks that pass.

``just bench mutants pi_core/src/pi_core/hooks/dispatcher.py --sample 25 --seed 1``

A mutation negates a condition, changes a comparison, swaps ``and`` and ``or``, changes a number or a truth value, or
drops a statement. Each is tried in a copy of the checkout in a temporary folder, with the tests that concern the module
(``TESTS``, else those of its room or member). One that no test notices is a test that is missing, code that does not
matter, or an equivalent: a program that does the same (a cache that is never hit, a bound moved where nothing lies).

``just bench mutants --faults`` plants the faults of ``faults.toml`` instead, mistakes as programmers make them,
over core and plugins. It measures the suite as a whole, such as before and after tests are rewritten or removed.

mutmut takes the tests' modules for others than its own where sources lie in ``MEMBER/src``; cosmic-ray drops no
statements, knows neither ``elif`` nor ``in``, and brings thirteen dependencies.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from _measure import show_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
FAULTS = Path(__file__).with_name("faults.toml")

TESTS = {
    "pi_core/src/pi_core/hooks/dispatcher.py": (
        "pi_core/tests/hooks",
        "pi_core/tests/host",
        "pi_core/tests/resources/test_resources_in_sessions.py",
        "pi_core/tests/conversation/test_forked_processes.py",
    ),
    "pi_core/src/pi_core/session/tree.py": ("pi_core/tests/session", "pi_core/tests/conversation"),
    "pi_core/src/pi_core/session/writer.py": ("pi_core/tests/session", "plugins/sessions/session-jsonl/tests"),
    "pi_core/src/pi_core/agent/request.py": (
        "pi_core/tests/agent",
        "pi_core/tests/conversation/test_provider_faults.py",
        "pi_core/tests/conversation/test_request_keys.py",
        "pi_core/tests/conversation/test_request_refusal.py",
    ),
}
"""What concerns a module, where that is not ``tests/ROOM`` or ``tests`` of its own member."""

MEMORY = 8 * 2**30
"""Bytes that a run may ask for: a loop that no longer ends must not take the machine."""

COMPARISONS = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
NEGATED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
"""Operators whose entry in ``COMPARISONS`` negates the comparison."""

DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Continue, ast.Break)
NOT_RUN = {"annotation", "returns", "decorator_list", "type_params"}
"""Fields of nodes that say nothing of what a function does."""


class Mutant(NamedTuple):
    """A change of a module's source.

    Attributes:
        line: Where it is, from 1.
        what: The change in words.
        source: The whole module with the change.
    """

    line: int
    what: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """Return every change of a module that still compiles; line numbers stay what they are."""
    found = {}
    for node, new in _changes(ast.parse(source)):
        old = ast.get_source_segment(source, node) or ""
        text = new if isinstance(new, str) else new(source)
        changed = _replaced(source, node, text + "\n" * (old.count("\n") - text.count("\n")))
        try:
            compile(changed, "<mutant>", "exec")
        except SyntaxError:
            continue
        found.setdefault(changed, Mutant(node.lineno, f"{_short(old)}  ->  {_short(text)}", changed))
    return sorted(found.values())


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, object]]:
    """Yield what is replaced, with its new text or a function of the source that returns it."""
    for name, value in ast.iter_fields(tree):
        if name in NOT_RUN:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
                continue
            if name in {"test", "ifs"}:
                yield from _negated(node)
            yield from _changed(node, inside=not isinstance(tree, ast.Module | ast.ClassDef))
            yield from _changes(node)


def _negated(test: ast.expr) -> Iterator[tuple[ast.expr, object]]:
    if isinstance(test, ast.UnaryOp) or (isinstance(test, ast.Compare) and isinstance(test.ops[0], NEGATED)):
        return  # ``_changed`` has the same
    yield test, lambda source: f"(not ({ast.get_source_segment(source, test)}))"


def _changed(node: ast.AST, *, inside: bool) -> Iterator[tuple[ast.expr | ast.stmt, object]]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            new = COMPARISONS[type(operator)]
            yield node, lambda source: f"{_of(source, left)} {new} {_of(source, right)}"
        case ast.BoolOp(op=operator, values=values):
            word = " or " if isinstance(operator, ast.And) else " and "
            yield node, lambda source: f"({word.join(_of(source, each) for each in values)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, lambda source: _of(source, operand)
        case ast.Constant(value=bool() as value):
            yield node, str(not value)
        case ast.Constant(value=int() | float() as value):
            yield node, str(value + 1)
        case ast.Expr(value=ast.Constant()):
            return  # a docstring
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield node, "return None"
        case ast.stmt() if inside and isinstance(node, DROPPED):
            yield node, "pass"


def _of(source: str, node: ast.expr) -> str:
    return f"({ast.get_source_segment(source, node)})"


def _replaced(source: str, node: ast.expr | ast.stmt, text: str) -> str:
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = source.encode()
    return (whole[:start] + text.encode() + whole[end:]).decode()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


class Copy:
    """The checkout as it is, changes that are not committed included, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.output = folder / "output.txt"
        self._bytecode = folder / "bytecode"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        sources = [str(each) for each in self.tree.glob("**/src") if "examples" not in each.parts]
        self._environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sources),  # before the editable installs of the checkout
            "PYTHONPYCACHEPREFIX": str(self._bytecode),
        }

    def passes(self, module: str, source: str, tests: Sequence[str], seconds: float) -> bool:
        """Return whether the tests pass with this source; a run that takes longer is ended, and did not."""
        file = self.tree / module
        original = file.read_text(encoding="utf-8")
        try:
            file.write_text(source, encoding="utf-8")
            for stale in self._bytecode.rglob(f"{file.stem}.*.pyc"):
                stale.unlink()
            return self._run(tests, seconds) == 0
        finally:
            file.write_text(original, encoding="utf-8")

    def _run(self, tests: Sequence[str], seconds: float) -> int:
        options = ("-x", "-q", "-n0", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--hypothesis-profile=unshrunk")
        with self.output.open("wb") as output:
            run = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, *tests],
                cwd=self.tree,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            if hasattr(resource, "prlimit"):
                resource.prlimit(run.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
            return run.wait(seconds)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()


def tests_of(module: str) -> tuple[str, ...]:
    """Return the paths of the tests that concern a module, given by its path in the checkout."""
    if module in TESTS:
        return TESTS[module]
    member, _, inside = module.partition("/src/")
    room = Path(member, "tests", *Path(inside).parts[1:-1])
    return (room.as_posix() if (ROOT / room).is_dir() else f"{member}/tests",)


def try_module(copy: Copy, module: str, tests: Sequence[str], sample: int, seed: int) -> list[tuple[str, str, str]]:
    """Return a row of place, mutation and outcome for each mutation of a sample."""
    source = (copy.tree / module).read_text(encoding="utf-8")
    seconds = _seconds_allowed(copy, module, source, tests)
    known = mutants(source)
    chosen = sorted(random.Random(seed).sample(known, min(sample, len(known))))  # noqa: S311 - no secret, a sample
    rows = []
    for number, mutant in enumerate(chosen, 1):
        outcome = "NOT NOTICED" if copy.passes(module, mutant.source, tests, seconds) else "noticed"
        print(f"{number}/{len(chosen)} {module}:{mutant.line} {outcome}", file=sys.stderr, flush=True)
        rows.append((f"{Path(module).name}:{mutant.line}", outcome, mutant.what))
    return rows


def _seconds_allowed(copy: Copy, module: str, source: str, tests: Sequence[str]) -> float:
    """Return how long the tests may take with a mutation; exit if they fail without."""
    started = time.monotonic()
    if not copy.passes(module, source, tests, 600):
        sys.exit(f"{copy.output.read_text()[-3000:]}\nThe tests of {module} do not pass as it is: {' '.join(tests)}")
    return 3 * (time.monotonic() - started) + 30


def plant_faults(copy: Copy, faults: Sequence[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Return a row of file, fault and outcome for each fault of the table; exit if one does not fit the code."""
    stale = [fault["what"] for fault in faults if (ROOT / fault["file"]).read_text().count(fault["old"]) != 1]
    if stale:
        sys.exit(f"{FAULTS}: the old text does not occur once in its file: {'; '.join(stale)}")
    seconds: dict[tuple[str, ...], float] = {}
    rows = []
    for number, fault in enumerate(faults, 1):
        tests = (*fault["tests"], *(("-k", fault["select"]) if "select" in fault else ()))
        tests = (*tests, "-m", "slow or not slow") if fault.get("slow") else tests
        source = (copy.tree / fault["file"]).read_text(encoding="utf-8")
        if tests not in seconds:
            seconds[tests] = _seconds_allowed(copy, fault["file"], source, tests)
        changed = source.replace(fault["old"], fault["new"])
        outcome = "NOT NOTICED" if copy.passes(fault["file"], changed, tests, seconds[tests]) else "noticed"
        print(f"{number}/{len(faults)} {outcome}: {fault['what']}", file=sys.stderr, flush=True)
        rows.append((Path(fault["file"]).name, outcome, fault["what"]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="paths of modules, or of folders of them, in this checkout")
    parser.add_argument("--faults", action="store_true", help=f"plant the faults of {FAULTS.name}")
    parser.add_argument("--sample", type=int, default=25, help="mutations of each module (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another number takes other samples")
    parser.add_argument("--tests", nargs="+", help="what to run instead of the tests of the table or the room")
    given = parser.parse_args()
    if bool(given.modules) == given.faults:
        parser.error("give either modules or --faults")
    files = [file for each in given.modules for file in ([*Path(each).glob("*.py")] if Path(each).is_dir() else [each])]
    modules = [Path(file).resolve().relative_to(ROOT).as_posix() for file in files]
    with tempfile.TemporaryDirectory(prefix="pi-mutants-") as folder:
        copy = Copy(Path(folder))
        if given.faults:
            rows = plant_faults(copy, tomllib.loads(FAULTS.read_text(encoding="utf-8"))["fault"])
            noticed = sum(outcome == "noticed" for _, outcome, _ in rows)
            show_table(f"{noticed} of {len(rows)} faults noticed", ["file", "", "fault"], rows)
        for module in modules:
            tests = given.tests or tests_of(module)
            rows = try_module(copy, module, tests, given.sample, given.seed)
            missed = sum(outcome != "noticed" for _, outcome, _ in rows)
            title = f"{module}: {len(rows)} mutations, {missed} not noticed by {' '.join(tests)}"
            show_table(title, ["place", "", "mutation"], rows)


if __name__ == "__main__":
    main()
