"""``/mcp``: lists and controls this session's servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_mcp.config import project_files, user_file
from pi_mcp.edit import change_entry, has_entry
from pi_mcp.states import row_of, rows_text, tool_lines, tools_counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_hookspecs import PiContext
    from pi_mcp.hub import Hub

__all__ = ["complete", "run_command"]

_VERBS = ("approve", "disable", "enable", "exposure", "login", "logout", "reconnect", "show")
_EXPOSURES = ("auto", "direct", "deferred", "code", "hidden")
_USAGE = (
    "/mcp, /mcp show|reconnect|login|logout|enable|disable|approve NAME, "
    "/mcp exposure NAME auto|direct|deferred|code|hidden"
)


def complete(hub: Hub, typed: str) -> list[str]:
    """Return completions of what was typed after ``/mcp``."""
    verb, space, rest = typed.partition(" ")
    if not space:
        return [each for each in _VERBS if each.startswith(verb)]
    name, space, exposure = rest.partition(" ")
    if space:
        return [f"{verb} {name} {each}" for each in _EXPOSURES if verb == "exposure" and each.startswith(exposure)]
    return [f"{verb} {each}" for each in hub.servers if each.startswith(name)]


async def run_command(hub: Hub, arguments: str, ctx: PiContext) -> None:
    """Run ``/mcp`` with its arguments.

    Raises:
        UserError: The arguments are wrong, or a file cannot be changed.
        PiError: A server cannot be connected.
    """
    words = arguments.split()
    if not words:
        rows = [row_of(hub, name) for name in hub.servers]
        problems = "\n".join(hub.problems)
        ctx.ui.notify("\n".join(filter(None, [rows_text(rows) or "No MCP servers are configured.", problems])))
        return
    if words[0] not in _VERBS or len(words) != (3 if words[0] == "exposure" else 2):
        raise UserError(f"Unknown arguments: /mcp {arguments}. Use {_USAGE}.")
    verb, name = words[:2]
    if name not in hub.servers:
        raise UserError(f"No MCP server {name!r} is configured; configured: {', '.join(hub.servers) or 'none'}.")
    if verb == "show":
        ctx.ui.notify(_details(hub, name))
    elif verb == "approve":
        await hub.allow(name)
        ctx.ui.notify(f"{name} is approved for this project.")
    elif verb in ("reconnect", "login", "logout"):
        await _connection(hub, ctx, verb, name)
    else:
        _write(hub, ctx, name, _change(verb, words[-1]))
        await hub.change()
        ctx.ui.notify(f"{name}: {words[-1] if verb == 'exposure' else row_of(hub, name)['state']}")


async def _connection(hub: Hub, ctx: PiContext, verb: str, name: str) -> None:
    if name not in hub.remotes:
        raise UserError(f"{name} is {row_of(hub, name)['state']}; /mcp enable or /mcp approve comes first.")
    if verb == "logout":
        ctx.ui.notify(f"{name}: {'signed out' if await hub.logout(name) else 'there was no sign-in'}.")
        return

    async def page(url: str) -> str | None:
        ctx.ui.open_url(url)
        return await ctx.ui.input(f"Sign in to {name} in your browser, or paste the address that it led to")

    about = await (hub.login(name, page) if verb == "login" else hub.reconnect(name))
    ctx.ui.notify(f"{name} is connected: {tools_counted(len(about['tools']))}, offered from the next prompt on.")


def _details(hub: Hub, name: str) -> str:
    server, remote = hub.servers[name], hub.remotes.get(name)
    about = hub.offer.listing(name) or {}
    lines = [rows_text([row_of(hub, name)]), f"from {server.origin}"]
    if about:
        lines.append(f"{about.get('server') or 'a server without a name'}, protocol {about.get('protocol')}")
    lines += tool_lines(hub, name)
    if remote is not None and remote.tail:
        lines += ["It printed:", remote.tail]
    return "\n".join(lines)


def _change(verb: str, exposure: str) -> Callable[[dict[str, Any] | None], dict[str, Any]]:
    if verb == "exposure":
        if exposure not in _EXPOSURES:
            raise UserError(f"The exposure must be one of {', '.join(_EXPOSURES)}, not {exposure!r}.")
        return lambda entry: {**(entry or {}), "exposure": exposure}

    def switched(entry: dict[str, Any] | None) -> dict[str, Any]:
        kept = {key: value for key, value in (entry or {}).items() if key not in ("disabled", "enabled")}
        return {**kept, "enabled": verb == "enable"}

    return switched


def _write(hub: Hub, ctx: PiContext, name: str, change: Callable[[dict[str, Any] | None], dict[str, Any]]) -> None:
    """Change the file that contains a server, except a project's file of another program."""
    scope = hub.servers[name].scope
    if scope == "plugin":
        raise UserError(f"{name} is registered by a {hub.servers[name].origin}; disable it there.")
    own = project_files(ctx.cwd)[1]
    file: Path = own if scope == "project" or has_entry(own, name) else user_file(ctx.settings.agent_dir)
    change_entry(file, name, change)
