"""Keeps e-mail addresses out of stored sessions, and lists the other sessions: `/others [TEXT]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_core.wire import entry_from_wire, to_wire
from pi_hookspecs import Command, SessionBeforeAppendResult, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiContext, SessionBeforeAppendEvent

__all__ = ["register_commands", "session_before_append"]

ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def without_addresses(value: Any) -> Any:
    """Return plain data with the addresses of its texts replaced; keys stay as they are."""
    if isinstance(value, str):
        return ADDRESS.sub("[address]", value)
    if isinstance(value, dict):
        return {key: without_addresses(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_addresses(each) for each in value]
    return value


@hookimpl
def session_before_append(event: SessionBeforeAppendEvent) -> SessionBeforeAppendResult:
    """Change what is stored; the conversation goes on with what was written."""
    stored = [entry_from_wire(without_addresses(to_wire(entry))) for entry in event.entries]
    return SessionBeforeAppendResult(entries=tuple(stored))


async def others(args: str, ctx: PiContext) -> None:
    """List the other sessions of this folder, or those of them that contain a text."""
    stored = [each for each in await ctx.sessions.list(cwd=ctx.cwd) if each.id != ctx.session.id]
    found = [each for each in stored if args.casefold() in each.read_text().casefold()]
    rows = [f"{each.modified:%d %b %H:%M}  {each.name or each.first_message}  ({each.id})" for each in found]
    ctx.ui.notify("\n".join(rows) or "There is no such session of this folder.")


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add the command."""
    return [Command("others", handler=others, description="List the other sessions of this folder")]
