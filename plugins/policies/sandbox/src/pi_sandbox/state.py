"""The sandbox of a session: made when it is first needed, from the settings and ``--sandbox``."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from functools import cache
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from pi_sandbox.asked import is_asked_for
from pi_sandbox.baseline import Baseline
from pi_sandbox.bwrap import fixed_paths
from pi_sandbox.engine import choose_engine
from pi_sandbox.landlock import DEVICES
from pi_sandbox.options import read_options
from pi_sandbox.policy import Way, make_policy
from pi_sandbox.proxy import Proxy
from pi_sandbox.running import end_processes, now_in_ticks, running
from pi_sandbox.scan import Scanner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import PiContext, SpawnRequest
    from pi_sandbox.baseline import Undone
    from pi_sandbox.engine import Engine
    from pi_sandbox.options import Options
    from pi_sandbox.policy import Policy

__all__ = ["Changes", "Sandbox", "close_sandbox", "open_sandbox", "other_folders", "sandbox_of"]


_RELAY_PORT = 3128
"""Port of the relay to the proxy in a separate network, where all ports are free."""
_LASTING = frozenset(("lsp", "mcp", "plugin", "process", "model"))
"""Purposes of programs that run on after what has started them."""
_SHORTEST, _LONGEST, _GROWTH = 0.2, 10.0, 1.5
"""Seconds between two looks at processes that were left running, and how they grow."""


@frozen
class Changes:
    """Changes that were undone.

    Attributes:
        undone: The changes.
        certain: Whether the call after which they were found made them: nothing else was running.
    """

    undone: Sequence[Undone]
    certain: bool


class Sandbox:
    """The sandbox of one session.

    Args:
        options: The settings in force.
        cwd: The working directory.
        agent_dir: pi's own directory; changed versions of protected files go to ``sandbox-evidence`` in it.
        env: pi's environment.
        names: What ``ctx.project_files`` returns.

    Raises:
        PiError: No engine works here.
    """

    def __init__(
        self, options: Options, cwd: str, agent_dir: str, env: Mapping[str, str], names: Sequence[str] = ()
    ) -> None:
        engine = _engine(options.mode)
        self.options = options
        self._temp = tempfile.TemporaryDirectory(prefix="pi-sandbox-")
        self._private = tempfile.TemporaryDirectory(prefix="pi-sandbox-proxy-")
        self.engine: Engine = engine.with_calls(self._private.name)
        self._proxy: Proxy | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._way: Way | None = None
        self.report: Callable[[Sequence[Undone]], None] | None = None
        """Called with changes that are found while no call ends."""
        self._calls: set[str] = set()
        self._only_calls = True
        self._since: set[str] = set()
        self._lasting = self._active = self._left = False
        self._watch: asyncio.Task[None] | None = None
        self._lock: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._ticks = now_in_ticks()
        self._granted: tuple[str, ...] = ()
        self._places = {"cwd": cwd, "home": os.path.expanduser("~"), "agent_dir": agent_dir}
        self._names = tuple(names)
        self._env = env
        self._baseline = self._make_baseline(self.policy)

    @property
    def policy(self) -> Policy:
        """The policy for the current contents of the disk."""
        options = evolve(self.options, write=(*self.options.write, *self._granted))
        return make_policy(options, temp=self._temp.name, env=self._env, names=self._names, **self._places)

    async def way(self) -> Way | None:
        """Return the way to the proxy, which is started with the first program; None without one."""
        if self.options.network != "allow":
            return None
        loop = asyncio.get_running_loop()
        if self._proxy is None or self._loop is not loop:
            self._proxy, self._loop = Proxy(self.options.allow), loop
            path = os.path.join(self._private.name, f"{secrets.token_hex(4)}.sock")
            own_network = self.engine.name == "bwrap"
            await self._proxy.start(path if own_network else None)
            self._way = Way(_RELAY_PORT, path) if own_network else Way(self._proxy.port, token=self._proxy.token)
        return self._way

    def refused_hosts(self) -> list[str]:
        """Return the hosts that were refused since the last call."""
        if self._proxy is None:
            return []
        hosts = [*self._proxy.refused]
        self._proxy.refused.clear()
        return hosts

    @property
    def granted(self) -> tuple[str, ...]:
        """The folders that were opened until the session ends."""
        return self._granted

    def grant(self, folder: str) -> None:
        """Allow changes below a folder until the session ends."""
        self._granted = (*self._granted, folder)
        self._baseline.extend(folder)

    def _make_baseline(self, policy: Policy) -> Baseline:
        agent_dir = os.path.realpath(self._places["agent_dir"])
        scanner = Scanner(
            policy.names,
            cwd=policy.cwd,
            roots=[place for place in policy.write if place != policy.temp],
            hidden={policy.temp},
            agent_dir=agent_dir,
            released=policy.released,
        )
        evidence = os.path.join(agent_dir, "sandbox-evidence")
        writable = (*policy.write, *DEVICES)
        return Baseline(scanner, evidence=evidence, writable=writable)

    async def started(self, request: SpawnRequest, policy: Policy) -> None:
        """Take note of a program that is about to start: what is changed from now on may be its work."""
        async with self._turn():
            quiet = await self._is_quiet()
            self._left = not quiet and (self._left or not self._calls)
            fixed = fixed_paths(policy) if self.engine.name == "bwrap" else []
            if quiet:
                self._since = set()
                self._baseline.untouched = fixed
                await asyncio.to_thread(self._baseline.accept, policy.repositories)
            else:
                self._baseline.untouched = [path for path in self._baseline.untouched if path in fixed]
            self._active = True
            if request.call_id is not None:
                self._calls.add(request.call_id)
                self._since.add(request.call_id)
            elif request.purpose != "search":
                self._only_calls = False
                self._since.add(request.purpose)
                self._begin_watch()
            self._lasting = self._lasting or request.purpose in _LASTING

    async def ended(self, call_id: str) -> Changes:
        """Undo changes to protected files after a call."""
        if call_id not in self._calls:
            return Changes((), certain=False)
        async with self._turn():
            certain = self._since <= {call_id} and not self._lasting and not self._left
            self._calls.discard(call_id)
            undone = await self._check()
            if self._active:
                self._left = True
                self._begin_watch()
        return Changes(undone, certain)

    async def check(self) -> Sequence[Undone]:
        """Undo changes to protected files that were made since the baseline was taken.

        Once no program runs any more, what is changed later is the user's.
        """
        async with self._turn():
            return await self._check()

    async def _check(self) -> Sequence[Undone]:
        if not self._active:
            return ()
        quiet = await self._is_quiet()
        self._since = {*self._calls}
        undone = await asyncio.to_thread(self._baseline.check)
        self._active = not quiet
        return undone

    def _turn(self) -> asyncio.Lock:
        """Return the lock that keeps a baseline from being taken while another program starts."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._lock[0] is not loop:
            self._lock = loop, asyncio.Lock()
        return self._lock[1]

    async def _is_quiet(self) -> bool:
        if not self._active:
            return True
        return not self._calls and not self._lasting and not await asyncio.to_thread(self._running)

    async def settled(self) -> Sequence[Undone]:
        """The same after a run, when no call of the model goes on."""
        self._calls.clear()
        return await self.check()

    async def finish(self, others: Sequence[str] = ()) -> Sequence[Undone]:
        """End the processes that are left, and undo what they changed.

        Args:
            others: Folders for temporary files of other sessions, whose processes stay.
        """
        if self._watch is not None:
            self._watch.cancel()
        if self._active:
            await asyncio.to_thread(end_processes, self._temp.name, self._ticks, others)
        return await self.settled()

    def follow(self, earlier: Sandbox) -> None:
        """Continue for a sandbox with other options, whose programs may still be running."""
        self.report = earlier.report
        if earlier._active:
            self._late(earlier._baseline.check())
            self._baseline.follow(earlier._baseline)
            self._active, self._lasting = True, earlier._lasting or bool(earlier._running())

    @property
    def temp(self) -> str:
        """The session's folder for temporary files."""
        return self._temp.name

    def _running(self) -> list[int]:
        if self.engine.name == "bwrap" and self._only_calls:
            return []  # what a call leaves running ends with it, in its own namespace of processes
        return running(self._temp.name, self._ticks)

    def _begin_watch(self) -> None:
        if self._watch is None or self._watch.done():
            self._watch = asyncio.get_running_loop().create_task(self._watch_processes())

    async def _watch_processes(self) -> None:
        """Compare the files until no process of a call is left."""
        seconds = _SHORTEST
        while self._active:
            await asyncio.sleep(seconds)
            self._late(await self.check())
            seconds = min(seconds * _GROWTH, _LONGEST)

    def _late(self, undone: Sequence[Undone]) -> None:
        if undone and self.report is not None:
            self.report(undone)

    def close(self) -> None:
        """Stop the proxy, and remove the temporary files."""
        if self._watch is not None and not self._watch.get_loop().is_closed():
            self._watch.cancel()
        if self._proxy is not None and self._loop is not None and not self._loop.is_closed():
            self._proxy.close()
        self._temp.cleanup()
        self._private.cleanup()


def sandbox_of(ctx: PiContext) -> Sandbox | None:
    """Return the sandbox of a session; None if it is off.

    Raises:
        PiError: It was requested but cannot work: the settings are invalid, or no engine works.
    """
    if not is_asked_for(ctx):
        return None
    given = ctx.get_flag("sandbox")
    options = read_options(ctx.settings, str(given) if given is not None else None)
    if options.mode == "off":
        return None
    known = _sandboxes().get(ctx.session.id)
    if known is None or known.options != options:
        earlier, agent_dir = known, os.fspath(ctx.settings.agent_dir)
        known = Sandbox(options, os.fspath(ctx.cwd), agent_dir, dict(os.environ), ctx.project_files())
        if earlier is not None:
            known.follow(earlier)
        close_sandbox(ctx.session.id)
        _sandboxes()[ctx.session.id] = known
    return known


def open_sandbox(session_id: str) -> Sandbox | None:
    """Return the sandbox that a session has, whether or not its present settings ask for it; None for none."""
    return _sandboxes().get(session_id)


def close_sandbox(session_id: str) -> None:
    """Discard a session's sandbox."""
    known = _sandboxes().pop(session_id, None)
    if known is not None:
        known.close()


def other_folders(session_id: str) -> list[str]:
    """Return the folders for temporary files of the other sessions in this process."""
    return [each.temp for known, each in _sandboxes().items() if known != session_id]


@cache
def _sandboxes() -> dict[str, Sandbox]:
    """Return the sandboxes of this process by session: hooks and services of a session share one."""
    return {}


@cache
def _engine(mode: str) -> Engine:
    """Return the engine; a machine is tried once per process.

    Raises:
        PiError: It does not work. The next call tries again.
    """
    return choose_engine(mode)
