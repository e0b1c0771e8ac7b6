"""The engine for a Ray cluster: each task is a Ray task; two actors next to the driver hold the shared state."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import socket
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, evolve

from pi_batch.limits import Ledger, Pace
from pi_batch.run import lost_record, run_one
from pi_hookspecs import UserError
from pi_process_kit import LocalEngine, StopTasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_batch.record import Record
    from pi_batch.run import Setup
    from pi_batch.tasks import Task

__all__ = ["RayLimits", "node_scratch", "ray_engine"]

_STARTS = 2  # of a task whose node is lost
_GRACE = 30.0  # seconds in which a cancelled task ends its processes
_FRESH = 1.0  # seconds for which new tasks need not ask whether they have to wait
_CONNECT = 10.0
_CHECK = 60.0  # seconds in which a node starts a worker
_DISTRIBUTIONS = (
    "pluggypi-batch",
    "pluggypi-cli",
    "pluggypi-core",
    "pluggypi-git-kit",
    "pluggypi-hookspecs",
    "pluggypi-process-kit",
)
_PREFIX = "pi-batch-node-"  # as long as the one of ``results``, which says why
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to Ray's makers
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # the nodes have pi installed: nothing is copied to them
}


@define(eq=False)
class RayLimits:
    """Limits kept by actors; each task receives the actors' handles.

    A call of an actor costs Ray 2 ms of processor time, so that what needs no answer is not asked.

    Attributes:
        ledger: The actor for the costs.
        pace: The actor for the rates.
        has_budget: Whether there is a limit of the costs.
        is_delaying: Whether a provider asked a task to wait, as far as is known here.
    """

    ledger: Any
    pace: Any
    has_budget: bool
    is_delaying: bool = True

    async def spend(self, dollars: float, /) -> None:
        """Record the cost of a request."""
        await self.ledger.add.remote(dollars)

    async def spent(self) -> float:
        """Return the US dollars spent so far, including running tasks."""
        return float(await self.ledger.total.remote())

    async def exhausted(self) -> bool:
        """Return whether the budget is used up."""
        return self.has_budget and bool(await self.ledger.is_used_up.remote())

    async def wait(self, provider: str, /) -> None:
        """Wait until a provider accepts a new task."""
        if self.is_delaying:
            await self.pace.wait.remote(provider)

    async def delayed(self, provider: str, seconds: float, /) -> None:
        """Record that a provider asked a task to wait."""
        self.is_delaying = True
        await self.pace.delayed.remote(provider, seconds)

    async def succeeded(self, provider: str, /) -> None:
        """Record that a task was completed."""
        if self.is_delaying:
            await self.pace.succeeded.remote(provider)

    async def refresh(self) -> None:
        """Find out whether providers asked tasks to wait."""
        self.is_delaying = bool(await self.pace.is_delaying.remote())


@contextmanager
def ray_engine(
    setup: Setup, ledger: Ledger, at_once: int, cpus: float
) -> Iterator[tuple[LocalEngine[Task, Record], RayLimits]]:
    """Connect to the cluster at ``RAY_ADDRESS``, or else to one on this machine, starting it if needed.

    Args:
        setup: The configuration that all tasks share.
        ledger: The budget, including the cost of earlier runs.
        at_once: The maximum number of tasks that are submitted to Ray at a time.
        cpus: The number of CPUs of a node that a task occupies.

    Raises:
        UserError: Ray is not installed, the cluster does not respond, or a node lacks this version of pi.
    """
    ray = _connect()
    try:
        _check_nodes(ray)
        here = _placed_here(ray)
        limits = RayLimits(
            ray.remote(Ledger).options(**here).remote(ledger.max_cost, ledger.spent),
            ray.remote(Pace).options(**here).remote(),
            has_budget=ledger.max_cost is not None,
        )
        remote = ray.remote(_run_on_node).options(num_cpus=cpus, max_retries=0, scheduling_strategy="SPREAD")

        asked = -_FRESH

        async def run(task: Task) -> Record:
            nonlocal asked
            if (now := time.monotonic()) >= asked + _FRESH:
                asked = now
                await limits.refresh()
            return await _run_anywhere(ray, remote, task, setup, limits)

        yield LocalEngine(run, at_once), limits
    finally:
        ray.shutdown()


def _connect() -> Any:
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        ray = import_module("ray")
    except ImportError as error:
        from pi_core import install_command

        raise UserError(f"--engine ray needs Ray, which is not installed: {install_command('ray')}") from error
    address = os.environ.get("RAY_ADDRESS", "")
    try:
        _reach(address)
        ray.init(log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError) as error:
        where = f"at RAY_ADDRESS {address!r}" if address else "on this machine"
        message = f"Ray's cluster {where} cannot be used: {error}. `ray status` shows whether it is running."
        raise UserError(message) from error
    return ray


def _reach(address: str) -> None:
    """Check that a server listens on HOST:PORT, because Ray itself would retry for minutes.

    Raises:
        OSError: No server listens there.
    """
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT).close()


def _check_nodes(ray: Any) -> None:
    """Refuse nodes that would run tasks with another pi, or cannot run them; a node that is lost meanwhile is skipped.

    Raises:
        UserError: It names the first such node.
    """
    error = import_module("ray.exceptions").RayError

    def versions() -> dict[str, str]:  # sent as code: a node may lack the module that this is defined in
        from importlib.metadata import PackageNotFoundError, version

        found = {}
        for name in names:
            with suppress(PackageNotFoundError):
                found[name] = version(name)
        return found

    names, ask = _DISTRIBUTIONS, ray.remote(versions)
    own = versions()
    nodes = {each["NodeID"]: each["NodeManagerAddress"] for each in ray.nodes() if each["Alive"]}
    answers = {node: ask.options(**_placed(node)).remote() for node in nodes}
    for node, answer in answers.items():
        try:
            found = ray.get(answer, timeout=_CHECK)
        except error:
            continue
        for name, version in own.items():
            if found.get(name) != version:
                raise UserError(_differs(nodes[node], name, version, found.get(name)))


def _differs(address: str, name: str, version: str, found: str | None) -> str:
    has = f"has {name} {found}, this machine {version}" if found is not None else "has no pi, or not all of it"
    return f"The node {address} {has}. Install it there: pip install 'pluggypi[ray]=={version}'."


def _placed(node: str) -> dict[str, Any]:
    strategies = import_module("ray.util.scheduling_strategies")
    return {"num_cpus": 0, "scheduling_strategy": strategies.NodeAffinitySchedulingStrategy(node, soft=False)}


def _placed_here(ray: Any) -> dict[str, Any]:
    """Return the options of an actor that is placed on the driver's node, so that it lives as long as the driver."""
    return _placed(ray.get_runtime_context().get_node_id())


async def _run_anywhere(ray: Any, remote: Any, task: Task, setup: Setup, limits: RayLimits) -> Record:
    """Run a task on any node; if that node is lost, or its worker is killed for its memory, run it once more."""
    errors = import_module("ray.exceptions")
    why = ""
    for _ in range(_STARTS):
        reference = remote.remote(task, setup, limits)
        try:
            record: Record | StopTasks = await reference
        except asyncio.CancelledError:
            await _cancel(ray, reference, errors.RayError)
            raise
        except errors.RayTaskError:
            raise  # an error of pi itself
        except errors.RayError as error:
            why = " ".join(str(error).split())
        else:
            if isinstance(record, StopTasks):
                raise record
            return record
    return await lost_record(
        task, setup, f"it was lost with its worker or node, and once more when it ran again: {why}"
    )


async def _cancel(ray: Any, reference: Any, error: type[Exception]) -> None:
    """Cancel a task, which ends its processes; if it has not ended after a grace period, kill its worker."""
    ray.cancel(reference)
    try:
        await asyncio.wait_for(asyncio.wrap_future(reference.future()), _GRACE)
    except TimeoutError:
        with suppress(error):
            ray.cancel(reference, force=True)
    except error:
        pass


def _run_on_node(task: Task, setup: Setup, limits: RayLimits) -> Record | StopTasks:
    """Run a task in a Ray worker; return what stops all tasks, because Ray changes the type of what is raised."""
    try:
        with node_scratch() as scratch:
            return asyncio.run(run_one(task, evolve(setup, scratch=scratch), limits))
    except StopTasks as stop:
        return stop


@contextmanager
def node_scratch() -> Iterator[Path]:
    """Create an empty directory on this node, and remove it afterwards, with the directories left by killed workers."""
    for each in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), _locked(each):
            shutil.rmtree(each)
    with ExitStack() as held:
        scratch = _own_folder(held)
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _own_folder(held: ExitStack) -> Path:
    """Create and lock a directory; another worker that comes in between removes it like one that was left."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError, BlockingIOError):
            held.enter_context(_locked(folder))
            if folder.exists():
                return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a directory; the lock is released when the process ends.

    Raises:
        OSError: Another process holds it.
    """
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(fd)
