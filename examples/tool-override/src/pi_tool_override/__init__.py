"""Replaces pi's ``read``: refuses secrets, logs every path, and delegates the reading to pi's tool."""

from typing import Any

from pi_hookspecs import AbortSignal, Tool, ToolContext, ToolResult, ToolUpdate, hookimpl
from pi_tools import create_read_tool

SECRETS = (".env", ".pem", ".key", "id_rsa", "id_ed25519")
LOG = "read.log"


async def read(
    call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, ctx: ToolContext
) -> ToolResult:
    path = str(params["path"])
    secret = path.endswith(SECRETS)
    with (ctx.settings.agent_dir / LOG).open("a", encoding="utf-8") as log:
        log.write(f"{'refused' if secret else 'read'} {path}\n")
    if secret:
        raise PermissionError(f"{path!r} may hold a secret. Ask the user for what you need of it.")
    return await create_read_tool(ctx.cwd).execute(call_id, params, signal, on_update, ctx)


@hookimpl
def register_tools() -> list[Tool]:
    pis = create_read_tool(".")
    # Of two tools with one name, that of the plugin which comes later in load order is used: pi's own come first.
    return [Tool(name="read", description=pis.description, parameters=pis.parameters, execute=read)]
