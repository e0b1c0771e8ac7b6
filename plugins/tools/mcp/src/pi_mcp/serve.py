"""``pi mcp serve``: pi as an MCP server on standard input and output, for other agents.

pi's own tools are not served: programs that use MCP servers have their own tools for files and commands. They get an
agent with its own conversation. This process imports the SDK itself, since it has no user interface to delay.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import aclosing, nullcontext
from functools import wraps
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core import AgentSession, SessionManager

__all__ = ["serve"]

_INSTRUCTIONS = """\
pi is a coding agent with its own model, tools and plugins. ask_pi gives it a task in a folder; to go on with the same
conversation, pass the session id that it returned."""
_PAGE = 50
_LAST_SECONDS = 4
_LONGEST = 20_000
"""Maximum characters of a conversation that are returned, from its end."""


async def serve(host: Any, *, model: str | None, read_only: bool) -> None:
    """Answer until standard input ends.

    Args:
        host: The plugins and the settings that pi was started with.
        model: The model of the agent, as ``--model`` takes it; the user's default one when None.
        read_only: Whether the agent only reads: its tools are read, grep, find and ls.
    """
    server = MCPServer("pi", instructions=_INSTRUCTIONS, version=version("pluggypi-mcp"), log_level="CRITICAL")
    served = _Served(host, model=model, read_only=read_only)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, served.end, 128 + number)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    asks = ToolAnnotations(read_only_hint=read_only, open_world_hint=True)
    for tool, hints in ((served.ask_pi, asks), (served.list_sessions, reads), (served.read_session, reads)):
        server.add_tool(_explained(tool), description=getdoc(tool), annotations=hints, structured_output=False)
    await server.run_stdio_async()


def _explained(function: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[str]]:
    """Return a tool whose errors reach the caller: the SDK hides all other exceptions."""

    @wraps(function)
    async def tool(**arguments: Any) -> str:
        try:
            return await function(**arguments)
        except PiError as error:
            raise ToolError(str(error)) from error

    return tool


class _Served:
    """The tools; the docstrings of the public methods are for the model at the other end.

    Args:
        host: As of ``serve``, and so are the others.
        model: The model.
        read_only: Whether the agent only reads.
    """

    def __init__(self, host: Any, *, model: str | None, read_only: bool) -> None:
        self._host = host
        self._model = model
        self._read_only = read_only
        self._used: dict[str, asyncio.Lock] = {}
        self._asked: set[asyncio.Task[Any]] = set()
        self._ending: asyncio.Task[None] | None = None

    def end(self, code: int) -> None:
        """Abort the agents and exit, on a signal: the SDK goes on reading until standard input ends."""
        self._ending = self._ending or asyncio.get_running_loop().create_task(self._exit(code))

    async def _exit(self, code: int) -> None:
        for task in self._asked:
            task.cancel()
        if self._asked:
            await asyncio.wait(self._asked, timeout=_LAST_SECONDS)
        os._exit(code)

    async def ask_pi(  # noqa: D417 - ctx is the SDK's
        self, prompt: str, ctx: Context[Any], cwd: str = "", session: str = ""
    ) -> str:
        """Give pi, a coding agent, a task, and return its answer.

        Args:
            prompt: The task, with everything that pi has to know: it does not see your conversation.
            cwd: Absolute path of the folder to work in; where the server was started when empty.
            session: Id of an earlier session to go on with; a new one when empty.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - the SDK runs each call in one
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        async with self._used.setdefault(session, asyncio.Lock()) if session else nullcontext():
            manager = await asyncio.to_thread(self._manager, cwd, session)
            async with self._session(manager) as agent:
                return await _answer(agent, prompt, ctx)

    async def list_sessions(self, cwd: str = "") -> str:
        """List the most recent stored conversations with pi, a line each: id, time, folder, title.

        Args:
            cwd: Absolute path of a folder, for its sessions only.
        """
        from pi_core import SessionManager
        from pi_terminal_kit.words import session_title

        find: Callable[..., Any] = SessionManager.list if cwd else SessionManager.list_all
        found = await asyncio.to_thread(find, *([cwd] if cwd else []), host=self._host)
        lines = [
            f"{each.id}  {each.modified:%Y-%m-%d %H:%M}  {each.cwd}  "
            f"{session_title(each.name, each.first_message)[:100]}"
            for each in found[:_PAGE]
        ]
        return "\n".join(lines) or "There are no sessions."

    async def read_session(self, session: str) -> str:
        """Return the messages of user and model in a stored conversation with pi; of a long one the end.

        Args:
            session: Its id.
        """
        manager = await asyncio.to_thread(self._stored, session)
        text = "\n\n".join(filter(None, map(_as_text, manager.build_session_context().messages)))
        return text if len(text) <= _LONGEST else f"[... {len(text) - _LONGEST} characters]\n{text[-_LONGEST:]}"

    def _manager(self, cwd: str, session: str) -> SessionManager:
        from pi_core import SessionManager

        if session:
            return self._stored(session)
        folder = Path(cwd or Path.cwd())
        if not folder.is_absolute():
            raise UserError(f"cwd is {cwd!r}; it must be an absolute path.")
        if not folder.is_dir():
            raise UserError(f"The folder {cwd!r} does not exist.")
        return SessionManager.create(folder, host=self._host)

    def _stored(self, session: str) -> SessionManager:
        from pi_core import SessionManager

        found = SessionManager.find_by_id(session, host=self._host)
        if found is None:
            raise UserError(f"There is no session {session!r}; list_sessions lists them.")
        return SessionManager.open(found.path, cwd=found.cwd, host=self._host)

    def _session(self, manager: SessionManager) -> AgentSession:
        from pi_core import create_agent_session

        session = create_agent_session(
            cwd=manager.cwd,
            agent_dir=self._host.settings.agent_dir,
            session_manager=manager,
            model=self._model,
            read_only_tools=self._read_only,
            mode="mcp",
        )
        if self._read_only:
            session.limit_commands()
        return session


async def _answer(agent: AgentSession, prompt: str, ctx: Context[Any]) -> str:
    """Return the answer with the session's id; report each running tool as progress."""
    steps, asked = 0, False
    async with aclosing(agent.stream(prompt)) as events:  # a cancelled call aborts the agent
        async for event in events:
            asked = asked or event.type == "agent_start"
            if event.type == "tool_execution_start":
                steps += 1
                await ctx.report_progress(steps, message=event.tool_name)
    if not asked:
        return f"The command was carried out; the model was not asked.\n\n[session {agent.session_manager.id}]"
    answer = agent.last_answer()
    if answer is None or answer.stop_reason in ("error", "aborted"):
        raise PiError(getattr(answer, "error_message", None) or "There was no answer.")
    return f"{answer.text}\n\n[session {agent.session_manager.id}]"


def _as_text(message: Any) -> str:
    """Return a message of the user or the model as text; results of tools are left out."""
    if message.role not in ("user", "assistant"):
        return ""
    calls = [f"({each.name})" for each in getattr(message, "tool_calls", ())]
    return "\n".join(filter(None, [f"{message.role}: {message.text}".strip(), " ".join(calls)]))
