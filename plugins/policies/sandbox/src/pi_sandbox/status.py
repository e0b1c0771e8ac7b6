"""The sandbox in words: for ``/sandbox``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_core import below_home
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_hookspecs import PiContext
    from pi_sandbox.policy import Policy

__all__ = ["describe", "show_status"]


def show_status(_args: str, ctx: PiContext) -> None:
    """Show the user the engine and what it allows."""
    from pi_sandbox.state import sandbox_of

    try:
        sandbox = sandbox_of(ctx)
    except PiError as error:
        ctx.ui.notify(str(error), "error")
        return
    if sandbox is None:
        ctx.ui.notify("The sandbox is off. Start pi with --sandbox auto, or run: pi config set sandbox.mode auto")
        return
    ctx.ui.notify("\n".join(describe(sandbox.engine.name, sandbox.policy)))


def describe(engine: str, policy: Policy) -> list[str]:
    """Return the engine and what it allows, a line each; hidden paths that do not exist are only counted."""
    hidden = [below_home(path) for path in policy.deny_read if os.path.lexists(path)]
    missing = len(policy.deny_read) - len(hidden)
    hidden += [f"{missing} places that do not exist"] if missing else []
    hosts = f" ({', '.join(policy.allow)})" if policy.network == "allow" else ""
    return [
        f"Engine    {engine}",
        f"Network   {policy.network}{hosts}",
        f"Writable  {', '.join(map(below_home, policy.write))}",
        f"Hidden    {', '.join(hidden)}",
    ]
