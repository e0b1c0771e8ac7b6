"""One server, shared by the sessions of this process: connected on demand, and reconnected after it was lost."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_mcp.foreign import cleaned_listing
from pi_mcp.link import RequestFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiContext, SpawnRequest
    from pi_mcp.entries import Server
    from pi_mcp.link import Link

__all__ = ["Remote", "key_of"]

_READS = ("tools", "resources", "templates", "read", "prompt", "complete")
LOGIN_SECONDS = 300.0
"""How long a user may take to sign in, unless another time was chosen."""
_AFTER_SIGN_IN = 20.0
"""Seconds that a sign-in may take beyond the user's own limit."""
_NETWORK = (
    *(name for each in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY") for name in (each, each.lower())),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
)
_ENVIRONMENT = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", *_NETWORK)
"""pi's variables that servers inherit: model keys must not reach every published program."""


def key_of(server: Server, cwd: str) -> str:
    """Return the key of a connection: the same entry in the same folder is connected once."""
    return f"{server.hash[:24]}:{cwd}"


class Remote:
    """A server and its connection, if there is one.

    Args:
        server: Its entry.
        link: The sidecar.
        key: The result of ``key_of``.

    Attributes:
        state: ``off``, ``connecting``, ``connected`` or ``failed``.
        error: Why it failed.
        tail: The last lines of its standard error.
        about: Its description while it is connected: ``protocol``, ``server``, ``instructions``,
            ``capabilities``, ``tools``, ``prompts``; ``left_out`` is the number of tools beyond the limit.
        on_change: Called when its lists may have changed.
        on_open: Called with its description once it is connected, whoever needed the connection.
        answer: Answers its questions; None without a user.
    """

    def __init__(self, server: Server, link: Link, key: str) -> None:
        self.server = server
        self.link = link
        self.key = key
        self.state = "off"
        self.error = ""
        self.tail = ""
        self.about: dict[str, Any] = {}
        self.on_change: Callable[[], None] | None = None
        self.on_open: Callable[[dict[str, Any]], None] | None = None
        self.answer: Callable[[dict[str, Any]], Any] | None = None
        self.order = asyncio.Lock()
        self._opening: asyncio.Task[dict[str, Any]] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, or one is being opened."""
        return self.state in ("connecting", "connected")

    async def login(self, ctx: PiContext, ask: Callable[[str], Any], seconds: float = LOGIN_SECONDS) -> dict[str, Any]:
        """Sign in, and connect.

        Args:
            ctx: The session's context.
            ask: Gets the address of the page, opens it, and may return the final address.
            seconds: How long the user may take.

        Raises:
            PiError: The server needs no sign-in, or it failed.
        """
        if self.server.transport == "stdio":
            raise UserError(f"{self.server.name} is a program; only servers over HTTP have a sign-in.")
        await self.close()
        before = self.answer
        asking: list[asyncio.Task[Any]] = []

        async def answer(question: dict[str, Any]) -> Any:
            if question["kind"] == "login":
                asking.append(asyncio.create_task(ask(question["url"])))
                return await asking[-1]
            return await before(question) if before is not None else None

        self.answer, self.state = answer, "connecting"
        try:
            wait = seconds + _AFTER_SIGN_IN
            self._opening = asyncio.create_task(self._open(ctx, login=True, timeout=wait, loginSeconds=seconds))
            return await self._opening
        finally:
            self.answer = before
            for task in asking:
                task.cancel()  # the dialog is not needed any more

    async def logout(self, ctx: PiContext) -> bool:
        """Remove the sign-in and disconnect; return whether there was one."""
        spec = await self._spec(ctx)
        self.state = "off"
        forgot = await self.link.request("logout", self.key, **spec) if self.server.transport != "stdio" else False
        self.link.rest()
        return bool(forgot)

    async def open(self, ctx: PiContext) -> dict[str, Any]:
        """Connect if needed, and return the description of the server.

        Raises:
            PiError: It cannot be connected.
        """
        if self.state == "connected":
            return self.about
        if self._opening is None or self._opening.done():
            self.state = "connecting"
            self._opening = asyncio.create_task(self._open(ctx))
            self._opening.add_done_callback(_taken_note_of)
        return await asyncio.shield(self._opening)

    async def _open(self, ctx: PiContext, **more: Any) -> dict[str, Any]:
        try:
            spec = {**await self._spec(ctx), **more}
            self.about = cleaned_listing(await self.link.request("open", self.key, **spec))
        except BaseException as error:
            self.state, self.error, self.tail = "failed", str(error), getattr(error, "tail", "")
            self.link.rest()
            raise
        self.state, self.error, self.tail = "connected", "", ""
        if self.on_open is not None:
            self.on_open(self.about)
        return self.about

    async def _spec(self, ctx: PiContext) -> dict[str, Any]:
        from pi_mcp.values import resolve_entry

        server = self.server
        values = await resolve_entry(server, os.environ, ctx.secrets)
        spec: dict[str, Any] = {
            "name": server.name,
            "transport": server.transport,
            "timeout": max(server.timeout, 30.0),
            "roots": [ctx.cwd.as_uri()],
            "mostTools": server.most_tools,
            "toolsOff": server.tools_off,
            "ui": ctx.has_ui,
            "sampling": server.sampling == "ask" and ctx.has_ui,
            "secrets": [*values["env"].values(), *values["headers"].values()],
        }
        if server.transport == "stdio":
            spawn = await _prepared(server, values, ctx)
            return {**spec, "spawn": {"argv": [*spawn.argv], "cwd": spawn.cwd, "env": dict(spawn.env)}}
        if provider := server.config.get("auth"):
            token = await ctx.models.get_api_key(provider) or ""
            ctx.secrets.add(token)
            values["headers"]["Authorization"] = f"Bearer {token}"
            spec["secrets"].append(token)
        address = {"url": values["url"], "headers": values["headers"], "oauth": values["oauth"]}
        return {**spec, **address, "authFile": os.fspath(self.link.agent_dir / "mcp-auth.json")}

    async def request(self, do: str, ctx: PiContext, **fields: Any) -> Any:
        """Send a request to the server, connecting it if needed.

        After a lost connection, a read request is sent again; a call only if the server has not processed it.

        Raises:
            PiError: It cannot be connected, or the request failed.
        """
        try:
            return await self._request(do, ctx, **fields)
        except RequestFailed as error:
            if not (error.again or (error.lost and do in _READS)):
                raise
        return await self._request(do, ctx, **fields)

    async def _request(self, do: str, ctx: PiContext, **fields: Any) -> Any:
        await self.open(ctx)
        try:
            return await self.link.request(do, self.key, timeout=self.server.timeout, **fields)
        except RequestFailed as error:
            if error.lost:
                self.lost(str(error), error.tail)
            raise

    async def close(self) -> None:
        """End the connection."""
        was_open, self.state = self.is_open, "off"
        if was_open and self.link.pid is not None:
            await self.link.request("close", self.key)
        self.link.rest()

    def lost(self, reason: str, tail: str) -> None:
        """Record that the connection is lost."""
        if self.state == "connected":
            self.state, self.error, self.tail = "failed", reason, tail

    def changed(self) -> None:
        """Record that the server's lists may have changed."""
        if self.on_change is not None:
            self.on_change()

    async def ask(self, question: dict[str, Any]) -> Any:
        """Return the user's answer to a question of the server; None without a user."""
        return await self.answer(question) if self.answer is not None else None


async def _prepared(server: Server, values: dict[str, Any], ctx: PiContext) -> SpawnRequest:
    """Return the program to start, after the plugins of the session were asked."""
    import shlex

    from pi_hookspecs import SpawnRequest
    from pi_process_kit import with_folder

    base = os.environ if server.inherit_env else {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    argv = [_at_home(values["command"]), *values["args"]]
    env = await ctx.child_environment({**base, **values["env"]}, purpose="mcp", command=shlex.join(argv))
    cwd = os.fspath(ctx.cwd / _at_home(values.get("cwd", "")))
    return with_folder(await ctx.prepare_spawn(SpawnRequest(argv=argv, cwd=cwd, env=env, purpose="mcp")))


def _at_home(path: str) -> str:
    """Return a path with a leading tilde expanded."""
    return os.path.expanduser(path)  # noqa: PTH111 - the name of a program need not be a path


def _taken_note_of(opening: asyncio.Task[dict[str, Any]]) -> None:
    """Retrieve the error of a connection task, because the session that started it may have ended meanwhile."""
    if not opening.cancelled():
        opening.exception()
