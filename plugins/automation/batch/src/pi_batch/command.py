"""``pi batch``: its options, its progress and its exit code."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define, evolve

from pi_core import clean_text, run_until_signal
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_batch.limits import Ledger, Limits, LocalLimits
    from pi_batch.ray import RayLimits
    from pi_batch.record import Record
    from pi_batch.results import Results
    from pi_batch.run import Setup
    from pi_batch.tasks import Task
    from pi_core import PluginHost
    from pi_process_kit import Engine, LocalEngine, StopTasks

__all__ = ["run"]

_HELP = """Run the tasks in a JSON lines, CSV or Parquet file, each in its own pi
process and folder, and write results, sessions and patches to a folder.

Exit code 0: all tasks were run. 1: some failed in all attempts. 2: invalid
usage, or tasks that cannot be run. 4: the budget is used up."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi batch``; return the exit code.

    Raises:
        click.UsageError: The arguments are wrong.
    """
    from pi_batch.tasks import BadTasks

    try:
        result = _command(host).main(arguments, prog_name="pi batch", standalone_mode=False)
    except BadTasks as error:
        sys.stderr.write("".join(f"{clean_text(line)}\n" for line in error.problems))
        return 2
    except UserError as error:
        sys.stderr.write(f"{clean_text(str(error))}\n")
        return 2
    return int(result or 0)


def _command(host: PluginHost) -> click.Command:
    def callback(**given: Any) -> int:
        return _run(host, _Options(**given))

    one, zero = click.IntRange(min=1), click.IntRange(min=0)
    return click.Command(
        "batch",
        callback=callback,
        help=_HELP,
        params=[
            click.Argument(["tasks"], type=click.Path(path_type=Path)),
            click.Option(["--out"], type=click.Path(path_type=Path), required=True, help="Folder for the results"),
            click.Option(["--concurrency"], type=one, default=4, show_default=True, help="Tasks that run at once"),
            click.Option(["--resume"], is_flag=True, help="Continue with the results in the folder"),
            click.Option(["--retries"], type=zero, default=2, show_default=True, help="Further attempts of a task"),
            click.Option(["--max-cost"], type=click.FloatRange(min=0, min_open=True), help="Dollars for all tasks"),
            click.Option(
                ["--engine"],
                type=click.Choice(["local", "ray"]),
                default="local",
                show_default=True,
                help="Where tasks run: this machine, or a Ray cluster",
            ),
            click.Option(
                ["--task-cpus"],
                type=click.FloatRange(min=0),
                default=1,
                show_default=True,
                help="CPUs that Ray reserves for a task",
            ),
            click.Option(
                ["--format", "table"],
                type=click.Choice(["jsonl", "csv", "parquet"]),
                default="jsonl",
                show_default=True,
                help="Format of the results; csv and parquet are written next to results.jsonl",
            ),
            click.Option(["--repo-at"], metavar="COMMIT", help="For tasks without repo: this folder at a commit"),
            click.Option(["--model"], metavar="MODEL", help="Model for tasks that set none"),
            click.Option(
                ["--disable"], metavar="PLUGIN", multiple=True, help="Do not load this plugin; may be repeated"
            ),
            click.Option(
                ["--timeout"],
                type=click.FloatRange(min=1),
                default=3600,
                show_default=True,
                help="Time limit of an attempt in seconds",
            ),
        ],
    )


@define(kw_only=True)
class _Options:
    tasks: Path
    out: Path
    concurrency: int
    resume: bool
    retries: int
    max_cost: float | None
    repo_at: str | None
    model: str | None
    disable: tuple[str, ...]
    engine: str
    task_cpus: float
    table: str
    timeout: float


def _run(host: PluginHost, options: _Options) -> int:
    from pi_batch.limits import Ledger
    from pi_batch.parquet import check_pyarrow
    from pi_batch.results import Results
    from pi_batch.run import Setup
    from pi_batch.tasks import read_tasks
    from pi_core import PluginSecrets

    if options.table == "parquet":
        check_pyarrow()
    tasks = _with_repo(read_tasks(options.tasks), options.repo_at)
    disabled = sorted({*host.disabled_for_run, *options.disable})
    out = options.out.absolute()
    clean = PluginSecrets.of_host(host).clean
    with Results(out, tasks, resume=options.resume, clean=clean) as results:
        setup = Setup(
            out=out,
            scratch=results.scratch,
            arguments=tuple(part for name in disabled for part in ("--disable", name)),
            model=options.model,
            retries=options.retries,
            timeout=options.timeout,
            environ={"PI_CODING_AGENT_DIR": str(host.settings.agent_dir)},
        )
        ledger = Ledger(options.max_cost, results.spent())
        left = [each for each in tasks if each.id not in results.records]
        try:
            with _engine(setup, ledger, options) as (engine, limits):
                spent = run_until_signal(_drive(engine, left, results, _Progress(len(tasks), limits)))
                stopped = engine.stopped
        except KeyboardInterrupt:
            sys.stderr.write(f"Interrupted. To continue: pi batch {options.tasks} --out {options.out} --resume\n")
            raise
        finally:
            results.finish(options.table)
        return _outcome(tasks, results, spent, stopped)


@contextmanager
def _engine(
    setup: Setup, ledger: Ledger, options: _Options
) -> Iterator[tuple[LocalEngine[Task, Record], LocalLimits | RayLimits]]:
    """Return the engine, and the shared configuration of its tasks."""
    from pi_batch.limits import LocalLimits
    from pi_batch.run import run_one
    from pi_process_kit import LocalEngine

    if options.engine == "ray":
        from pi_batch.ray import ray_engine

        with ray_engine(setup, ledger, options.concurrency, options.task_cpus) as both:
            yield both
    else:
        limits = LocalLimits(ledger)
        yield LocalEngine(lambda task: run_one(task, setup, limits), options.concurrency), limits


def _with_repo(tasks: list[Task], commit: str | None) -> list[Task]:
    """Use the current folder for tasks without a repository, and this commit for tasks without one."""
    if commit is None:
        return tasks
    here = str(Path.cwd())
    return [evolve(each, repo=each.repo or here, commit=each.commit or commit) for each in tasks]


async def _drive(engine: Engine[Task, Record], tasks: Sequence[Task], results: Results, progress: _Progress) -> float:
    """Run all tasks; return their total cost in dollars."""
    from pi_process_kit import run_tasks

    async def on_record(record: Record) -> None:
        results.add(record)
        await progress.show(results)

    try:
        await run_tasks(engine, tasks, on_record)
        return await progress.limits.spent()
    finally:
        progress.end()


def _outcome(tasks: Sequence[Task], results: Results, spent: float, stopped: StopTasks | None) -> int:
    from pi_batch.run import DiskFull

    records = results.records.values()
    failed = [each for each in records if each.status == "failed"]
    scores = [each.score for each in records if each.score is not None]
    text = f"{len(records)} of {len(tasks)} tasks were run, {len(failed)} failed"
    if scores:
        text += f"; {sum(scores)} of {len(scores)} checks passed"
    sys.stdout.write(f"{text}; {spent:.4f} dollars.\n")
    for each in failed[:10]:
        sys.stderr.write(f"{clean_text(each.id)}: {_line(each)}\n")
    if isinstance(stopped, DiskFull):
        sys.stderr.write(f"{clean_text(str(stopped))}\nFree some space, then continue with --resume.\n")
        return 1
    if len(records) < len(tasks):
        sys.stderr.write("A budget is used up. To continue: --resume with a larger --max-cost.\n")
        return 4
    return int(bool(failed))


def _line(record: Record) -> str:
    return clean_text(" ".join((record.error or "").split()))[:300]


@define
class _Progress:
    """A progress line that is redrawn on a terminal."""

    total: int
    limits: Limits
    shown: bool = False

    async def show(self, results: Results) -> None:
        """Draw the current progress."""
        if sys.stderr.isatty():
            done, self.shown = len(results.records), True
            bar = "#" * (done * 30 // self.total)
            spent = await self.limits.spent()
            sys.stderr.write(f"\r\x1b[K[{bar:<30}] {done}/{self.total}, {results.failed} failed, {spent:.4f} dollars")
            sys.stderr.flush()

    def end(self) -> None:
        """End the progress line."""
        if self.shown:
            sys.stderr.write("\n")
