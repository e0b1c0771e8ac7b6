"""The sandbox in words: for ``/sandbox``."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Return the engine and what it allows, a line each."""
    hosts = f" ({', '.join(policy.allow)})" if policy.network == "allow" else ""
    return [
        f"Engine: {engine}",
        f"Network: {policy.network}{hosts}",
        f"May be changed: {', '.join(policy.write)}",
        f"Hidden: {', '.join(policy.deny_read)}",
    ]
