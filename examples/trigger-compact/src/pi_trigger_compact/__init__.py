"""Compacts the conversation when it exceeds ``triggerCompact`` tokens, and with ``/trigger-compact``."""

from pi_hookspecs import Command, PiContext, hookimpl

LIMIT = 100_000
"""Tokens; the setting ``triggerCompact`` overrides this number."""


@hookimpl
async def turn_end(ctx: PiContext) -> None:
    usage = ctx.context_usage()
    limit = ctx.settings.get_number("triggerCompact", LIMIT, minimum=1)
    if usage is not None and usage.tokens is not None and usage.tokens > limit:
        ctx.ui.notify(f"The conversation has {usage.tokens} tokens: compacting.")
        await ctx.compact(reason="threshold")


@hookimpl
def register_commands() -> list[Command]:
    return [Command(name="trigger-compact", handler=compact, description="Compact now, with words of your own")]


async def compact(args: str, ctx: PiContext) -> None:
    await ctx.compact(args or None)
