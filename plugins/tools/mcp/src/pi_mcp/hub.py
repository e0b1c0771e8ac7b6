"""One session's servers: finds them, decides which may run, and connects them."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Approval, PiError, approval_choices, unanswered_reason
from pi_mcp.approvals import Approvals
from pi_mcp.cache import ListingCache
from pi_mcp.config import load_servers
from pi_mcp.foreign import cleaned_listing
from pi_mcp.link import link_of
from pi_mcp.offer import Offer
from pi_mcp.remote import LOGIN_SECONDS, Remote, key_of
from pi_mcp.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiAPI, PiContext
    from pi_mcp.config import Servers
    from pi_mcp.entries import Server

__all__ = ["Hub"]

HOLD = 10.0
"""Maximum seconds that the first prompt waits for servers with unknown tools."""
REFRESH_HOLD = 2.0
"""Maximum seconds that a prompt waits for the new list of a server that announced a change."""
LAST_HOLD = 5.0
"""Maximum seconds that the end of a session waits for lists that are being refreshed, for the next session."""
_ONE_SHOT = ("print", "json")


class Hub:
    """Created for every session and every reload; takes over the connections of its predecessor.

    Args:
        pi: The plugin's object.
        ctx: The session's context.

    Attributes:
        servers: All configured servers.
        remotes: The servers that may be connected, by name.
        refused: The servers that the user did not allow.
        problems: Problems in the files.
        offer: Their tools.
        resources: Their resources.
    """

    def __init__(self, pi: PiAPI, ctx: PiContext) -> None:
        self._pi = pi
        self._ctx = ctx
        agent_dir = ctx.settings.agent_dir
        self._link = link_of(agent_dir)
        self._cache = ListingCache(agent_dir, ctx.cwd)
        self._approvals = Approvals(agent_dir, ctx.cwd)
        self._connecting: dict[str, asyncio.Task[None]] = {}
        self._first: set[asyncio.Task[None]] = set()
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self._checking: dict[str, asyncio.Task[None]] = {}
        self._left_out: dict[str, int] = {}
        self.servers: dict[str, Server] = {}
        self.remotes: dict[str, Remote] = {}
        self.refused: set[str] = set()
        self.problems: list[str] = []
        self._policies = True
        self._using = asyncio.Lock()
        self.offer = Offer(pi, ctx.model.context_window if ctx.model else None)
        self.resources = Resources(pi, self)

    async def start(self, *, connect: bool = True) -> None:
        """Read the files, ask about project servers, register known tools, and start connecting.

        Args:
            connect: Whether to connect servers according to their policies; otherwise only ``connect`` does so.
        """
        self._policies = connect
        self._link.users.add(self)
        found = self._load()
        for problem in found.problems:
            self._ctx.ui.notify(problem, "warning")
        for notice in found.notices:
            self._ctx.ui.notify(notice)
        async with self._using:
            await self._use(found)
        await self._link.close_unclaimed()
        self._apply()

    async def change(self) -> None:
        """Apply a changed configuration: connect new and changed servers, close removed ones."""
        async with self._using:  # the user may still be asked about the servers of before
            await self._use(self._load())
        if self._ctx.is_idle():
            self._apply()

    async def end(self, *, for_good: bool) -> None:
        """Release the connections; the last session of the process closes them."""
        self._link.users.discard(self)
        lists = [task for task in (*self._checking.values(), *self._refreshing.values()) if not task.done()]
        if lists and for_good:
            await asyncio.wait(lists, timeout=LAST_HOLD)
            for name in [name for name, task in self._checking.items() if not task.done()]:
                self._cache.tried(self.servers[name])
        tasks = [*self._connecting.values(), *self._refreshing.values(), *self._checking.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for remote in self.remotes.values():
            remote.on_change = remote.on_open = remote.answer = None
        if not for_good:
            self.offer.clear()
            self.resources.clear()
        if for_good and not self._link.users:
            self._link.remotes.clear()
            await self._link.stop()
        else:
            self._link.rest()

    async def ready(self) -> None:
        """Wait until the tools for the first prompt are known, and register changes since the previous prompt."""
        waiting, self._first = self._first, set()
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=HOLD)
            if late:
                names = ", ".join(sorted(name for name, task in self._connecting.items() if task in late))
                self._ctx.ui.notify(f"MCP: {names} did not answer within {HOLD:g} s; continuing without", "warning")
        await self._refreshed()
        self._apply()

    async def next_turn(self) -> None:
        """Register tools that appeared during the run; others change only with the next prompt."""
        await self._refreshed()
        self.offer.add_new()

    async def _refreshed(self) -> None:
        refreshing = [task for task in self._refreshing.values() if not task.done()]
        if refreshing:
            await asyncio.wait(refreshing, timeout=REFRESH_HOLD)

    async def connect(self, name: str) -> dict[str, Any]:
        """Connect a server and record what it offers.

        Raises:
            PiError: It cannot be connected.
        """
        remote = self.remotes[name]
        about = await remote.open(self._ctx)
        self._note(remote, about)
        return about

    async def request(self, name: str, do: str, **fields: Any) -> Any:
        """Send a request to a server, connecting it if needed.

        Raises:
            PiError: It cannot be connected, or the request failed.
        """
        return await self.remotes[name].request(do, self._ctx, **fields)

    async def reconnect(self, name: str) -> dict[str, Any]:
        """Reconnect a server, whatever its state.

        Raises:
            PiError: It cannot be connected.
        """
        self._link.forgive()
        with suppress(PiError):
            await self.remotes[name].close()
        return await self.connect(name)

    async def login(self, name: str, ask: Callable[[str], Any], seconds: float = LOGIN_SECONDS) -> dict[str, Any]:
        """Sign in to a server; ``ask`` gets the page's address and may return the final address.

        Args:
            name: The server.
            ask: Opens the page.
            seconds: How long the user may take.

        Raises:
            PiError: It failed.
        """
        self._link.forgive()
        about = await self.remotes[name].login(self._ctx, ask, seconds)
        self._note(self.remotes[name], about)
        return about

    async def logout(self, name: str) -> bool:
        """Remove a server's sign-in; return whether there was one."""
        return await self.remotes[name].logout(self._ctx)

    async def allow(self, name: str) -> None:
        """Store that the user allows a project server, and use it."""
        self._approvals.add(self.servers[name])
        self.refused.discard(name)
        await self.change()

    def _apply(self) -> None:
        self.offer.apply()
        self.resources.apply()

    def _load(self) -> Servers:
        return load_servers(
            self._ctx.settings.agent_dir,
            self._ctx.cwd,
            trusted=self._ctx.is_project_trusted(),
            registered=self._pi.get_mcp_servers(),
        )

    async def _use(self, found: Servers) -> None:
        self.servers, self.problems = found.servers, found.problems
        allowed = {name: each for name, each in found.servers.items() if each.enabled and await self._is_allowed(each)}
        for name, remote in list(self.remotes.items()):
            if name not in allowed or allowed[name].hash != remote.server.hash:
                del self.remotes[name]
                self.offer.drop(name)
                self._link.remotes.pop(remote.key, None)
                with suppress(PiError):
                    await remote.close()
        for name, server in allowed.items():
            if name not in self.remotes:
                self._begin(server)

    async def _is_allowed(self, server: Server) -> bool:
        if self._approvals.covers(server):
            return True
        if server.name in self.refused:
            return False
        if self._ctx.has_ui:
            from pi_mcp.values import describe_entry

            approval = Approval(
                f"Let this project start the MCP server {server.name!r}?",
                what=describe_entry(server.config),
                why=f"{server.origin} names it; a server runs with your privileges.",
                choices=approval_choices(once=None, always="until its entry changes"),
            )
            if await self._ctx.ui.approve(approval) is not None:
                self._approvals.add(server)
                return True
            if unanswered_reason() is not None:
                return False  # not refused: the next time it is asked again
        else:
            text = f"MCP: {server.name} of {server.origin} is not started, because it was not approved"
            self._ctx.ui.notify(f"{text}; start pi in a terminal to be asked", "warning")
        self.refused.add(server.name)
        return False

    def _begin(self, server: Server) -> None:
        """Take over the server's connection or prepare one; start it if its policy requires that."""
        key = key_of(server, os.fspath(self._ctx.cwd))
        remote = self._link.remotes.get(key)
        if remote is None:
            remote = self._link.remotes[key] = Remote(server, self._link, key)
        remote.server = server
        remote.on_change = lambda: self._refresh(remote)
        remote.on_open = lambda about: self._note(remote, about)
        if self._ctx.has_ui:
            from pi_mcp.questions import Questions

            remote.answer = Questions(server, self._ctx).answer
        self.remotes[server.name] = remote
        kept = remote.about if remote.state == "connected" else self._cache.get(server)
        if kept is not None:
            self._put(remote, kept)
        policy = server.start or ("lazy" if self._ctx.mode in _ONE_SHOT else "background")
        if self._policies and (kept is None or policy != "lazy"):
            task = asyncio.create_task(self._connect_quietly(remote))
            self._connecting[server.name] = task
            if policy == "eager" or (kept is None and server.exposure != "hidden"):
                self._first.add(task)
        elif self._policies and remote.state != "connected" and self._cache.is_stale(server):
            self._checking[server.name] = asyncio.create_task(self._check(remote))

    async def _check(self, remote: Remote) -> None:
        """Ask a server whose cached lists are old what it offers now; the cached ones serve if it does not answer."""
        await asyncio.sleep(0)  # the front end draws first
        try:
            await self.connect(remote.server.name)
        except PiError:
            self._cache.tried(remote.server)

    async def _connect_quietly(self, remote: Remote) -> None:
        """Connect in the background; a failure is one notice."""
        await asyncio.sleep(0)  # the front end draws first
        try:
            await self.connect(remote.server.name)
        except PiError as error:
            tail = f" It printed: {_telling(remote.tail).rstrip('.')}." if remote.tail else ""
            text = f"MCP: {remote.server.name} cannot be connected: {error}.{tail} See /mcp, and pi help mcp."
            self._ctx.ui.notify(self._ctx.secrets.redact(text.replace("..", ".")), "warning")

    def _note(self, remote: Remote, about: dict[str, Any]) -> None:
        if self.remotes.get(remote.server.name) is remote:
            self._put(remote, about)
            self._cache.put(remote.server, about)

    def _put(self, remote: Remote, about: dict[str, Any]) -> None:
        """Record what a server offers, and report once if it has too many tools."""
        self.offer.put(remote, about)
        name, left_out = remote.server.name, about.get("left_out") or 0
        if left_out and self._left_out.get(name) != left_out:
            total = len(about["tools"]) + left_out
            text = f"MCP: {name} has {total:,} tools, of which the first {len(about['tools']):,} are used"
            self._ctx.ui.notify(f"{text}; disabledTools or maxTools in its entry change that", "warning")
        self._left_out[name] = left_out

    def _refresh(self, remote: Remote) -> None:
        """Ask a server for its tools again, one request at a time."""
        name = remote.server.name
        if name not in self._refreshing or self._refreshing[name].done():
            self._refreshing[name] = asyncio.create_task(self._ask_again(remote))

    async def _ask_again(self, remote: Remote) -> None:
        with suppress(PiError):
            listed = cleaned_listing(await remote.request("tools", self._ctx))  # it may connect, which sets ``about``
            remote.about = {**remote.about, **listed}
            self._note(remote, remote.about)


def _telling(tail: str) -> str:
    """Return the line of a server's output that says most: the last one about an error, or the last one."""
    lines = [each.strip() for each in tail.splitlines() if each.strip()]
    return next((each for each in reversed(lines) if "error" in each.lower()), lines[-1] if lines else tail.strip())
