"""``pi eval``: its options, its output and its exit code."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from pi_core import check_output_file, clean_text, run_until_signal, write_output_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core import PluginHost
    from pi_eval.outcome import CaseOutcome, Outcome
    from pi_eval.plan import Plan
    from pi_eval.run import Record, Task

__all__ = ["run"]

_HELP = """Run each prompt in FILE several times, every time in a new folder,
check what pi did, and compare the pass rates with a baseline. FILE can be
local-tasks: small tasks that show what a model can do.

Exit code 3: a prompt is worse than in the baseline. 1: the pass rate of a prompt
is below its "pass"; without that and without a baseline, a run failed."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi eval``; return the exit code.

    Raises:
        click.UsageError: The arguments are wrong.
    """
    from pi_eval.plan import InvalidFile

    try:
        result = _command(host).main(arguments, prog_name="pi eval", standalone_mode=False)
    except InvalidFile as error:
        sys.stderr.write("".join(f"{clean_text(line)}\n" for line in error.problems))
        return 2
    return int(result or 0)


def _command(host: PluginHost) -> click.Command:
    def callback(**given: Any) -> int:
        return _run(host, **given)

    return click.Command(
        "eval",
        callback=callback,
        help=_HELP,
        params=[
            click.Argument(["file"], type=click.Path(path_type=Path)),
            click.Option(["--model"], metavar="MODEL", help="Use this model instead of the file's"),
            click.Option(
                ["--disable"], metavar="PLUGIN", multiple=True, help="Do not load this plugin; may be repeated"
            ),
            click.Option(["--repeats"], type=click.IntRange(min=1), help="Runs of each prompt, instead of the file's"),
            click.Option(
                ["--concurrency"], type=click.IntRange(min=1), default=4, show_default=True, help="Runs at once"
            ),
            click.Option(["--baseline"], type=click.Path(path_type=Path), help="Compare with this earlier outcome"),
            click.Option(["--save"], type=click.Path(path_type=Path), help="Write the outcome, as a later baseline"),
            click.Option(["--junit"], type=click.Path(path_type=Path), help="Write the outcome as JUnit XML, for CI"),
            click.Option(["--json", "as_json"], is_flag=True, help="Print the outcome as JSON"),
        ],
    )


def _run(
    host: PluginHost,
    *,
    file: Path,
    model: str | None,
    disable: tuple[str, ...],
    repeats: int | None,
    concurrency: int,
    baseline: Path | None,
    save: Path | None,
    junit: Path | None,
    as_json: bool,
) -> int:
    from pi_eval.outcome import Outcome, read_baseline
    from pi_eval.plan import read_plan

    for option, path in (("--save", save), ("--junit", junit)):
        if path is not None:
            check_output_file(option, path)
    plan = read_plan(file)
    if repeats is not None:
        plan = evolve(plan, cases=tuple(evolve(each, repeats=repeats) for each in plan.cases))
    known = baseline if baseline is not None else plan.baseline
    before = read_baseline(known) if known is not None else None
    model = model or plan.model
    left_out = sorted({*host.disabled_for_run, *disable})
    records = run_until_signal(_all(_tasks(plan, model, left_out, host), concurrency, bool if as_json else _progress))
    outcome = Outcome.of(plan, model, records, before)
    text = json.dumps(outcome.as_json(), indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(text if as_json else "\n".join(_lines(outcome)) + "\n")  # first: it is paid for
    if save is not None:
        write_output_file(save, text.encode())
    if junit is not None:
        from pi_eval.junit import junit as as_junit

        write_output_file(junit, as_junit(outcome))
    return outcome.exit_code


def _tasks(plan: Plan, model: str | None, left_out: list[str], host: PluginHost) -> list[Task]:
    from pi_eval.run import Task

    chosen = ("--model", model) if model is not None else ()
    arguments = (*chosen, *(part for name in left_out for part in ("--disable", name)))
    sessions = host.settings.agent_dir / "evals" / f"{plan.file.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    return [
        Task(case=case, number=number, arguments=arguments, sessions=sessions)
        for case in plan.cases
        for number in range(1, case.repeats + 1)
    ]


async def _all(tasks: list[Task], at_once: int, say: Callable[[Record], object]) -> list[Record]:
    from pi_eval.run import run_one
    from pi_process_kit import LocalEngine, run_tasks

    return await run_tasks(LocalEngine(run_one, at_once), tasks, say)


def _progress(record: Record) -> None:
    if sys.stderr.isatty():
        state = "passed" if record.passed else "failed"
        sys.stderr.write(f"{clean_text(record.case)}, run {record.number}: {state}, {record.seconds:.1f} s\n")


def _lines(outcome: Outcome) -> list[str]:
    lines = []
    for each in outcome.cases:
        passed, runs = each.counts
        numbers = each.as_json()
        low, high = numbers["interval"]
        state = "REGRESSION" if each.is_regression else "FAILED" if each.has_failed else "ok"
        lines.append(
            f"{state:<10}  {passed}/{runs} passed ({low:.0%} to {high:.0%}){_before(each)}"
            f"  {numbers['dollars']:.4f} dollars  {clean_text(each.case.name)}"
        )
        lines += [f"            {clean_text(line)}" for line in each.failures()]
    total = outcome.as_json()["total"]
    low, high = total["interval"]
    lines += ["", f"{total['passed']} of {total['runs']} runs passed ({low:.0%} to {high:.0%} with 95 % confidence)."]
    if outcome.regressions:
        names = clean_text(", ".join(outcome.regressions))
        lines.append(f"Worse than the baseline: {names}.")
    return lines


def _before(case: CaseOutcome) -> str:
    return "" if case.before is None else f", before {case.before[0]}/{case.before[1]}"
