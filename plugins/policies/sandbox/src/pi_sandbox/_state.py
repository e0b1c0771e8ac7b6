"""The sandbox of a session: made when it is first needed, from the settings and ``--sandbox``."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from functools import cache
from typing import TYPE_CHECKING

from attrs import evolve

from pi_sandbox._asked import is_asked_for
from pi_sandbox._engine import choose_engine
from pi_sandbox._kept import keep
from pi_sandbox._options import read_options
from pi_sandbox._policy import Way, make_policy
from pi_sandbox._proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PiContext
    from pi_sandbox._engine import Engine
    from pi_sandbox._kept import Kept, Undone
    from pi_sandbox._options import Options
    from pi_sandbox._policy import Policy

__all__ = ["Sandbox", "close_sandbox", "sandbox_of"]


_RELAY_PORT = 3128
"""Port of the relay to the proxy in a separate network, where all ports are free."""


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
        self.options = options
        self.engine: Engine = _engine(options.mode)
        self._temp = tempfile.TemporaryDirectory(prefix="pi-sandbox-")
        self._evidence = os.path.join(agent_dir, "sandbox-evidence")
        self._private = tempfile.TemporaryDirectory(prefix="pi-sandbox-proxy-")
        self._proxy: Proxy | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._way: Way | None = None
        self._kept: dict[str, Kept] = {}
        self._granted: tuple[str, ...] = ()
        self._places = {"cwd": cwd, "home": os.path.expanduser("~"), "agent_dir": agent_dir}
        self._names = tuple(names)
        self._env = env

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
            self._way = Way(_RELAY_PORT, path) if own_network else Way(self._proxy.port)
        return self._way

    def refused_hosts(self) -> list[str]:
        """Return the hosts that were refused since the last call."""
        if self._proxy is None:
            return []
        hosts = [*self._proxy.refused]
        self._proxy.refused.clear()
        return hosts

    def grant(self, folder: str) -> None:
        """Allow changes below a folder until the session ends."""
        self._granted = (*self._granted, folder)

    def before(self, call_id: str, policy: Policy) -> None:
        """Record the protected files that the engine cannot protect."""
        if call_id not in self._kept:
            refused = self.engine.name != "landlock"
            paths = [
                path for path in policy.protected if not refused or os.path.islink(path) or not os.path.lexists(path)
            ]
            self._kept[call_id] = keep(paths)

    def after(self, call_id: str) -> Sequence[Undone]:
        """Undo a call's changes to protected files."""
        kept = self._kept.pop(call_id, None)
        return kept.undo(self._evidence) if kept is not None else ()

    def close(self) -> None:
        """Stop the proxy, and remove the temporary files."""
        if self._proxy is not None and self._loop is not None and not self._loop.is_closed():
            self._proxy.close()
        self._temp.cleanup()
        self._private.cleanup()


def sandbox_of(ctx: PiContext) -> Sandbox | None:
    """Return the sandbox of a session; None where it is off.

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
        close_sandbox(ctx.session.id)
        known = Sandbox(
            options, os.fspath(ctx.cwd), os.fspath(ctx.settings.agent_dir), dict(os.environ), ctx.project_files()
        )
        _sandboxes()[ctx.session.id] = known
    return known


def close_sandbox(session_id: str) -> None:
    """Discard a session's sandbox."""
    known = _sandboxes().pop(session_id, None)
    if known is not None:
        known.close()


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
