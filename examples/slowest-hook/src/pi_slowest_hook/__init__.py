"""Reports the slowest hook of each prompt if it exceeds a limit: `/slow-limit MILLISECONDS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting, UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AgentSettledEvent, HookTrace, PiAPI, PiContext

__all__ = ["activate", "register_settings"]

LIMIT = "slowestHook.limit"


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the limit, which the command changes."""
    return [PluginSetting(LIMIT, schema={"type": "number", "minimum": 0}, description="Milliseconds to be reported")]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Take notes of every call, and report when the prompt is done."""
    traces: list[HookTrace] = []

    @pi.observe_hooks()
    def note(trace: HookTrace) -> None:
        traces.append(trace)

    @pi.on("agent_settled")
    def report(event: AgentSettledEvent, ctx: PiContext) -> None:
        slowest = max(traces, key=lambda trace: trace.milliseconds, default=None)
        traces.clear()
        if slowest is None or slowest.milliseconds < ctx.settings.get_number(LIMIT, 100):
            return
        about = "" if slowest.key is None else f", about {slowest.key}"
        text = f"{slowest.hook} of {slowest.plugin} took {slowest.milliseconds:.0f} ms ({slowest.outcome}{about})"
        ctx.ui.notify(ctx.secrets.redact(text), "warning")  # the id of a call comes from a server

    @pi.register_command("slow-limit", description="Report hooks that take so many milliseconds")
    async def change(args: str, ctx: PiContext) -> None:
        try:
            limit = float(args)
        except ValueError:
            raise UserError(f"{args!r} is not a number of milliseconds") from None
        await ctx.settings.set(LIMIT, limit)
        ctx.ui.notify(f"Hooks are reported from {limit:g} ms on")
