"""`/serve COMMAND` runs a development server in the background; the model reads its output with a tool."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_hookspecs import ToolAnnotations, ToolContext, ToolResult, UserError, hookimpl, tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import ManagedProcess, PiAPI, PiContext, Tool

__all__ = ["activate", "register_tools"]

NAME = "dev-server"
READS = ToolAnnotations(title="Server log", read_only=True)


def current(ctx: PiContext) -> ManagedProcess | None:
    """Return the server that was started last; None before there was one."""
    return next((each for each in reversed(ctx.processes.list()) if each.name == NAME), None)


def show(server: ManagedProcess, ctx: PiContext) -> None:
    """Display the state of the server in the status line."""
    ended = "" if server.exit_code is None else f" ({server.exit_code})"
    ctx.ui.set_status(NAME, f"dev server {server.status}{ended}")  # short: the line mode leaves out what does not fit


async def follow(server: ManagedProcess, ctx: PiContext) -> None:
    """Wait until the server ends, and display that."""
    await server.wait()
    if current(ctx) is server:
        show(server, ctx)


@tool(annotations=READS)
def server_log(ctx: ToolContext, since: int = 0) -> ToolResult:
    """Read what the development server has printed.

    Args:
        since: Where to begin; the result contains the value for the next call.
    """
    server = current(ctx)
    if server is None:
        raise UserError("No development server was started. Ask the user to start one: /serve COMMAND")
    output = server.read(since)
    text = f"{output.text}\n[{server.command} is {server.status}; read on with since={output.next}]"
    return ToolResult.text(text, details={"next": output.next, "status": server.status})


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add the tool."""
    return [server_log]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Add the command; tasks are kept here, because the event loop alone does not keep them."""
    tasks = set[asyncio.Task[None]]()

    @pi.register_command("serve", description="Run a development server; without a command, stop it")
    async def serve(args: str, ctx: PiContext) -> None:
        server = current(ctx)
        if server is not None and server.status == "running":
            await server.stop()
            show(server, ctx)
        if not args:
            return
        server = await ctx.processes.start(args, name=NAME)
        show(server, ctx)
        task = asyncio.create_task(follow(server, ctx))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
